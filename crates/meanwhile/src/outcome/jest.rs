//! `jest`.

use super::finding::{Finding, Kind};
use super::lines::{begins, counts, last_that, number_of};
use super::report::Report;

/// The words that the last lines count, worst first.
const WORDS: [&str; 4] = ["failed", "passed", "skipped", "todo"];
/// Lines of the closing block.
const CLOSING: [&str; 5] = ["Test Suites: ", "Tests: ", "Snapshots: ", "Time: ", "Ran all test suites"];

/// Reads the counts at the end and the failures marked above.
pub(super) fn recognise(lines: &[&str]) -> Option<Finding> {
    let Some((at, tests)) = last_that(lines, |line| totals(line, "Tests:")) else {
        return none_found(lines);
    };
    let suites = last_that(&lines[..at], |line| totals(line, "Test Suites:")).map(|(_, counts)| counts);
    let mut report = Report::new("jest");
    let mut broken = 0;
    let mut suite = "";
    for line in &lines[..at] {
        if let Some(path) = line.trim_start().strip_prefix("FAIL ") {
            suite = path.trim();
        } else if let Some(name) = line.strip_prefix("  ● ") {
            match name {
                "Console" => {}
                "Test suite failed to run" => {
                    broken += 1;
                    report.name(format!("{suite} did not run"));
                }
                _ => report.name(name),
            }
        }
    }
    let failed_suites = suites.map_or(0, |counts| number_of(&counts, "failed"));
    if number_of(&tests, "total") == 0 {
        report.say("no tests ran");
    }
    for word in WORDS {
        report.count(number_of(&tests, word), word);
        if word == "failed" {
            report.count_things(failed_suites.min(broken), "broken suite");
        }
    }
    let bad = number_of(&tests, "failed") + failed_suites > 0;
    let own = |line: &&&str| begins(line, &CLOSING);
    let last = at + lines[at + 1..].iter().take_while(own).count();
    Some(Finding::of_tests(last, bad, &report))
}

/// Reads `Tests:       1 failed, 2 passed, 3 total`.
fn totals<'a>(line: &'a str, title: &str) -> Option<Vec<(u64, &'a str)>> {
    counts(line.strip_prefix(title)?, ", ").filter(|counts| counts.iter().any(|(_, word)| *word == "total"))
}

fn none_found(lines: &[&str]) -> Option<Finding> {
    let (at, _) = last_that(lines, |line| line.strip_prefix("No tests found, exiting with code "))?;
    let mut report = Report::new("jest");
    report.say("no tests found");
    let pattern = last_that(&lines[at..], |line| line.strip_prefix("Pattern: "));
    if let Some((_, pattern)) = pattern {
        report.name(format!("pattern {}", pattern.trim_end_matches(" - 0 matches")));
    }
    let last = pattern.map_or(at, |(after, _)| at + after);
    Some(Finding::new(last, Kind::Failed, &report))
}
