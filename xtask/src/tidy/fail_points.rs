//! Checks that a test names every step at which a debug build can kill itself.

use super::violation::Violation;
use crate::source::Source;

/// The files that list the steps.
const LISTS: [&str; 2] = ["crates/meanwhile/src/fail_point.rs", "crates/supervisor/src/fail_point.rs"];

/// Reports every step that no integration test names.
pub(super) fn check(sources: &[Source<'_>]) -> Vec<Violation> {
    let is_test = |source: &&Source<'_>| source.path.contains("/tests/");
    let tests: Vec<&str> = sources.iter().filter(is_test).map(|source| source.raw()).collect();
    let mut found = Vec::new();
    for list in sources.iter().filter(|source| LISTS.contains(&source.path)) {
        for (index, line) in list.raw().lines().enumerate() {
            let Some(name) = listed(line) else { continue };
            let quoted = format!("\"{name}\"");
            if !tests.iter().any(|text| text.contains(&quoted)) {
                let what = format!("no test kills at `{name}`");
                found.push(Violation::new(
                    list.path,
                    index + 1,
                    what,
                    "add it to a sweep of the crash tests",
                ));
            }
        }
    }
    found
}

/// Returns the step of a line of the list.
fn listed(line: &str) -> Option<&str> {
    line.trim().strip_prefix('"')?.strip_suffix("\",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_no_test_names_is_reported() {
        let list = Source::new(LISTS[0], "const POINTS: [&str; 2] = [\n    \"one\",\n    \"two\",\n];\n");
        let test = Source::new("crates/cli/tests/crash/fail_points.rs", "sweep(&[\"one\"], work);\n");
        let found = check(&[list, test]);
        assert_eq!(found.iter().map(|violation| violation.line).collect::<Vec<_>>(), [3]);
    }
}
