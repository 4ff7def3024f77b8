//! `cargo nextest run`.

use super::finding::Finding;
use super::lines::{begins, counted, last_that};
use super::report::Report;

/// Reads the last `Summary` line and the failures listed below it.
pub(super) fn recognise(lines: &[&str]) -> Option<Finding> {
    let (at, (ran, list)) = last_that(lines, summary)?;
    let mut report = Report::new("nextest");
    let parts: Vec<(u64, &str)> = list.split(", ").filter_map(counted).collect();
    let (fine, bad): (Vec<_>, Vec<_>) = parts.into_iter().partition(|(_, word)| is_fine(word));
    if ran.starts_with("0 ") {
        report.say("no tests ran");
    }
    for (number, word) in bad.iter().chain(&fine) {
        report.count(*number, word);
    }
    report.count(not_run(ran), "not run");
    let mut last = at;
    for (index, line) in lines.iter().enumerate().skip(at + 1) {
        if let Some(name) = failure(line) {
            report.name(name);
            last = index;
        } else if begins(line, &["error: ", "warning: ", "(hint: "]) {
            last = index;
        }
    }
    let failed = !bad.is_empty() || lines[at..=last].iter().any(|line| line.starts_with("error: "));
    Some(Finding::of_tests(last, failed, &report))
}

/// Splits `Summary [ 4.030s] 4/5 tests run: 3 passed (1 flaky), 1 timed out` into what ran and how it went.
fn summary(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.trim_start().strip_prefix("Summary [")?.split_once("] ")?;
    rest.split_once(" run: ").filter(|(ran, _)| ran.ends_with(" tests") || ran.ends_with(" test"))
}

fn is_fine(word: &str) -> bool {
    begins(word, &["passed", "skipped"])
}

/// Returns how many tests were left out when a failure stopped the run: `4/5 tests`.
fn not_run(ran: &str) -> u64 {
    let numbers = ran.split(' ').next().and_then(|numbers| numbers.split_once('/'));
    let Some((Ok(done), Ok(all))) = numbers.map(|(done, all)| (done.parse::<u64>(), all.parse::<u64>()))
    else {
        return 0;
    };
    all.saturating_sub(done)
}

/// Reads `TRY 2 FAIL [ 0.074s] (5/6) till::receipts counts_coins`; tests that were merely slow or flaky are none.
fn failure(line: &str) -> Option<&str> {
    let (status, rest) = line.trim_start().split_once(" [")?;
    let word = status.trim_end().rsplit(' ').next().unwrap_or_default();
    let is_status = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
    if !is_status || ["PASS", "SLOW", "LEAK", "SKIP"].contains(&word) {
        return None;
    }
    let (_, name) = rest.split_once("] ")?;
    let name = name.trim_start();
    // Versions differ in whether they number the tests.
    Some(name.strip_prefix('(').and_then(|rest| rest.split_once(") ")).map_or(name, |(_, name)| name).trim())
}
