//! Checks that the drawing of the architecture names every folder of the library and every file of a home.

use std::collections::BTreeSet;

use super::violation::Violation;
use crate::workspace::TextFile;

pub(super) const PATH: &str = "docs/architecture.svg";
const LIBRARY: &str = "crates/meanwhile/src/";
const LAYOUT: &str = "crates/model/src/wire/layout.rs";
/// Endings of the constants of the layout that are names of files.
const KINDS: [&str; 5] = ["_FILE", "_DIR", "_SOCKET", "_FIFO", "_PREFIX"];

/// Reports folders and files that the drawing does not name.
pub(super) fn check(drawing: &str, code: &[TextFile]) -> Vec<Violation> {
    let texts = drawing.split('>').filter_map(|part| part.split('<').next());
    let is_part = |c: char| c.is_ascii_lowercase() || "._-".contains(c);
    let words: BTreeSet<_> = texts.flat_map(|text| text.split(|c| !is_part(c))).collect();
    let folders = code.iter().filter_map(|file| Some(file.path.strip_prefix(LIBRARY)?.split_once('/')?.0));
    let layout = code.iter().find(|file| file.path == LAYOUT).map_or("", |file| &file.text);
    let files = layout.split("pub const ").filter_map(|constant| {
        let (name, value) = constant.split_once(": &str = \"")?;
        KINDS.iter().any(|kind| name.ends_with(kind)).then(|| value.split('"').next()).flatten()
    });
    let missing: BTreeSet<_> = folders.chain(files).filter(|name| !words.contains(name)).collect();
    let report = |name| Violation::new(PATH, 1, format!("the drawing does not name {name:?}"), "add it");
    missing.into_iter().map(report).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drawing_names_every_folder_and_every_file() {
        let file =
            |path: &str, text: &str| TextFile { path: format!("crates/{path}"), text: text.to_owned() };
        let layout = "pub const A_DIR: &str = \"runs\";\npub const B_FILE: &str = \"told.news\";\n\
                      pub const C_NAME: &str = \"else\";\n";
        let code = [file("meanwhile/src/queue/next.rs", ""), file("model/src/wire/layout.rs", layout)];
        let found = |drawing: &str| check(drawing, &code).len();
        assert_eq!(found("<text>queue · start</text><text>runs/&lt;n&gt;/, told.news</text>"), 0);
        assert_eq!(found("<text class=\"queue\">queues</text><text>runs, told</text>"), 2);
    }
}
