//! Checks that only the store uses SQLite, that one file opens connections, and that one file applies events.

use super::manifest;
use super::violation::Violation;
use crate::source::{Source, has_start, has_word};
use crate::workspace::TextFile;

const STORE: &str = "crates/meanwhile/src/disk/store";
const DOOR: &str = "crates/meanwhile/src/disk/store/connection.rs";
const EVENTS: &str = "crates/meanwhile/src/database/event.rs";
const OWNER: &str = "crates/meanwhile/Cargo.toml";

/// Reports SQLite types outside of the store, connections that are opened elsewhere, and events that are applied
/// without their notifications.
pub(super) fn check(source: &Source<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    for line in source.lines() {
        if !in_store(source.path) && has_word(line.code, "rusqlite") {
            let remedy = "ask the store for plain data instead";
            found.push(Violation::new(source.path, line.number, "`rusqlite` outside the store", remedy));
        }
        if !in_store(source.path) && source.path != EVENTS && has_word(line.code, "apply_event") {
            let (what, remedy) = ("an event without its notifications", "call `Database::record_event`");
            found.push(Violation::new(source.path, line.number, what, remedy));
        }
        if source.path != DOOR && has_start(line.code, "Connection::open") {
            let what = "a database connection opened here";
            found.push(Violation::new(source.path, line.number, what, "open it in store/connection.rs"));
        }
    }
    found
}

/// Reports a manifest other than the library's that depends on SQLite.
pub(super) fn check_manifest(file: &TextFile) -> Vec<Violation> {
    if !file.path.ends_with("Cargo.toml") || file.path == OWNER {
        return Vec::new();
    }
    manifest::dependencies(&file.text)
        .into_iter()
        .filter(|dependency| dependency.package.contains("sqlite"))
        .map(|dependency| {
            let what = format!("dependency `{}` outside the library", dependency.package);
            Violation::new(&file.path, dependency.line, what, "ask the store for plain data instead")
        })
        .collect()
}

fn in_store(path: &str) -> bool {
    path.strip_prefix(STORE).is_some_and(|rest| rest.starts_with('/') || rest == ".rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&Source::new(path, text)).iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn sqlite_is_used_only_in_the_store() {
        let text = "// rusqlite\nuse rusqlite::Row;\n";
        assert_eq!(found("crates/meanwhile/src/disk/store/tasks.rs", text), []);
        assert_eq!(found("crates/meanwhile/src/queue.rs", text), [2]);
        assert_eq!(found("crates/meanwhile/src/storefront.rs", text), [2]);
    }

    #[test]
    fn connections_are_opened_in_one_file_only() {
        let text = "let c = Connection::open_with_flags(path);\n";
        assert_eq!(found("crates/meanwhile/src/disk/store/connection.rs", text), []);
        assert_eq!(found("crates/meanwhile/src/disk/store/tasks.rs", text), [1]);
    }

    #[test]
    fn events_are_applied_in_one_file_only() {
        let text = "transaction.apply_event(&mut task, &event, now, change)?;\n";
        assert_eq!(found(EVENTS, text), []);
        assert_eq!(found("crates/meanwhile/src/queue/next.rs", text), [1]);
    }

    #[test]
    fn only_one_manifest_depends_on_sqlite() {
        let text = "[dev-dependencies]\nrusqlite = \"1\"\n".to_owned();
        let own = TextFile { path: OWNER.to_owned(), text: text.clone() };
        let other = TextFile { path: "crates/cli/Cargo.toml".to_owned(), text };
        assert_eq!(check_manifest(&own), []);
        assert_eq!(check_manifest(&other).len(), 1);
    }
}
