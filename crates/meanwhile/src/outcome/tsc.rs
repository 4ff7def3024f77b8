//! `tsc`, with plain and pretty output.

use super::finding::{Finding, Kind};
use super::lines::{counted, last_that};
use super::report::Report;

/// Reads the compiler's errors. Without errors it prints nothing.
pub(super) fn recognise(lines: &[&str]) -> Option<Finding> {
    let found = last_that(lines, |line| {
        counted(line.strip_prefix("Found ")?).filter(|(_, word)| word.starts_with("error"))
    });
    let errors: Vec<(usize, String)> =
        lines.iter().enumerate().filter_map(|(index, line)| Some((index, error(line)?))).collect();
    let (last_error, _) = errors.last()?;
    let total = found.map_or(0, |(_, (number, _))| number);
    let mut report = Report::new("tsc");
    report.count_things(total.max(errors.len() as u64), "error");
    report.names(errors.iter().map(|(_, error)| error));
    let last = found.map_or(*last_error, |(index, _)| index.max(*last_error));
    let table = lines[last + 1..].iter().take_while(|line| is_table(line)).count();
    Some(Finding::new(last + table, Kind::Failed, &report))
}

/// Converts `src/a.ts(1,14): error TS2322: …` and `src/a.ts:1:14 - error TS2322: …` to one form.
fn error(line: &str) -> Option<String> {
    let (place, rest) = line.split_once(": error TS").or_else(|| line.split_once(" - error TS"))?;
    let (code, message) = rest.split_once(": ")?;
    let is_code = code.bytes().all(|byte| byte.is_ascii_digit());
    let place = place.trim_end_matches(')').replace(['(', ','], ":");
    (is_code && !place.contains(' ')).then(|| format!("{place}: TS{code} {}", message.trim_end_matches('.')))
}

/// Returns whether a line belongs to the table of files at the end.
fn is_table(line: &str) -> bool {
    line.is_empty() || line.starts_with("Errors  Files") || counted(line).is_some()
}
