//! Checks numbers and lists of `docs/architecture.md` against the code.

use super::violation::Violation;
use crate::workspace::TextFile;

pub(super) const PAGE: &str = "docs/architecture.md";
const REMEDY: &str = "correct the page";

/// A number that the page has between two texts, and a file of the code between two others.
struct Number {
    page: [&'static str; 2],
    file: &'static str,
    code: [&'static str; 2],
}

const NUMBERS: [Number; 4] = [
    Number {
        page: ["one step per released schema; now ", " |"],
        file: "crates/meanwhile/src/disk/store/migrations.rs",
        code: ["const STEPS: [&str; ", "]"],
    },
    Number {
        page: ["have a version, now ", ":"],
        file: "crates/model/src/wire/start.rs",
        code: ["const START_VERSION: u32 = ", ";"],
    },
    Number {
        page: ["a file has more than ", " lines"],
        file: "xtask/src/tidy/length.rs",
        code: ["const MAX_LINES: usize = ", ";"],
    },
    Number {
        page: [" lines, or ", " without its tests"],
        file: "xtask/src/tidy/length.rs",
        code: ["const MAX_LINES_WITHOUT_TESTS: usize = ", ";"],
    },
];

/// Reports facts of the page that are not those of the code.
pub(super) fn check(page: &str, code: &[TextFile]) -> Vec<Violation> {
    let text = |path: &str| code.iter().find(|file| file.path == path).map_or("", |file| file.text.as_str());
    let mut found = Vec::new();
    let mut compare = |about: &str, on_page: &[&str], in_code: &[&str]| {
        if on_page != in_code || on_page.is_empty() {
            let line = page.lines().position(|line| line.contains(about)).map_or(1, |index| index + 1);
            let what = format!("{:?} has {on_page:?}, the code has {in_code:?}", about.trim());
            found.push(Violation::new(PAGE, line, what, REMEDY));
        }
    };
    for Number { page: [before, after], file, code } in NUMBERS {
        let on_page: Vec<_> = between(page, before, after).collect();
        compare(before, &on_page, &between(text(file), code[0], code[1]).take(1).collect::<Vec<_>>());
    }
    let check = text("xtask/src/check.rs");
    let steps: Vec<_> =
        between(check, "Step { name: ", ",").filter_map(|name| value_of(check, name)).collect();
    compare("| Step | Contents |", &first_cells(page, "| Step | Contents |"), &steps);
    let manifest = text("crates/cli/Cargo.toml");
    let programs: Vec<_> = between(manifest, "[[bin]]\nname = \"", "\"").collect();
    compare("| Executable |", &first_cells(page, "| Executable |"), &programs);
    found
}

/// Returns the texts between `before` and the next `after`.
fn between<'a>(text: &'a str, before: &str, after: &'a str) -> impl Iterator<Item = &'a str> {
    let parts: Vec<_> = text.split(before).skip(1).collect();
    parts.into_iter().filter_map(move |rest| Some(rest.split_once(after)?.0))
}

/// Returns a string literal, or the value of a constant.
fn value_of<'a>(code: &'a str, word: &'a str) -> Option<&'a str> {
    match word.strip_prefix('"') {
        Some(literal) => literal.strip_suffix('"'),
        None => between(code, &format!("const {word}: &str = \""), "\"").next(),
    }
}

/// Returns the first column of the table with this header, without the header.
fn first_cells<'a>(page: &'a str, header: &str) -> Vec<&'a str> {
    let rows = page.lines().skip_while(|line| !line.starts_with(header)).skip(2);
    let rows = rows.map_while(|row| row.strip_prefix("| ")?.split(" |").next());
    rows.map(|cell| cell.trim_matches('`')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: [(&str, &str); 5] = [
        ("crates/meanwhile/src/disk/store/migrations.rs", "const STEPS: [&str; 9] = ["),
        ("crates/model/src/wire/start.rs", "pub const START_VERSION: u32 = 2;"),
        (
            "xtask/src/tidy/length.rs",
            "const MAX_LINES: usize = 8;\nconst MAX_LINES_WITHOUT_TESTS: usize = 5;",
        ),
        (
            "xtask/src/check.rs",
            "const M: &str = \"musl\";\nStep { name: \"tidy\", x },\nStep { name: M, y },",
        ),
        ("crates/cli/Cargo.toml", "[[bin]]\nname = \"mw\"\n"),
    ];
    const RIGHT: &str = "one step per released schema; now 9 |\nhave a version, now 2: x\n\
        a file has more than 8 lines, or 5 without its tests\n\
        | Step | Contents |\n|---|---|\n| tidy | x |\n| musl | y |\n\n| Executable |\n|---|\n| `mw` |\n";

    fn found(page: &str) -> Vec<usize> {
        let code = CODE.map(|(path, text)| TextFile { path: path.to_owned(), text: text.to_owned() });
        check(page, &code).into_iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn numbers_and_lists_must_be_those_of_the_code() {
        assert_eq!(found(RIGHT), [0; 0]);
        assert_eq!(found(&RIGHT.replace("now 9", "now 8")), [1]);
        assert_eq!(found(&RIGHT.replace("version, now 2", "version, now 3")), [2]);
        assert_eq!(found(&RIGHT.replace("| tidy | x |\n", "")), [4]);
        assert_eq!(found(&RIGHT.replace("| tidy | x |\n| musl | y |", "| musl | y |\n| tidy | x |")), [4]);
        assert_eq!(found(&RIGHT.replace("`mw`", "`mv`")), [9]);
        assert_eq!(found("").len(), 6, "a fact that the page no longer has is reported");
    }
}
