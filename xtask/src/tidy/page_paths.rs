//! Checks that the files and folders that the documentation names exist.

use std::collections::BTreeSet;

use super::violation::Violation;
use crate::workspace::TextFile;

/// The folders at the root of the workspace that pages name.
const ROOTS: [&str; 6] = [".ci/", "benches/", "crates/", "docs/", "tools/", "xtask/"];
const LIBRARY: &str = "crates/meanwhile/src/";
/// Headers of tables whose paths are relative to the library.
const LIBRARY_TABLES: [&str; 2] = ["| Folder |", "| Step | Where |"];

/// The Rust files with and without their ending, and their folders with and without a slash at the end.
pub(super) struct CodePaths(BTreeSet<String>);

impl CodePaths {
    pub(super) fn of<'a>(files: impl Iterator<Item = &'a str>) -> Self {
        let mut paths = BTreeSet::new();
        for file in files {
            paths.extend([file.to_owned(), file.trim_end_matches(".rs").to_owned()]);
            let slashes = file.match_indices('/').map(|(at, _)| at);
            paths.extend(slashes.flat_map(|at| [file[..at].to_owned(), file[..=at].to_owned()]));
        }
        Self(paths)
    }

    /// Returns whether a path below `base` ends with `path`.
    fn has(&self, base: &str, path: &str) -> bool {
        let end = format!("/{path}");
        self.0.iter().any(|known| known.starts_with(base) && known.ends_with(&end))
    }
}

/// Reports paths between backquotes that do not exist. `exists` answers for paths from the root of the workspace.
///
/// Pages name Rust files by the end of their path. In `docs/architecture.md` this also holds for modules of the library
/// (`disk/slots`) and for the folders in the table of crates.
pub(super) fn check(page: &TextFile, code: &CodePaths, exists: &dyn Fn(&str) -> bool) -> Vec<Violation> {
    let is_map = page.path == "docs/architecture.md";
    let (mut found, mut in_block, mut table) = (Vec::new(), false, "");
    for (index, line) in page.text.lines().enumerate() {
        in_block ^= line.starts_with("```");
        if LIBRARY_TABLES.iter().any(|header| line.starts_with(header)) {
            table = LIBRARY;
        } else if !line.starts_with('|') {
            table = "";
        }
        let row = line.strip_prefix("| `").and_then(|rest| rest.split('`').next());
        let base = row.filter(|crate_path| crate_path.starts_with("crates/")).unwrap_or(table);
        for word in line.split('`').skip(1).step_by(2).filter(|_| !in_block) {
            let path = concrete(word);
            let is_module = || {
                let first = path.split('/').next().unwrap_or_default();
                !base.is_empty() || code.has(LIBRARY.trim_end_matches('/'), &format!("src/{first}"))
            };
            let is_there = if ROOTS.iter().any(|root| path.starts_with(root)) {
                exists(path)
            } else if path.ends_with(".rs") || is_map && path == word && path.contains('/') && is_module() {
                code.has(base, path)
            } else {
                true
            };
            if !is_there {
                let what = format!("`{word}` does not exist");
                found.push(Violation::new(
                    &page.path,
                    index + 1,
                    what,
                    "name the file or folder as it is now",
                ));
            }
        }
    }
    found
}

/// Returns the part of a path before a placeholder such as `NAME`, `<id>` or `*`.
fn concrete(word: &str) -> &str {
    let path = word.split(' ').next().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/._-".contains(c);
    match path.find(|c| !is_plain(c)) {
        Some(end) => &path[..path[..end].rfind('/').map_or(0, |slash| slash + 1)],
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let code = ["crates/meanwhile/src/disk/slots.rs", "crates/model/src/dialects/dialect.rs"];
        let exists = |path: &str| ["crates/model", "crates/model/src/dialects/", "docs/"].contains(&path);
        let page = TextFile { path: path.to_owned(), text: text.to_owned() };
        let found = check(&page, &CodePaths::of(code.into_iter()), &exists);
        found.into_iter().map(|violation| format!("{}: {}", violation.line, violation.what)).collect()
    }

    #[test]
    fn a_path_must_exist() {
        let text = "`crates/model`, `crates/model/src/dialects/NAME.rs`, `docs/NAME.md`, `dialect.rs`, `disk/slots.rs`\n\
                    ```\n`crates/none`\n```\n`dialects/`, `disk/look`, `tasks/<id>/spec.json`\n";
        assert_eq!(found("docs/agents.md", text), [""; 0]);
        let text = "`crates/none`\n\n`crates/none/NAME.rs`, `disk/look.rs`, `ots.rs`\n";
        let missing = ["1: `crates/none`", "3: `crates/none/NAME.rs`", "3: `disk/look.rs`", "3: `ots.rs`"];
        assert_eq!(found("README.md", text), missing.map(|path| format!("{path} does not exist")));
    }

    #[test]
    fn the_tables_of_the_architecture_name_existing_folders() {
        let page = "docs/architecture.md";
        let right =
            "| `crates/model` | `dialects/` |\n\n| Folder | |\n| `disk/` | `disk/slots` |\n\n`bells/`\n";
        assert_eq!(found(page, right), [""; 0]);
        let wrong = "| `crates/model` | `dialect/` |\n\n| Folder | |\n| `disc/` | |\n\n`disk/look`\n";
        let missing = ["1: `dialect/`", "4: `disc/`", "6: `disk/look`"];
        assert_eq!(found(page, wrong), missing.map(|path| format!("{path} does not exist")));
    }
}
