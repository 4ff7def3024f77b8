//! Checks that the drawing of the architecture names every crate, every executable, every folder of the library and every file of
//! a home.

use std::collections::BTreeSet;

use super::violation::Violation;
use crate::workspace::TextFile;

pub(super) const PATH: &str = "docs/architecture.svg";
const LIBRARY: &str = "crates/meanwhile/src/";
/// Constants with the names of files.
const NAMES: [&str; 2] = ["crates/model/src/wire/layout.rs", "crates/meanwhile/src/disk/names.rs"];
/// Endings of the constants that are names of files.
const KINDS: [&str; 5] = ["_FILE", "_DIR", "_SOCKET", "_FIFO", "_PREFIX"];
/// The crate for tests is not part of the product.
const TESTS: &str = "crates/testkit/";

/// Reports crates, executables, folders and files that the drawing does not name.
pub(super) fn check(drawing: &str, code: &[TextFile]) -> Vec<Violation> {
    let texts = drawing.split('>').filter_map(|part| part.split('<').next());
    let is_part = |c: char| c.is_ascii_lowercase() || "._-".contains(c);
    let words: BTreeSet<_> = texts.flat_map(|text| text.split(|c| !is_part(c))).collect();
    let folders = code.iter().filter_map(|file| Some(file.path.strip_prefix(LIBRARY)?.split_once('/')?.0));
    let files =
        code.iter().filter(|file| NAMES.contains(&&*file.path)).flat_map(|file| file_names(&file.text));
    let manifests =
        code.iter().filter(|file| file.path.starts_with("crates/") && !file.path.starts_with(TESTS));
    let crates =
        manifests.filter(|file| file.path.ends_with("/Cargo.toml")).flat_map(|file| crate_names(&file.text));
    let missing: BTreeSet<_> =
        folders.chain(files).chain(crates).filter(|name| !words.contains(name)).collect();
    let report = |name| Violation::new(PATH, 1, format!("the drawing does not name {name:?}"), "add it");
    missing.into_iter().map(report).collect()
}

/// Returns the values of the constants that are names of files.
fn file_names(text: &str) -> impl Iterator<Item = &str> {
    let constants = text.split("const ").filter_map(|constant| constant.split_once(": &str = \""));
    let files = constants.filter(|(name, _)| KINDS.iter().any(|kind| name.ends_with(kind)));
    files.filter_map(|(_, value)| value.split('"').next())
}

/// Returns the names of a manifest's package and executables.
fn crate_names(manifest: &str) -> impl Iterator<Item = &str> {
    let tables = manifest
        .split("\n[")
        .filter(|table| ["[package]", "package]", "[bin]]"].iter().any(|header| table.starts_with(header)));
    tables.filter_map(|table| table.split("\nname = \"").nth(1)?.split('"').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> TextFile {
        TextFile { path: format!("crates/{path}"), text: text.to_owned() }
    }

    #[test]
    fn the_drawing_names_every_folder_and_every_file() {
        let layout = "pub const A_DIR: &str = \"runs\";\npub const B_FILE: &str = \"told.news\";\n\
                      pub const C_NAME: &str = \"else\";\n";
        let own = "pub(crate) const D_FILE: &str = \"serve.key\";\n";
        let code = [
            file("meanwhile/src/queue/next.rs", ""),
            file("meanwhile/src/disk/names.rs", own),
            file("model/src/wire/layout.rs", layout),
        ];
        let found = |drawing: &str| check(drawing, &code).len();
        assert_eq!(
            found("<text>queue · start · disk</text><text>runs/&lt;n&gt;/, told.news, serve.key</text>"),
            0
        );
        assert_eq!(found("<text class=\"queue\">queues · disk</text><text>runs, told, serve.keys</text>"), 3);
    }

    #[test]
    fn the_drawing_names_every_crate_and_every_executable() {
        let manifest = "[package]\nname = \"mw-a\"\n\n[[bin]]\nname = \"mw-b\"\n\n[[test]]\nname = \"c\"\n";
        let code =
            [file("a/Cargo.toml", manifest), file("testkit/Cargo.toml", "[package]\nname = \"mw-t\"\n")];
        assert_eq!(check("<text>mw-a · mw-b</text>", &code).len(), 0);
        assert_eq!(check("<text>mw-a.</text>", &code).len(), 2);
    }
}
