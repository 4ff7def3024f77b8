//! Keeps the rooms of the library in layers: each uses only those that stand below it.

use super::violation::Violation;
use crate::source::Source;

const LIBRARY: &str = "crates/meanwhile/src/";

/// The rooms from the bottom up. Each uses only those that stand before it.
const ROOMS: [&str; 19] = [
    "error", "disk", "record", "redact", "agent", "approval", "queue", "launch", "settle", "read", "outcome",
    "live", "notify", "trace", "retain", "session", "start", "runner", "handle",
];

/// Reports the rooms above its own that a file of the library uses.
pub(super) fn check(source: &Source<'_>) -> Vec<Violation> {
    let inside = source.path.strip_prefix(LIBRARY).and_then(|path| path.split_once('/'));
    let Some((own, _)) = inside else { return Vec::new() };
    let Some(level) = level_of(own) else {
        let what = format!("`{own}` is a room that the list of rooms does not have");
        return vec![Violation::new(source.path, 1, what, "name it in xtask/src/tidy/rooms.rs")];
    };
    let mut found = Vec::new();
    for line in source.lines() {
        for used in used_in(line.code).filter(|used| level_of(used).is_some_and(|used| used > level)) {
            let what = format!("`{own}` uses `{used}`, which stands above it");
            let remedy = "move the shared part below both";
            found.push(Violation::new(source.path, line.number, what, remedy));
        }
    }
    found
}

fn level_of(room: &str) -> Option<usize> {
    ROOMS.iter().position(|known| *known == room)
}

/// Returns what a line names as `crate::NAME`.
fn used_in(code: &str) -> impl Iterator<Item = &str> {
    code.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&Source::new(path, text)).into_iter().map(|violation| violation.what).collect()
    }

    #[test]
    fn a_room_uses_only_those_below_it() {
        let path = "crates/meanwhile/src/record/index.rs";
        assert_eq!(found(path, "use crate::disk::home::Home;\nuse crate::error::Error;\n"), [""; 0]);
        assert_eq!(
            found(path, "use crate::settle::Settler;\n"),
            ["`record` uses `settle`, which stands above it"]
        );
        let call = "    crate::queue::next::commit(store)\n";
        assert_eq!(found(path, call), ["`record` uses `queue`, which stands above it"]);
        assert_eq!(found("crates/meanwhile/src/runtime.rs", "use crate::settle::Settler;\n"), [""; 0]);
    }

    #[test]
    fn a_new_room_must_be_listed() {
        let path = "crates/meanwhile/src/attic/mod.rs";
        assert_eq!(found(path, ""), ["`attic` is a room that the list of rooms does not have"]);
    }
}
