//! The list of tests and steps that a check has skipped on this machine. Tests write it (`mw_testkit::skip`) with one
//! line each: the missing requirement, the test binary and the test.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::command::target;
use crate::error::Failure;
use crate::workspace;

/// The name in place of the test binary if a whole step of the check was skipped.
const STEP: &str = "step";
/// The maximum number of names of one module that are shown. Further ones are counted.
const SHOWN: usize = 3;

/// A skipped test or step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    need: String,
    binary: String,
    name: String,
}

/// All tests and steps that a check has skipped.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Skipped(BTreeSet<Entry>);

/// Returns the file with the list of a check.
pub(crate) fn file(root: &Path) -> PathBuf {
    target(root).join("skipped.tsv")
}

/// Returns the file with the list of a second run.
pub(crate) fn file_of_second_run(root: &Path) -> PathBuf {
    target(root).join("skipped-again.tsv")
}

/// Creates an empty list.
pub(crate) fn begin(list: &Path) -> Result<(), Failure> {
    fs::write(list, "").map_err(|source| Failure::File { path: list.to_owned(), source })
}

/// Records that a step of the check was skipped.
pub(crate) fn note_step(list: &Path, step: &str, need: &str) -> Result<(), Failure> {
    let written = OpenOptions::new().append(true).open(list);
    written
        .and_then(|mut file| writeln!(file, "{need}\t{STEP}\t{step}"))
        .map_err(|source| Failure::File { path: list.to_owned(), source })
}

/// Reads a list.
pub(crate) fn read(list: &Path) -> Result<Skipped, Failure> {
    Ok(Skipped::parse(&workspace::read(list)?))
}

impl Skipped {
    fn parse(text: &str) -> Self {
        let entry = |line: &str| {
            let mut fields = line.splitn(3, '\t').map(str::to_owned);
            Some(Entry { need: fields.next()?, binary: fields.next()?, name: fields.next()? })
        };
        Self(text.lines().filter_map(entry).collect())
    }

    /// Returns the number of entries.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the skipped steps of the check.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|entry| entry.binary == STEP).map(|entry| entry.name.as_str())
    }

    /// Returns nextest's expression for the skipped tests, if there are any.
    pub(crate) fn filter(&self) -> Option<String> {
        let mut binaries: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for entry in self.0.iter().filter(|entry| entry.binary != STEP) {
            binaries.entry(&entry.binary).or_default().push(format!("test(={})", entry.name));
        }
        let parts: Vec<String> = binaries
            .iter()
            .map(|(binary, tests)| format!("(binary_id(={binary}) & ({}))", tests.join(" | ")))
            .collect();
        (!parts.is_empty()).then(|| parts.join(" | "))
    }
}

/// Formats one line for each missing requirement.
impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let needs: BTreeSet<&str> = self.0.iter().map(|entry| entry.need.as_str()).collect();
        for need in needs {
            let lacking: Vec<&Entry> = self.0.iter().filter(|entry| entry.need == need).collect();
            write!(f, "\n   {} × {need}:", lacking.len())?;
            let mut modules: BTreeMap<String, Vec<&str>> = BTreeMap::new();
            for entry in lacking {
                let (module, test) = entry.name.rsplit_once("::").unwrap_or(("", &entry.name));
                modules.entry(format!("{} {module}", entry.binary)).or_default().push(test);
            }
            for (index, (module, tests)) in modules.iter().enumerate() {
                let separator = if index == 0 { " " } else { "; " };
                let names =
                    if tests.len() > SHOWN { format!("{} tests", tests.len()) } else { tests.join(", ") };
                write!(f, "{separator}{} ({names})", module.trim_end())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "python3\tmw-cli::subagents\tasking::one\n\
        python3\tmw-cli::subagents\tasking::two\n\
        python3\tmw-cli::subagents\tasking::three\n\
        python3\tmw-cli::subagents\tasking::four\n\
        python3\tmw-cli::chat\tforeign::five\n\
        root\tmw-testkit::kit\tsix\n\
        cargo-deny\tstep\tdependencies\n\
        root\tmw-testkit::kit\tsix\n";

    #[test]
    fn each_missing_requirement_has_a_line_with_its_skipped_tests() {
        let skipped = Skipped::parse(TEXT);
        assert_eq!(skipped.count(), 7, "a repeated line is counted once");
        let shown = skipped.to_string();
        let lines: Vec<_> = shown.trim_start_matches('\n').lines().collect();
        assert_eq!(
            lines,
            [
                "   1 × cargo-deny: step (dependencies)",
                "   5 × python3: mw-cli::chat foreign (five); mw-cli::subagents asking (4 tests)",
                "   1 × root: mw-testkit::kit (six)",
            ]
        );
        assert_eq!(Skipped::parse("").to_string(), "");
    }

    #[test]
    fn skipped_tests_and_steps_can_be_run_again() {
        let skipped = Skipped::parse(TEXT);
        assert_eq!(skipped.steps().collect::<Vec<_>>(), ["dependencies"]);
        let filter = skipped.filter().unwrap();
        assert!(filter.starts_with("(binary_id(=mw-cli::chat) & (test(=foreign::five))) | ("), "{filter}");
        assert!(filter.ends_with("(binary_id(=mw-testkit::kit) & (test(=six)))"), "{filter}");
        assert_eq!(filter.matches("test(=").count(), 6);
        assert_eq!(Skipped::parse("cargo-deny\tstep\tdependencies\n").filter(), None);
    }
}
