//! Checks docs/requirements.md: every id occurs once, and every claim names an existing test.

use std::collections::{BTreeMap, BTreeSet};

use super::violation::Violation;

/// The path of the requirements.
pub(super) const PATH: &str = "docs/requirements.md";

/// The number of requirements of each source. Ids are numbered from 1 without gaps.
const SOURCES: [(&str, usize); 6] = [("Z", 135), ("M", 66), ("B", 36), ("O", 72), ("C", 119), ("X", 37)];

/// The status of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Done,
    Partly,
    Open,
    Struck,
}

struct Row<'a> {
    id: &'a str,
    status: &'a str,
    note: &'a str,
    line: usize,
}

/// Reports missing, repeated and unknown ids, unknown statuses, and claims without a test.
pub(super) fn check(text: &str, tests: &BTreeSet<String>) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| is_row(line)) {
        let number = index + 1;
        let Some(row) = parse(line, number) else {
            found.push(report(number, "not four cells", "write `| ID | What | Status | Test or reason |`"));
            continue;
        };
        if let Some(first) = seen.insert(row.id, number) {
            found.push(report(number, format!("{} is on line {first} already", row.id), "keep one row"));
        }
        if !is_known(row.id) {
            let remedy = "ids are stable; count a new one in xtask/src/tidy/ledger.rs";
            found.push(report(number, format!("unknown id {}", row.id), remedy));
        }
        found.extend(judge(&row, tests));
    }
    let missing = ids().filter(|id| !seen.contains_key(id.as_str()));
    found.extend(missing.map(|id| report(1, format!("{id} is missing"), "put its row back")));
    found
}

fn report(line: usize, what: impl Into<String>, remedy: &'static str) -> Violation {
    Violation::new(PATH, line, what, remedy)
}

fn is_row(line: &str) -> bool {
    line.starts_with('|') && !line.starts_with("| ID |") && !line.starts_with("|---")
}

fn parse(line: &str, number: usize) -> Option<Row<'_>> {
    let inside = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let cells: Vec<&str> = inside.split('|').map(str::trim).collect();
    let [id, _what, status, note] = cells.as_slice() else {
        return None;
    };
    Some(Row { id, status, note, line: number })
}

fn ids() -> impl Iterator<Item = String> {
    SOURCES.iter().flat_map(|(source, count)| (1..=*count).map(move |number| format!("{source}-{number:03}")))
}

fn is_known(id: &str) -> bool {
    ids().any(|known| known == id)
}

fn status(word: &str) -> Option<Status> {
    match word {
        "done" => Some(Status::Done),
        "partly" => Some(Status::Partly),
        "open" => Some(Status::Open),
        "struck" => Some(Status::Struck),
        _ => None,
    }
}

fn judge(row: &Row<'_>, tests: &BTreeSet<String>) -> Vec<Violation> {
    match status(row.status) {
        None => {
            let what = format!("{} has status `{}`", row.id, row.status);
            vec![report(row.line, what, "use done, partly, open or struck")]
        }
        Some(Status::Open) => Vec::new(),
        Some(Status::Struck) if row.note.is_empty() => {
            vec![report(row.line, format!("{} is struck without a reason", row.id), "write the reason")]
        }
        Some(Status::Struck) => Vec::new(),
        Some(Status::Done | Status::Partly) => judge_claim(row, tests),
    }
}

fn judge_claim(row: &Row<'_>, tests: &BTreeSet<String>) -> Vec<Violation> {
    let named: Vec<&str> = named_tests(row.note).collect();
    if named.is_empty() {
        let what = format!("{} is {} but names no test", row.id, row.status);
        return vec![report(row.line, what, "name one as `file_stem::test_name`")];
    }
    let is_missing = |path: &&str| path.rsplit("::").next().is_none_or(|name| !tests.contains(name));
    named
        .into_iter()
        .filter(is_missing)
        .map(|path| {
            let what = format!("{} names `{path}`, which is not a test", row.id);
            report(row.line, what, "name a test that exists, or set the row to open")
        })
        .collect()
}

/// Returns the test names in backticks. Words in backticks without `::` are not test names.
fn named_tests(note: &str) -> impl Iterator<Item = &str> {
    note.split('`').skip(1).step_by(2).filter(|word| word.contains("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a complete ledger in which `change` replaces the row of Z-001.
    fn violations(change: &str) -> Vec<String> {
        let tests = BTreeSet::from(["returns_at_once".to_owned()]);
        let rows = ids().map(|id| match id.as_str() {
            "Z-001" => format!("{change}\n"),
            _ => format!("| {id} | what | open | |\n"),
        });
        let text = format!("# Title\n\n| ID | What | Status | Test or reason |\n|---|---|---|---|\n{}", {
            rows.collect::<String>()
        });
        check(&text, &tests).into_iter().map(|violation| violation.what).collect()
    }

    #[test]
    fn there_are_465_ids() {
        assert_eq!(ids().count(), 465);
        assert_eq!(violations("| Z-001 | flag | open | |"), [""; 0]);
    }

    #[test]
    fn missing_repeated_and_unknown_ids_are_reported() {
        assert_eq!(violations(""), ["Z-001 is missing"]);
        assert_eq!(
            violations("| Z-001 | a | open | |\n| Z-001 | b | open | |"),
            ["Z-001 is on line 5 already"]
        );
        assert_eq!(violations("| Z-001 | a | open | |\n| Z-136 | b | open | |"), ["unknown id Z-136"]);
    }

    #[test]
    fn rows_need_four_cells_and_a_known_status() {
        assert_eq!(violations("| Z-001 | open | |"), ["not four cells", "Z-001 is missing"]);
        assert_eq!(violations("| Z-001 | flag | finished | |"), ["Z-001 has status `finished`"]);
    }

    #[test]
    fn a_claim_must_name_an_existing_test() {
        assert_eq!(violations("| Z-001 | flag | done | `start::returns_at_once` |"), [""; 0]);
        assert_eq!(violations("| Z-001 | flag | done | by hand |"), ["Z-001 is done but names no test"]);
        assert_eq!(
            violations("| Z-001 | flag | partly | `--json` later; `start::gone` |"),
            ["Z-001 names `start::gone`, which is not a test"]
        );
    }

    #[test]
    fn a_struck_row_needs_a_reason() {
        assert_eq!(violations("| Z-001 | flag | struck | |"), ["Z-001 is struck without a reason"]);
        assert_eq!(violations("| Z-001 | flag | struck | out of scope |"), [""; 0]);
    }
}
