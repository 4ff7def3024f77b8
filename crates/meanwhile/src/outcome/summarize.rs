//! Chooses among the findings of the recognisers.

use super::finding::{Finding, Kind};
use super::lines::clean;
use mw_model::one_line;

use super::report::{MAX_CHARS, shorten};
use super::{cargo_build, cargo_test, go_test, jest, make, nextest, npm, pytest, tsc, vitest};

/// Recognises the end of one tool's output in clean lines.
type Recogniser = fn(&[&str]) -> Option<Finding>;

const RECOGNISERS: [Recogniser; 12] = [
    nextest::recognise,
    cargo_test::recognise,
    cargo_build::failed,
    cargo_build::finished,
    pytest::recognise,
    jest::recognise,
    vitest::recognise,
    go_test::recognise,
    tsc::recognise,
    make::recognise,
    npm::failed,
    npm::installed,
];

/// At most this many lines after a tool's end are ignored as small talk, such as `exit code: 0` or `done`.
const SMALL_TALK: usize = 3;
/// Words that never occur in small talk.
const TROUBLE: [&str; 8] =
    ["error", "fail", "fatal", "panic", "traceback", "exception", "not found", "permission denied"];

/// Summarises in one line how a task ended, from the end of its output.
///
/// For known tools the summary has counts and the first names of failures, with the tool in parentheses at the end:
/// `3 failed, 120 passed: tests/test_x.py::test_y (pytest)`. Several tools in one output are summarised one after the
/// other, failures first. If more than small talk follows, its last line is added: `120 passed (pytest); then: cp: no
/// space left on device`. For any other output the summary is its last non-blank line. There is no summary only if
/// there is no such line.
///
/// The result has at most 200 characters, no control characters and no line breaks, and ends in `…` if it was cut.
/// Invalid UTF-8 is shown as U+FFFD. The function accepts any bytes and never panics.
#[must_use]
pub fn summarize(tail: &[u8]) -> Option<String> {
    let text = clean(tail);
    let lines: Vec<&str> = text.lines().collect();
    let summary = reported_by_tools(&lines).or_else(|| last_line(&lines))?;
    Some(shorten(&one_line(&summary), MAX_CHARS))
}

fn reported_by_tools(lines: &[&str]) -> Option<String> {
    let mut found: Vec<Finding> = RECOGNISERS.iter().filter_map(|recognise| recognise(lines)).collect();
    found.retain(|finding| finding.kind != Kind::Finished || last_line(&lines[finding.last + 1..]).is_none());
    let last = found.iter().map(|finding| finding.last).max()?;
    if found.iter().any(|finding| finding.kind == Kind::Failed) {
        found.retain(|finding| finding.kind != Kind::RunnerOfOthers);
    }
    found.sort_by_key(|finding| (matches!(finding.kind, Kind::Passed | Kind::Finished), finding.last));
    let mut summary: Vec<String> = found.into_iter().map(|finding| finding.text).collect();
    summary.extend(what_followed(&lines[last + 1..]).map(|line| format!("then: {line}")));
    Some(summary.join("; "))
}

/// Returns the last line after the tools' output, if it is more than small talk.
fn what_followed(rest: &[&str]) -> Option<String> {
    let is_trouble = |line: &str| {
        let line = line.to_lowercase();
        TROUBLE.iter().any(|word| line.contains(word))
    };
    let said = rest.iter().filter(|line| !line.trim().is_empty()).count();
    (said > SMALL_TALK || rest.iter().any(|line| is_trouble(line))).then(|| last_line(rest)).flatten()
}

fn last_line(lines: &[&str]) -> Option<String> {
    lines.iter().rev().map(|line| one_line(line)).find(|line| !line.is_empty())
}
