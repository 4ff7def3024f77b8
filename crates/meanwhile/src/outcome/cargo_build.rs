//! `cargo build`, `check`, `clippy`, and the compilation in all other cargo commands.

use super::finding::{Finding, Kind};
use super::lines::{begins, counted, last_that};
use super::report::Report;

/// Lines that look like compiler errors but are cargo's own messages.
const NOT_DIAGNOSTICS: [&str; 6] = [
    "could not compile ",
    "aborting due to ",
    "test failed",
    "doctest failed",
    "test run failed",
    "command `",
];

/// Reads the errors of a failed build.
pub(super) fn failed(lines: &[&str]) -> Option<Finding> {
    let (verdict, _) = last_that(lines, blamed_on)?;
    let mut errors: Vec<String> = Vec::new();
    for (index, line) in lines[..=verdict].iter().enumerate() {
        if let Some((place, message)) = diagnostic(line) {
            let place = place.or_else(|| lines.get(index + 1)?.trim_start().strip_prefix("--> "));
            let error = place.map_or_else(|| message.to_owned(), |place| format!("{place}: {message}"));
            if !errors.contains(&error) {
                errors.push(error);
            }
        }
    }
    // The errors themselves may not be in the tail.
    let blamed = lines.iter().filter_map(|line| blamed_on(line)).max().unwrap_or(0);
    let mut report = Report::new("cargo");
    report.count_things(blamed.max(errors.len() as u64), "error");
    report.names(errors);
    let rest = &lines[verdict + 1..];
    let own = rest.iter().take_while(|line| begins(line, &["warning: ", "error: "])).count();
    Some(Finding::new(verdict + own, Kind::Failed, &report))
}

/// Reads the time and the warnings of a successful build.
pub(super) fn finished(lines: &[&str]) -> Option<Finding> {
    let (last, (profile, time)) = last_that(lines, |line| {
        let (what, time) = line.trim_start().strip_prefix("Finished ")?.split_once(" target(s) in ")?;
        // Older versions write `Finished dev [unoptimized + debuginfo]`.
        Some((what.split(" [").next()?.replace('`', "").replace(" profile", ""), time))
    })?;
    let mut report = Report::new("cargo");
    report.say(format!("{profile} profile finished in {time}"));
    report.count_things(lines.iter().filter_map(|line| warnings(line)).sum(), "warning");
    Some(Finding::new(last, Kind::Finished, &report))
}

/// Returns the number of errors in cargo's message that a crate could not be compiled.
fn blamed_on(line: &str) -> Option<u64> {
    let message = line.strip_prefix("error: ")?;
    if message.starts_with("failed to run custom build command") {
        return Some(1);
    }
    let (_, reason) = message.strip_prefix("could not compile ")?.split_once(" due to ")?;
    Some(counted(reason).map_or(1, |(number, _)| number))
}

/// Splits a compiler error into its position, if the line has one, and its message.
fn diagnostic(line: &str) -> Option<(Option<&str>, &str)> {
    let (place, rest) = match line.strip_prefix("error") {
        Some(rest) => (None, rest),
        None => line.split_once(": error").map(|(place, rest)| (Some(place), rest))?,
    };
    if place.is_some_and(|place| place.contains(' ')) {
        return None;
    }
    let (code, message) = rest.split_once(": ")?;
    let is_code = code.is_empty() || (code.starts_with('[') && code.ends_with(']'));
    let is_own = begins(message, &NOT_DIAGNOSTICS);
    (is_code && !is_own).then_some((place, message))
}

/// Reads ``warning: `cart` (lib test) generated 3 warnings (2 duplicates)``, without the duplicates.
fn warnings(line: &str) -> Option<u64> {
    let (_, rest) = line.strip_prefix("warning: `")?.split_once(" generated ")?;
    let (all, rest) = counted(rest)?;
    let repeated = rest.split_once(" (").and_then(|(_, rest)| counted(rest));
    let repeated = repeated.filter(|(_, word)| word.starts_with("duplicate")).map_or(0, |(number, _)| number);
    Some(all.saturating_sub(repeated))
}
