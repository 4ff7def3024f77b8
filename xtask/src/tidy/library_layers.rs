//! Checks that the modules of the library form layers: each uses only those below it. The same for the modules of
//! `disk/`.

use super::violation::Violation;
use crate::source::Source;

const LIBRARY: &str = "crates/meanwhile/src/";

/// The modules of the library from bottom to top. Each may use only those before it.
const LAYERS: [&str; 32] = [
    "error",
    "clock",
    "fail_point",
    "variables",
    "settings",
    "task",
    "request",
    "span",
    "due",
    "disk",
    "supervisor",
    "database",
    "base",
    "redact",
    "agent",
    "approval",
    "queue",
    "confine",
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
    "runtime",
    "handle",
];

const DISK: &str = "disk";

/// The modules of `disk/` from bottom to top.
const DISK_LAYERS: [&str; 15] = [
    "names",
    "optional_file",
    "replace_file",
    "file_lock",
    "platform",
    "arrivals",
    "slots",
    "session_dir",
    "task_dir",
    "home",
    "log_names",
    "settle_turn",
    "wake_up",
    "alarm",
    "store",
];

/// The root of the library, and the modules that only re-export.
const ABOVE: [&str; 4] = ["lib", "engine", "model", "policy"];

/// Reports modules of higher layers that a file of the library uses.
pub(super) fn check(source: &Source<'_>) -> Vec<Violation> {
    let Some(inside) = source.path.strip_prefix(LIBRARY) else { return Vec::new() };
    let own = module_of(inside);
    if ABOVE.contains(&own) {
        return Vec::new();
    }
    let mut found = check_order(source, own, &LAYERS, &["crate::"]);
    match inside.strip_prefix(DISK).and_then(|rest| rest.strip_prefix('/')) {
        None | Some("mod.rs") => {}
        // Only in a file of `disk/` itself is its parent `disk`.
        Some(file) if !file.contains('/') => {
            found.extend(check_order(source, module_of(file), &DISK_LAYERS, &["crate::disk::", "super::"]));
        }
        Some(file) => found.extend(check_order(source, module_of(file), &DISK_LAYERS, &["crate::disk::"])),
    }
    found
}

/// Returns the first part of a path, without the end of a file name.
fn module_of(path: &str) -> &str {
    path.split_once('/').map_or_else(|| path.trim_end_matches(".rs"), |(module, _)| module)
}

/// Reports modules above a file's own that the file uses by one of these prefixes.
fn check_order(source: &Source<'_>, own: &str, layers: &[&str], prefixes: &[&str]) -> Vec<Violation> {
    let level_of = |module: &str| layers.iter().position(|known| *known == module);
    let Some(level) = level_of(own) else {
        let what = format!("the list of layers does not have `{own}`");
        return vec![Violation::new(source.path, 1, what, "add it to xtask/src/tidy/library_layers.rs")];
    };
    let mut found = Vec::new();
    for line in source.lines() {
        let used = prefixes.iter().flat_map(|prefix| used_in(line.code, prefix));
        for used in used.filter(|used| level_of(used).is_some_and(|used| used > level)) {
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

/// Returns the names after a prefix in a line.
fn used_in<'code>(code: &'code str, prefix: &str) -> impl Iterator<Item = &'code str> {
    code.split(prefix).skip(1).map(|rest| {
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
    fn a_module_may_use_only_modules_below_it() {
        let path = "crates/meanwhile/src/database/lookup.rs";
        assert_eq!(found(path, "use crate::disk::home::Home;\nuse crate::error::Error;\n"), [""; 0]);
        assert_eq!(
            found(path, "use crate::reconcile::Reconciler;\n"),
            ["`database` uses `reconcile`, which is above it"]
        );
        let call = "    crate::queue::next::commit(store)\n";
        assert_eq!(found(path, call), ["`database` uses `queue`, which is above it"]);
        let runtime = "use crate::runtime::Runtime;\n";
        assert_eq!(found("crates/meanwhile/src/handle/home.rs", runtime), [""; 0]);
        assert_eq!(
            found("crates/meanwhile/src/start/check.rs", runtime),
            ["`start` uses `runtime`, which is above it"]
        );
        assert_eq!(found("crates/meanwhile/src/engine.rs", runtime), [""; 0]);
    }

    #[test]
    fn the_modules_of_disk_form_layers_too() {
        let what = ["`slots` uses `home`, which is above it"];
        assert_eq!(found("crates/meanwhile/src/disk/slots.rs", "use super::home::Home;\n"), what);
        assert_eq!(found("crates/meanwhile/src/disk/slots.rs", "use crate::disk::home::Home;\n"), what);
        let inside = "use super::home::Home;\nuse crate::disk::slots::Slots;\n";
        assert_eq!(found("crates/meanwhile/src/disk/session_dir/dir.rs", inside), [""; 0]);
        assert_eq!(found("crates/meanwhile/src/disk/mod.rs", ""), [""; 0]);
    }

    #[test]
    fn a_new_module_must_be_listed() {
        let disk = ["the list of layers does not have `cellar`"];
        assert_eq!(found("crates/meanwhile/src/disk/cellar.rs", ""), disk);
        let what = ["the list of layers does not have `attic`"];
        assert_eq!(found("crates/meanwhile/src/attic/mod.rs", ""), what);
        assert_eq!(found("crates/meanwhile/src/attic.rs", ""), what);
    }
}
