//! `make`: the target that failed, and the first error or the last line of its commands.

use super::finding::{Finding, Kind};
use super::report::Report;

/// Reads make's own errors. If another recogniser knows the command that make ran, its report has more detail.
pub(super) fn recognise(lines: &[&str]) -> Option<Finding> {
    let errors: Vec<(usize, ErrorLine<'_>)> =
        lines.iter().enumerate().filter_map(|(index, line)| Some((index, error_line(line)?))).collect();
    let (last, _) = *errors.last()?;
    let mut report = Report::new("make");
    let failures = failures(&errors);
    match failures.as_slice() {
        [] => report.say(errors.first()?.1.said.trim_end_matches("  Stop.").trim_end_matches('.')),
        [(_, failure)] => report.say(format!("target {} failed ({})", failure.target, failure.how())),
        several => {
            report.say(format!("{} targets failed", several.len()));
            report.names(several.iter().map(|(_, it)| format!("{} ({})", it.target, it.how())));
        }
    }
    if let Some((at, _)) = failures.last() {
        let before = &lines[..*at];
        report.names(before.iter().copied().filter(|line| is_error(line)));
        if !before.iter().any(|line| is_error(line)) {
            report.name(last_words(before).unwrap_or_default());
        }
    }
    let rest = lines[last + 1..].iter().take_while(|line| program(line).is_some()).count();
    Some(Finding::new(last + rest, Kind::RunnerOfOthers, &report))
}

/// A line with three stars.
#[derive(Clone, Copy)]
struct ErrorLine<'a> {
    /// The nesting depth of the make that printed the line.
    level: u32,
    said: &'a str,
}

/// A target whose commands failed.
struct Failure<'a> {
    place: &'a str,
    target: &'a str,
    ending: &'a str,
}

impl Failure<'_> {
    fn how(&self) -> String {
        format!("{} at {}", self.ending, self.place)
    }
}

/// Returns the failures, except those that only repeat the failure of a nested make.
fn failures<'a>(errors: &[(usize, ErrorLine<'a>)]) -> Vec<(usize, Failure<'a>)> {
    let mut found = Vec::new();
    let mut before = 0;
    for (index, error) in errors {
        let is_own = error.level >= before;
        before = error.level;
        found.extend(failure(error.said).filter(|_| is_own).map(|failure| (*index, failure)));
    }
    found
}

/// Splits `make: …` or `make[1]: …` into level and text.
fn program(line: &str) -> Option<(u32, &str)> {
    let rest = line.strip_prefix('g').unwrap_or(line).strip_prefix("make")?;
    let (level, rest) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']').and_then(|(level, rest)| Some((level.parse().ok()?, rest)))?,
        None => (0, rest),
    };
    Some((level, rest.strip_prefix(": ")?))
}

/// Returns the text after the three stars. For an error in a makefile this includes the position.
fn error_line(line: &str) -> Option<ErrorLine<'_>> {
    if let Some((level, said)) = program(line) {
        return Some(ErrorLine { level, said: said.strip_prefix("*** ")? });
    }
    let (place, _) = line.split_once(": *** ")?;
    let (_, number) = place.rsplit_once(':')?;
    let is_place = number.parse::<u32>().is_ok() && line.ends_with("  Stop.");
    is_place.then_some(ErrorLine { level: 0, said: line })
}

/// Reads `[Makefile:4: fail] Error 1`.
fn failure(said: &str) -> Option<Failure<'_>> {
    let (inside, ending) = said.strip_prefix('[')?.split_once("] ")?;
    let (place, target) = inside.split_once(": ")?;
    Some(Failure { place, target, ending })
}

/// Returns whether a line is a compiler or linker error.
fn is_error(line: &str) -> bool {
    [": error: ", ": fatal error: ", ": undefined reference to "].iter().any(|mark| line.contains(mark))
}

/// Returns the last line that is not make's own.
fn last_words<'a>(lines: &[&'a str]) -> Option<&'a str> {
    lines.iter().rev().copied().find(|line| !line.trim().is_empty() && program(line).is_none())
}
