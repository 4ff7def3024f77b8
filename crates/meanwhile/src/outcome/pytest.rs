//! `pytest`, also with `-q` and several workers.

use super::finding::{Finding, Kind};
use super::lines::{counts, last_that, number_of};
use super::report::Report;

/// The words that the last line may count, worst first.
const WORDS: [&str; 12] = [
    "failed",
    "subtests failed",
    "error",
    "errors",
    "passed",
    "subtests passed",
    "skipped",
    "deselected",
    "xfailed",
    "xpassed",
    "warning",
    "warnings",
];
/// How many of the words mean a failure.
const BAD: usize = 4;

/// Reads the counts of the last line and the names in the short summary above it.
pub(super) fn recognise(lines: &[&str]) -> Option<Finding> {
    let Some((at, counts)) = last_that(lines, closing) else {
        return refused(lines);
    };
    let start = lines[..at].iter().rposition(|line| closing(line).is_some()).map_or(0, |index| index + 1);
    let own = &lines[start..at];
    let interrupted = own.iter().any(|line| banner(line, '!') == Some("KeyboardInterrupt"));
    let next = (at + 1..lines.len()).find(|index| !lines[*index].is_empty());
    let complaint = next.filter(|index| lines[*index].starts_with("ERROR: "));

    let mut report = Report::new("pytest");
    if !counts.iter().any(|(_, word)| !["deselected", "warning", "warnings"].contains(word)) {
        report.say("no tests ran");
    }
    for word in WORDS {
        report.count(number_of(&counts, word), word);
    }
    if interrupted {
        report.say("interrupted");
    }
    for line in own.iter().skip_while(|line| banner(line, '=') != Some("short test summary info")) {
        if let Some(name) = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR ")) {
            report.name(name.split(" - ").next().unwrap_or(name));
        }
    }
    if let Some(index) = complaint {
        report.name(lines[index].trim_start_matches("ERROR: "));
    }
    let bad = WORDS[..BAD].iter().any(|word| number_of(&counts, word) > 0);
    let failed = bad || interrupted || complaint.is_some();
    Some(Finding::of_tests(complaint.unwrap_or(at), failed, &report))
}

/// Reads `=== 2 failed, 5 passed in 0.03s ===`, with or without the frame.
fn closing(line: &str) -> Option<Vec<(u64, &str)>> {
    let (list, time) = banner(line, '=').unwrap_or(line).rsplit_once(" in ")?;
    let seconds = time.split(' ').next()?.strip_suffix('s')?;
    seconds.parse::<f64>().ok()?;
    if list == "no tests ran" {
        return Some(Vec::new());
    }
    counts(list, ", ")
        .filter(|counts| counts.iter().all(|(_, word)| WORDS.contains(word) || *word == "rerun"))
}

/// Removes the frame of a line such as `!!!! KeyboardInterrupt !!!!`.
fn banner(line: &str, frame: char) -> Option<&str> {
    let inside = line.trim_matches(frame);
    (inside.len() < line.len()).then(|| inside.trim())
}

/// Reads why pytest did not begin: `python -m pytest: error: unrecognized arguments: --nothing`.
fn refused(lines: &[&str]) -> Option<Finding> {
    let (last, reason) = last_that(lines, |line| {
        let (program, reason) = line.split_once(": error: ")?;
        program.ends_with("pytest").then_some(reason)
    })?;
    let mut report = Report::new("pytest");
    report.name(reason);
    let rest = lines[last + 1..].iter().take_while(|line| line.starts_with("  ")).count();
    Some(Finding::new(last + rest, Kind::Failed, &report))
}
