//! The output of `go test`, plain, with `-v` or with `-json`, as the same events.

use serde::Deserialize;

/// How a test or package ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Passed,
    Failed,
    Skipped,
    /// The package has no matching test.
    Empty,
    /// The package does not compile.
    Broken,
}

/// One line of output.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A test ended. Plain output names its package only later.
    Test { package: Option<String>, name: String, end: End },
    /// A package ended. All earlier tests without a package belong to it.
    Package { name: String, end: End },
    /// The reason of a failure: a compiler error or a panic.
    Reason(String),
    /// All tests of a binary have ended.
    Closing,
    /// A line of the tool without further meaning.
    Own,
}

/// A line of `go test -json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct JsonLine {
    action: String,
    #[serde(default)]
    package: Option<String>,
    #[serde(default)]
    test: Option<String>,
    #[serde(default)]
    output: Option<String>,
}

/// Reads a line in any of the formats.
pub(super) fn read(line: &str) -> Option<Event> {
    if line.starts_with('{') { json(line) } else { plain(line) }
}

fn json(line: &str) -> Option<Event> {
    if !line.contains("\"Action\":") {
        return None;
    }
    let found: JsonLine = serde_json::from_str(line).ok()?;
    let end = match found.action.as_str() {
        "pass" => End::Passed,
        "fail" => End::Failed,
        "skip" => End::Skipped,
        _ => return Some(output(found)),
    };
    let package = found.package?;
    Some(match found.test {
        Some(name) => Event::Test { package: Some(package), name, end },
        None => Event::Package { name: package, end: if end == End::Skipped { End::Empty } else { end } },
    })
}

/// Reads what a test printed. Of the package's lines, only those that the events do not repeat count.
fn output(found: JsonLine) -> Event {
    let text = found.output.unwrap_or_default();
    match plain(text.trim_end()) {
        Some(Event::Reason(reason)) => Event::Reason(reason),
        Some(Event::Package { name, end: end @ (End::Empty | End::Broken) }) => Event::Package { name, end },
        _ => Event::Own,
    }
}

fn plain(line: &str) -> Option<Event> {
    // The beginning of the line, its usual meaning, and the end of a line with another meaning.
    for (start, usual, end, other) in [
        ("ok  \t", End::Passed, "[no tests to run]", End::Empty),
        ("?   \t", End::Empty, "[no test files]", End::Empty),
        ("FAIL\t", End::Failed, " failed]", End::Broken),
    ] {
        if let Some(rest) = line.strip_prefix(start) {
            let name = rest.split(['\t', ' ']).next().unwrap_or(rest).to_owned();
            return Some(Event::Package { name, end: if rest.ends_with(end) { other } else { usual } });
        }
    }
    for (word, end) in [("FAIL", End::Failed), ("PASS", End::Passed), ("SKIP", End::Skipped)] {
        if let Some(name) = test(line, word) {
            return Some(Event::Test { package: None, name, end });
        }
    }
    if line == "PASS" || line == "FAIL" {
        return Some(Event::Closing);
    }
    if line.starts_with("=== RUN ") {
        return Some(Event::Own);
    }
    reason(line).map(|reason| Event::Reason(reason.to_owned()))
}

/// Reads `--- FAIL: TestRounds/cents (0.00s)`, indented by the nesting depth of the test.
fn test(line: &str, word: &str) -> Option<String> {
    let rest = line.trim_start().strip_prefix("--- ")?.strip_prefix(word)?.strip_prefix(": ")?;
    Some(rest.rsplit_once(" (").map_or(rest, |(name, _)| name).to_owned())
}

/// Reads `till/till.go:5:28: cannot use …` and `panic: …`.
fn reason(line: &str) -> Option<&str> {
    if line.starts_with("panic: ") {
        return Some(line.trim_end_matches(" [recovered]"));
    }
    let (file, rest) = line.split_once(".go:")?;
    let (number, rest) = rest.split_once(':')?;
    let (column, _) = rest.split_once(": ")?;
    let is_place =
        !file.contains([' ', '\t']) && [number, column].iter().all(|part| part.parse::<u32>().is_ok());
    is_place.then_some(line)
}
