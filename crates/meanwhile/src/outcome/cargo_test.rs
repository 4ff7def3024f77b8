//! `cargo test`: the sum of the results of all test binaries.

use super::finding::Finding;
use super::lines::{begins, counts, number_of};
use super::report::Report;

const AROUND_RESULTS: [&str; 5] =
    ["error: test failed", "error: doctest failed", "all doctests ran in", "Caused by:", "    `-p "];

/// The results of all binaries in the tail.
#[derive(Default)]
struct CargoRun<'a> {
    passed: u64,
    failed: u64,
    ignored: u64,
    measured: u64,
    filtered: u64,
    /// Number of binaries with a result.
    results: usize,
    /// Names of failed tests.
    failures: Vec<&'a str>,
    /// Binaries that ended without a result, and how they ended.
    dead: Vec<String>,
    /// The binary that ran last.
    binary: &'a str,
    /// Whether it has begun but not printed a result.
    owes: bool,
}

/// Adds up all results, and finds binaries without one.
pub(super) fn recognise(lines: &[&str]) -> Option<Finding> {
    let mut run = CargoRun::default();
    let last = (0..lines.len()).filter(|index| run.take(lines, *index)).last()?;
    if run.results == 0 && run.dead.is_empty() && !run.owes {
        return None;
    }
    let failed = run.failed > 0 || !run.dead.is_empty() || run.owes;
    Some(Finding::of_tests(last, failed, &run.report()))
}

impl<'a> CargoRun<'a> {
    /// Processes a line. Returns whether it is one of the runner's own.
    fn take(&mut self, lines: &[&'a str], index: usize) -> bool {
        let line = lines[index];
        if let Some(counts) = result(line) {
            self.passed += number_of(&counts, "passed");
            self.failed += number_of(&counts, "failed");
            self.ignored += number_of(&counts, "ignored");
            self.measured += number_of(&counts, "measured");
            self.filtered += number_of(&counts, "filtered out");
            self.failures.extend(failures_above(&lines[..index]));
            self.results += 1;
            self.owes = false;
        } else if is_opening(line) {
            self.owes = true;
        } else if let Some(binary) = running(line) {
            self.binary = binary;
        } else if let Some(how) = death(line) {
            let target = lines[..index].iter().rev().find_map(|line| rerun(line));
            self.dead.push(format!("{} ({how})", target.unwrap_or(self.binary)));
            self.owes = false;
        } else {
            return is_own(line);
        }
        true
    }

    fn report(&self) -> Report {
        let mut report = Report::new("cargo test");
        report.count(self.failed, "failed");
        let dead = self.dead.len() as u64;
        report.count(dead, if dead == 1 { "binary ended early" } else { "binaries ended early" });
        report.count(self.passed, "passed");
        report.count(self.ignored, "ignored");
        report.count(self.measured, "measured");
        if self.owes {
            report.say("unfinished");
            report.name(self.binary);
        } else if self.passed + self.failed + self.measured + dead == 0 {
            report.say("no tests ran");
            report.count(self.filtered, "filtered out");
        }
        report.names(self.failures.iter().copied());
        report.names(&self.dead);
        report
    }
}

/// Reads `test result: ok. 1 passed; 0 failed; …; finished in 0.00s`.
fn result(line: &str) -> Option<Vec<(u64, &str)>> {
    let rest = line.strip_prefix("test result: ")?;
    let list = rest.strip_prefix("ok. ").or_else(|| rest.strip_prefix("FAILED. "))?;
    counts(list.split("; finished in ").next()?, "; ")
}

/// Returns the names listed between the last `failures:` and the result below it.
fn failures_above<'a>(lines: &[&'a str]) -> impl Iterator<Item = &'a str> {
    let listed = |line: &&&str| line.is_empty() || line.starts_with("    ");
    let count = lines.iter().rev().take_while(listed).count();
    let start = lines.len() - count;
    let is_list = start > 0 && lines[start - 1] == "failures:";
    lines[start..].iter().filter(move |line| is_list && !line.is_empty()).map(|line| line.trim())
}

/// Reads `running 3 tests`.
fn is_opening(line: &str) -> bool {
    let count = line
        .strip_prefix("running ")
        .and_then(|rest| rest.strip_suffix(" tests").or(rest.strip_suffix(" test")));
    count.is_some_and(|count| count.parse::<u64>().is_ok())
}

/// Reads `Running tests/receipts.rs (target/debug/deps/…)` and `Doc-tests cart`.
fn running(line: &str) -> Option<&str> {
    let line = line.strip_prefix("   ")?.trim_start();
    let binary =
        line.strip_prefix("Running ").and_then(|rest| rest.split_once(" (")).map(|(binary, _)| binary);
    binary.or_else(|| line.starts_with("Doc-tests ").then_some(line))
}

/// Returns how a binary ended unexpectedly.
fn death(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("  process didn't exit successfully: ")?;
    rest.rsplit_once(" (").map(|(_, how)| how.trim_end_matches(')'))
}

/// Reads the arguments that run the failed binary again.
fn rerun(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("error: test failed, to rerun pass `")?;
    rest.strip_suffix('`')
}

/// Returns whether cargo or the test harness prints this line around results.
fn is_own(line: &str) -> bool {
    let is_test = line.starts_with("test ") && line.contains(" ... ");
    let is_total = line.starts_with("error: ")
        && (line.ends_with(" target failed:") || line.ends_with(" targets failed:"));
    is_test || is_total || begins(line, &AROUND_RESULTS)
}
