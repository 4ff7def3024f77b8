//! Keeps the rooms of the library apart: each uses only those that its line names.

use super::violation::Violation;
use crate::source::Source;

const LIBRARY: &str = "crates/meanwhile/src/";

/// What each room may use. `disk` is the bottom, `record` and `redact` stand on it alone, and nobody uses `handle`. `settle`
/// is the one room that many use and that uses many: every command settles what it finds.
const ROOMS: [(&str, &[&str]); 15] = [
    ("disk", &[]),
    ("record", &["disk"]),
    ("redact", &["disk"]),
    ("queue", &["disk", "record", "session"]),
    ("approval", &["disk", "record", "redact", "session"]),
    ("launch", &["approval", "disk", "queue", "read", "record", "redact", "settle"]),
    ("live", &["disk", "read", "record", "redact", "retain", "session", "settle"]),
    ("settle", &["launch", "live", "notify", "queue", "record", "retain"]),
    ("read", &["disk", "live", "queue", "record", "redact", "retain", "settle"]),
    ("notify", &["disk", "live", "read", "record", "redact", "session", "settle"]),
    ("retain", &["disk", "live", "notify", "queue", "read", "record", "settle"]),
    ("trace", &["disk", "read", "redact", "settle"]),
    ("session", &["disk", "launch", "live", "notify", "read", "retain", "settle"]),
    (
        "start",
        &["approval", "disk", "launch", "live", "queue", "read", "record", "redact", "session", "settle"],
    ),
    ("handle", &["approval", "disk", "launch", "live", "notify", "read"]),
];

/// Reports the rooms that a file of the library uses and that its own room does not name.
pub(super) fn check(source: &Source<'_>) -> Vec<Violation> {
    let Some((_, below)) = source.path.strip_prefix(LIBRARY).and_then(room_of) else { return Vec::new() };
    let own = source.path[LIBRARY.len()..].split('/').next().unwrap_or_default();
    let mut found = Vec::new();
    for line in source.lines() {
        for used in used_in(line.code).filter(|used| *used != own && !below.contains(used)) {
            let what = format!("`{own}` uses `{used}`");
            let remedy = "move the shared part below both, or name it in xtask/src/tidy/rooms.rs";
            found.push(Violation::new(source.path, line.number, what, remedy));
        }
    }
    found
}

fn room_of(path: &str) -> Option<(&'static str, &'static [&'static str])> {
    let first = path.split_once('/')?.0;
    ROOMS.into_iter().find(|(room, _)| *room == first)
}

/// Returns the rooms that a line names as `crate::ROOM`.
fn used_in(code: &str) -> impl Iterator<Item = &'static str> {
    let names = code.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    });
    let rooms = names.filter_map(|name| ROOMS.into_iter().map(|(room, _)| room).find(|room| *room == name));
    rooms.collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&Source::new(path, text)).into_iter().map(|violation| violation.what).collect()
    }

    #[test]
    fn a_room_uses_what_its_line_names_and_nothing_else() {
        let path = "crates/meanwhile/src/record/index.rs";
        assert_eq!(found(path, "use crate::disk::home::Home;\nuse crate::error::Error;\n"), [""; 0]);
        assert_eq!(found(path, "use crate::settle::Settler;\n"), ["`record` uses `settle`"]);
        assert_eq!(found(path, "    crate::queue::next::commit(store)\n"), ["`record` uses `queue`"]);
        assert_eq!(found("crates/meanwhile/src/runtime.rs", "use crate::settle::Settler;\n"), [""; 0]);
    }

    #[test]
    fn nobody_uses_the_public_face() {
        assert!(ROOMS.iter().all(|(_, below)| !below.contains(&"handle")));
    }
}
