//! Checks that the modules of the library form layers: each uses only those below it.

use super::violation::Violation;
use crate::source::Source;

const LIBRARY: &str = "crates/meanwhile/src/";

/// The modules of the library from bottom to top. Each may use only those before it.
const ROOMS: [&str; 29] = [
    "error",
    "clock",
    "fail_point",
    "variables",
    "settings",
    "task",
    "request",
    "span",
    "disk",
    "supervisor",
    "database",
    "base",
    "redact",
    "agent",
    "approval",
    "queue",
    "launch",
    "reconcile",
    "read",
    "outcome",
    "live",
    "notify",
    "hooks",
    "trace",
    "retain",
    "session",
    "start",
    "settle",
    "handle",
];

/// The root of the library, and the modules above all layers.
const ROOF: [&str; 3] = ["lib", "engine", "runtime"];

/// Reports modules of higher layers that a file of the library uses.
pub(super) fn check(source: &Source<'_>) -> Vec<Violation> {
    let Some(inside) = source.path.strip_prefix(LIBRARY) else { return Vec::new() };
    let own = inside.split_once('/').map_or_else(|| inside.trim_end_matches(".rs"), |(room, _)| room);
    if ROOF.contains(&own) {
        return Vec::new();
    }
    let Some(level) = level_of(own) else {
        let what = format!("`{own}` is a room that the list of rooms does not have");
        return vec![Violation::new(source.path, 1, what, "name it in xtask/src/tidy/rooms.rs")];
    };
    let mut found = Vec::new();
    for line in source.lines() {
        for used in used_in(line.code).filter(|used| level_of(used).is_some_and(|used| used > level)) {
            // The library's error contains the database's error.
            if own == "error" && line.code.contains("crate::disk::store::StoreError") {
                continue;
            }
            let what = format!("`{own}` uses `{used}`, which is above it");
            let remedy = "move the shared part below both";
            found.push(Violation::new(source.path, line.number, what, remedy));
        }
    }
    found
}

fn level_of(room: &str) -> Option<usize> {
    ROOMS.iter().position(|known| *known == room)
}

/// Returns the names after `crate::` in a line.
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
    fn a_room_may_use_only_rooms_below_it() {
        let path = "crates/meanwhile/src/database/lookup.rs";
        assert_eq!(found(path, "use crate::disk::home::Home;\nuse crate::error::Error;\n"), [""; 0]);
        assert_eq!(
            found(path, "use crate::reconcile::Reconciler;\n"),
            ["`database` uses `reconcile`, which is above it"]
        );
        let call = "    crate::queue::next::commit(store)\n";
        assert_eq!(found(path, call), ["`database` uses `queue`, which is above it"]);
        assert_eq!(found("crates/meanwhile/src/runtime.rs", "use crate::reconcile::Reconciler;\n"), [""; 0]);
    }

    #[test]
    fn a_new_room_must_be_listed() {
        let what = ["`attic` is a room that the list of rooms does not have"];
        assert_eq!(found("crates/meanwhile/src/attic/mod.rs", ""), what);
        assert_eq!(found("crates/meanwhile/src/attic.rs", ""), what);
    }
}
