//! `cargo nextest run`.

use super::finding::Finding;
use super::lines::{begins, counted, last_that};
use super::report::Report;

/// Prefixes of the lines below the list of failures.
const OWN: [&str; 3] = ["error: ", "warning: ", "(hint: "];

/// Reads the last `Summary` line and the failures listed below it.
pub(super) fn recognise(lines: &[&str]) -> Option<Finding> {
    let (at, (ran, list)) = last_that(lines, summary)?;
    let mut report = Report::new("nextest");
    let (fine, bad): (Vec<_>, Vec<_>) = parts(list).into_iter().partition(|(_, word)| is_fine(word));
    if ran.starts_with("0 ") {
        report.say("no tests ran");
    }
    for (number, word) in bad.iter().chain(&fine) {
        report.count(*number, word);
    }
    report.count(not_run(ran), "not run");
    let is_own = |line: &&&str| status(line).is_some() || begins(line, &OWN);
    let last = at + lines[at + 1..].iter().take_while(is_own).count();
    report.names(lines[at + 1..=last].iter().filter_map(|line| failure(line)));
    let failed = !bad.is_empty() || lines[at..=last].iter().any(|line| line.starts_with("error: "));
    Some(Finding::of_tests(last, failed, &report))
}

/// Splits `Summary [ 4.030s] 4/5 tests run: 3 passed (1 flaky), 1 timed out` into what ran and the results.
fn summary(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.trim_start().strip_prefix("Summary [")?.split_once("] ")?;
    rest.split_once(" run: ").filter(|(ran, _)| ran.ends_with(" tests") || ran.ends_with(" test"))
}

fn is_fine(word: &str) -> bool {
    begins(word, &["passed", "skipped"])
}

/// Returns how many tests did not run because a failure stopped the run: `4/5 tests`.
fn not_run(ran: &str) -> u64 {
    let numbers = ran.split(' ').next().and_then(|numbers| numbers.split_once('/'));
    let Some((Ok(done), Ok(all))) = numbers.map(|(done, all)| (done.parse::<u64>(), all.parse::<u64>()))
    else {
        return 0;
    };
    all.saturating_sub(done)
}

/// Reads `TRY 2 FAIL [ 0.074s] (5/6) till::receipts counts_coins` into status and name.
fn status(line: &str) -> Option<(&str, &str)> {
    let (status, rest) = line.trim_start().split_once(" [")?;
    let status = status.trim_end();
    let word =
        status.strip_prefix("TRY ").and_then(|rest| rest.split_once(' ')).map_or(status, |(_, word)| word);
    let is_status = word.starts_with("FLAKY ")
        || (!word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-'));
    let (_, name) = rest.split_once("] ").filter(|_| is_status)?;
    let name = name.trim();
    // Some versions number the tests, others do not.
    Some((word, name.strip_prefix('(').and_then(|rest| rest.split_once(") ")).map_or(name, |(_, name)| name)))
}

/// Returns the name of a failed test, but not of one that was only slow or flaky.
fn failure(line: &str) -> Option<&str> {
    let (word, name) = status(line)?;
    let went_well = word.starts_with("FLAKY ") || ["LEAK", "PASS", "SKIP", "SLOW"].contains(&word);
    (!went_well).then_some(name)
}

/// Splits a list at its commas, but not inside parentheses: `4 passed (1 slow, 1 flaky), 2 skipped`.
fn parts(list: &str) -> Vec<(u64, &str)> {
    let mut depth = 0_usize;
    let is_comma = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    list.split(is_comma).filter_map(counted).collect()
}
