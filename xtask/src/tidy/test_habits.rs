//! Checks that tests do not sleep, and are not disabled or skipped silently.

use super::violation::Violation;
use crate::source::{Line, Source, has_start};

const TESTKIT: &str = "crates/testkit/src/";
/// The files of the testkit that may sleep: the waits with a deadline, and child processes that misbehave on purpose.
const MAY_SLEEP: [&str; 4] = ["bin/", "children/", "wait.rs", "wait/"];

/// Reports sleeps in test code and tests that are ignored without a reason.
pub(super) fn check(source: &Source<'_>) -> Vec<Violation> {
    let testkit = source.path.strip_prefix(TESTKIT);
    let may_sleep = testkit.is_some_and(|inside| MAY_SLEEP.iter().any(|start| inside.starts_with(start)));
    let mut found = Vec::new();
    for line in source.lines() {
        if !may_sleep && (line.test || testkit.is_some()) && sleeps(line.code) {
            let remedy = "wait for a condition with a deadline (mw-testkit) or use the fake clock";
            found.push(Violation::new(source.path, line.number, "a test that sleeps", remedy));
        }
        if line.test && passes_over(line) {
            let remedy = "say what it needs with mw-testkit (`need_root`, `need_program`, `skip`)";
            found.push(Violation::new(source.path, line.number, "a test that returns early", remedy));
        }
        if ignored_silently(line) {
            let remedy = "write `#[ignore = \"why\"]`, or fix the test";
            found.push(Violation::new(source.path, line.number, "a test ignored without a reason", remedy));
        }
    }
    found
}

fn sleeps(code: &str) -> bool {
    has_start(code, "thread::sleep") || has_start(code, "time::sleep")
}

/// Returns whether a line looks like a test that returns early on some machines and counts as passed.
fn passes_over(line: Line<'_>) -> bool {
    let says = |word: &str| line.raw.contains(&format!("println!(\"{word}"));
    has_start(line.code, "geteuid") || says("skip") || says("NOT TESTED")
}

fn ignored_silently(line: Line<'_>) -> bool {
    let Some(at) = line.code.find("#[ignore") else {
        return false;
    };
    let reason = line.raw[at + "#[ignore".len()..].trim_start().strip_prefix('=').map(str::trim_start);
    !reason.is_some_and(|text| text.starts_with('"') && !text.starts_with("\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&Source::new(path, text)).iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn tests_may_not_sleep() {
        let text = "use std::thread;\nthread::sleep(x);\ntokio::time::sleep(x).await;\n";
        assert_eq!(found("crates/cli/tests/kill.rs", text), [2, 3]);
        assert_eq!(found("crates/testkit/src/home.rs", text), [2, 3]);
        assert_eq!(found("crates/testkit/src/wait.rs", text), []);
        assert_eq!(found("crates/testkit/src/bin/stubborn.rs", text), []);
        assert_eq!(found("crates/meanwhile/src/notify.rs", text), []);
    }

    #[test]
    fn tests_may_skip_only_through_the_testkit() {
        let text = "if geteuid().is_root() {\n    println!(\"skipped: root\");\n    need_root();\n";
        assert_eq!(found("crates/cli/tests/kill.rs", text), [1, 2]);
        assert_eq!(found("crates/testkit/src/needs.rs", text), []);
        assert_eq!(found("crates/cli/src/main.rs", text), []);
    }

    #[test]
    fn an_ignored_test_needs_a_reason() {
        let text = "#[ignore]\n#[ignore = \"\"]\n#[ignore = \"needs a cluster\"]\n// #[ignore]\n";
        assert_eq!(found("crates/cli/tests/kill.rs", text), [1, 2]);
    }
}
