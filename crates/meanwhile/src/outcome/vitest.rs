//! `vitest`.

use super::finding::{Finding, Kind};
use super::lines::{begins, counts, last_that, number_of};
use super::report::Report;

/// Lines that are printed when no file was found.
const SETTINGS: [&str; 3] = ["filter: ", "include: ", "exclude: "];

/// Reads the counts at the end and the failures named above.
pub(super) fn recognise(lines: &[&str]) -> Option<Finding> {
    let Some((at, tests)) = last_that(lines, |line| block(line, "Tests")) else {
        let (last, _) =
            last_that(lines, |line| line.strip_prefix("No test files found, exiting with code "))?;
        let rest =
            lines[last + 1..].iter().take_while(|line| line.is_empty() || begins(line, &SETTINGS)).count();
        let mut report = Report::new("vitest");
        report.say("no test files found");
        return Some(Finding::new(last + rest, Kind::Failed, &report));
    };
    let (_, files) = last_that(&lines[..at], |line| block(line, "Test Files"))?;
    let errors = lines[at..].iter().find_map(|line| block(line, "Errors")).unwrap_or_default();
    let errors = number_of(&errors, "error") + number_of(&errors, "errors");
    let mut report = Report::new("vitest");
    let mut broken = 0;
    for name in lines[..at].iter().filter_map(|line| line.strip_prefix(" FAIL  ")) {
        // A file that could not be loaded is listed with its name twice: `a.spec.ts [ a.spec.ts ]`.
        if let Some((file, _)) = name.split_once(" [ ") {
            broken += 1;
            report.name(format!("{file} did not run"));
        } else {
            report.name(name);
        }
    }
    report.count(number_of(&tests, "failed"), "failed");
    report.count_things(broken.min(number_of(&files, "failed")), "broken file");
    report.count_things(errors, "unhandled error");
    if tests.is_empty() {
        report.say("no tests ran");
    }
    for word in ["passed", "skipped", "todo"] {
        report.count(number_of(&tests, word), word);
    }
    let bad = number_of(&tests, "failed") + number_of(&files, "failed") + errors > 0;
    let rest = lines[at + 1..].iter().take_while(|line| line.starts_with("  ")).count();
    Some(Finding::of_tests(at + rest, bad, &report))
}

/// Reads `Tests  1 failed | 2 passed (3)`, which is indented so that the titles end in one column.
fn block<'a>(line: &'a str, title: &str) -> Option<Vec<(u64, &'a str)>> {
    let list = line.strip_prefix(' ')?.trim_start().strip_prefix(title)?.strip_prefix("  ")?;
    if list == "no tests" {
        return Some(Vec::new());
    }
    counts(list.split(" (").next()?, " | ")
}
