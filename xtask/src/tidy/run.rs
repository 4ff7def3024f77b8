//! Applies every rule to the workspace.

use std::path::Path;

use super::violation::Violation;
use super::{
    layers, ledger, length, mod_files, platform, purity, rooms, sqlite, test_habits, test_names, unsafety,
};
use crate::error::Failure;
use crate::source::Source;
use crate::workspace;

/// Prints every violation, one per line. Fails if there are any.
pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    let files = workspace::code_files(root)?;
    let sources: Vec<Source<'_>> = files.iter().filter_map(Source::of).collect();
    let ledger_text = workspace::read(&root.join(ledger::PATH))?;

    let mut violations: Vec<Violation> = Vec::new();
    for file in &files {
        violations.extend(length::check(file));
        violations.extend(layers::check(file));
        violations.extend(sqlite::check_manifest(file));
    }
    for source in &sources {
        violations.extend(unsafety::check(source));
        violations.extend(sqlite::check(source));
        violations.extend(platform::check(source));
        violations.extend(purity::check(source));
        violations.extend(rooms::check(source));
        violations.extend(mod_files::check(source));
        violations.extend(test_habits::check(source));
    }
    let tests = test_names::collect(&sources);
    violations.extend(ledger::check(&ledger_text, &tests));

    for violation in &violations {
        println!("{violation}");
    }
    if violations.is_empty() { Ok(()) } else { Err(Failure::Untidy(violations.len())) }
}
