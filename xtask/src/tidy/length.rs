//! Limits the length of files.

use super::violation::Violation;
use crate::source::{Source, is_test_path};
use crate::workspace::TextFile;

/// The maximum number of lines of a file.
const MAX_LINES: usize = 800;
/// The maximum number of lines of a file without its tests.
const MAX_LINES_WITHOUT_TESTS: usize = 500;

const REMEDY: &str = "find the two things it holds and give each its own file";

/// Reports a code file that is too long.
pub(super) fn check(file: &TextFile) -> Option<Violation> {
    if file.path.ends_with(".toml") {
        return None;
    }
    let lines = file.text.lines().count();
    if lines > MAX_LINES {
        return Some(Violation::new(
            &file.path,
            MAX_LINES + 1,
            format!("{lines} lines, over {MAX_LINES}"),
            REMEDY,
        ));
    }
    let product = product_lines(file, lines);
    (product > MAX_LINES_WITHOUT_TESTS).then(|| {
        let what = format!("{product} lines without tests, over {MAX_LINES_WITHOUT_TESTS}");
        Violation::new(&file.path, MAX_LINES_WITHOUT_TESTS + 1, what, REMEDY)
    })
}

fn product_lines(file: &TextFile, lines: usize) -> usize {
    if is_test_path(&file.path) {
        return 0;
    }
    let tests = Source::of(file).map_or(0, |source| source.lines().filter(|line| line.test).count());
    lines.saturating_sub(tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: String) -> Option<String> {
        check(&TextFile { path: path.to_owned(), text }).map(|violation| violation.to_string())
    }

    #[test]
    fn a_file_may_have_500_lines_without_tests() {
        assert_eq!(found("crates/x/src/a.rs", "\n".repeat(500)), None);
        let message = found("crates/x/src/a.rs", "\n".repeat(501)).unwrap();
        assert!(
            message.starts_with("crates/x/src/a.rs:501: 501 lines without tests, over 500; "),
            "{message}"
        );
        assert!(found("crates/ui/src/web/app.js", "\n".repeat(501)).is_some());
    }

    #[test]
    fn a_test_file_may_have_800_lines_and_inline_tests_count_as_tests() {
        assert_eq!(found("crates/x/tests/a.rs", "\n".repeat(800)), None);
        assert!(found("crates/x/tests/a.rs", "\n".repeat(801)).is_some());
        let inline = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", "\n".repeat(400), "\n".repeat(300));
        assert_eq!(found("crates/x/src/a.rs", inline), None);
    }
}
