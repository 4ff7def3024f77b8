//! Checks that `unsafe` is used in one folder only, and forbidden in every other crate root.

use super::violation::Violation;
use crate::source::{Source, has_word};

const HOME: &str = "crates/supervisor/src/sys";
/// The crate roots that include this folder.
const HOME_ROOTS: [&str; 4] = [
    "crates/supervisor/src/lib.rs",
    "crates/supervisor/src/main.rs",
    "crates/cli/src/main.rs",
    "crates/cli/src/bin/mw-engine.rs",
];

/// Reports `unsafe` outside of its folder, and crate roots that do not forbid it.
pub(super) fn check(source: &Source<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    if !is_home(source.path) {
        for line in source.lines().filter(|line| has_word(line.code, "unsafe")) {
            let remedy = "move it under crates/supervisor/src/sys or use a safe call";
            found.push(Violation::new(source.path, line.number, "`unsafe` outside its folder", remedy));
        }
    }
    if is_crate_root(source.path) && !has_guard(source) {
        let what = "crate root does not forbid unsafe code";
        found.push(Violation::new(source.path, 1, what, "add `#![forbid(unsafe_code)]`"));
    }
    found
}

fn is_home(path: &str) -> bool {
    path.strip_prefix(HOME).is_some_and(|rest| rest.starts_with('/') || rest == ".rs")
}

fn is_crate_root(path: &str) -> bool {
    let Some((_, inside)) = path.split_once("/src/") else {
        return false;
    };
    match inside.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name == "lib.rs" || *name == "main.rs",
        ["bin", name] => name.ends_with(".rs"),
        ["bin", _, name] => *name == "main.rs",
        _ => false,
    }
}

fn has_guard(source: &Source<'_>) -> bool {
    let has = |attribute: &str| source.lines().any(|line| line.code.trim() == attribute);
    has("#![forbid(unsafe_code)]") || (HOME_ROOTS.contains(&source.path) && has("#![deny(unsafe_code)]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&Source::new(path, text)).iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn unsafe_code_is_allowed_in_one_directory_only() {
        let text = "// unsafe\nfn a() {\n    unsafe { b() }\n}\n";
        assert_eq!(found("crates/supervisor/src/sys/pipe.rs", text), []);
        assert_eq!(found("crates/supervisor/src/pump.rs", text), [3]);
        assert_eq!(found("crates/supervisor/src/system.rs", text), [3]);
    }

    #[test]
    fn crate_roots_must_forbid_or_deny_unsafe_code() {
        let forbid = "#![forbid(unsafe_code)]\n";
        let deny = "#![deny(unsafe_code)]\n";
        for root in ["lib.rs", "bin/a.rs", "bin/a/main.rs"] {
            let path = format!("crates/cli/src/{root}");
            assert_eq!(found(&path, forbid), []);
            assert_eq!(found(&path, deny), [1]);
            assert_eq!(found(&path, "// #![forbid(unsafe_code)]\n"), [1]);
        }
        for root in HOME_ROOTS {
            assert_eq!(found(root, deny), []);
            assert_eq!(found(root, ""), [1]);
        }
        assert_eq!(found("crates/cli/src/commands/main_loop.rs", ""), []);
    }
}
