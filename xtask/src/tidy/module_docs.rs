//! Checks the modules that the documentation of a `mod.rs` or `lib.rs` names: each must exist.

use std::collections::BTreeSet;

use super::violation::Violation;
use crate::source::Source;

/// Words of code that are not modules.
const OTHER_WORDS: [&str; 3] = ["mw", "splice", "unsafe"];

/// The folders and files of the workspace's crates, for finding modules and strings.
pub(super) struct Modules<'a> {
    sources: &'a [Source<'a>],
    folders: BTreeSet<&'a str>,
}

impl<'a> Modules<'a> {
    /// Collects the modules of `sources`.
    pub(super) fn of(sources: &'a [Source<'a>]) -> Self {
        let folders = sources.iter().flat_map(|source| ancestors(source.path)).collect();
        Self { sources, folders }
    }

    /// Reports words in the module documentation of `source` that name no module.
    ///
    /// A module is named by a word in backquotes, or by the first word of a row in a block of text. It may be in the folder of
    /// `source` or in a folder around it. A word that the code of the folder contains as a string, such as the name of a
    /// tool, is not a module.
    pub(super) fn check(&self, source: &Source<'_>) -> Vec<Violation> {
        let Some((folder, "mod.rs" | "lib.rs")) = source.path.rsplit_once('/') else { return Vec::new() };
        if !folder.contains("/src") {
            return Vec::new();
        }
        let named = words(source.raw());
        let unknown = named.into_iter().filter(|(_, word)| !self.is_known(folder, word));
        let remedy = "name a module of this folder or of one around it";
        let report = |(line, word)| {
            Violation::new(
                source.path,
                line,
                format!("the documentation names `{word}`, which is no module"),
                remedy,
            )
        };
        unknown.map(report).collect()
    }

    fn is_known(&self, folder: &str, word: &str) -> bool {
        OTHER_WORDS.contains(&word) || self.is_module(folder, word) || self.is_string(folder, word)
    }

    fn is_module(&self, folder: &str, word: &str) -> bool {
        let is_here = |around: &str| {
            let path = format!("{around}/{word}");
            let file = format!("{path}.rs");
            self.folders.contains(&*path) || self.sources.iter().any(|source| source.path == file)
        };
        std::iter::once(folder)
            .chain(ancestors(folder))
            .take_while(|around| around.contains("/src"))
            .any(is_here)
    }

    fn is_string(&self, folder: &str, word: &str) -> bool {
        let text = format!("\"{word}\"");
        let mut inside = self.sources.iter().filter(|source| source.path.starts_with(folder));
        inside.any(|source| source.raw().contains(&text))
    }
}

/// Returns the folders around `path`, from the inside to the outside.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.rmatch_indices('/').map(|(at, _)| &path[..at])
}

/// Returns the words of the module documentation that should be modules, with their lines.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut block = None;
    for (index, line) in text.lines().enumerate() {
        let Some(line) = line.strip_prefix("//!") else { continue };
        let line = line.strip_prefix(' ').unwrap_or(line);
        if let Some(language) = line.strip_prefix("```") {
            block = if block.is_some() { None } else { Some(language) };
            continue;
        }
        let named: Vec<&str> = match block {
            None => in_backquotes(line).collect(),
            Some("text") => first_of_row(line).into_iter().collect(),
            Some(_) => Vec::new(),
        };
        found.extend(named.into_iter().filter(|word| is_name(word)).map(|word| (index + 1, word)));
    }
    found
}

/// Returns the texts in backquotes. Those in brackets are links, which rustdoc checks.
fn in_backquotes(line: &str) -> impl Iterator<Item = &str> {
    let parts: Vec<&str> = line.split('`').collect();
    let quoted = (1..parts.len()).step_by(2).filter(|&at| at + 1 < parts.len());
    let texts: Vec<&str> = quoted.filter(|&at| !parts[at - 1].ends_with('[')).map(|at| parts[at]).collect();
    texts.into_iter()
}

/// Returns the first word of `name   description`.
fn first_of_row(line: &str) -> Option<&str> {
    let (word, description) = line.split_once("  ")?;
    description.trim_start().starts_with(char::is_alphabetic).then_some(word)
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        let sources = [
            Source::new(path, text),
            Source::new("crates/a/src/end/kill_plan.rs", "const NAME: &str = \"a_tool\";"),
            Source::new("crates/a/src/end/tree/mod.rs", ""),
            Source::new("crates/a/src/output.rs", ""),
        ];
        Modules::of(&sources).check(&sources[0]).len()
    }

    #[test]
    fn names_in_backquotes_are_modules_of_the_folder_or_around_it() {
        let path = "crates/a/src/end/mod.rs";
        assert_eq!(
            found(path, "//! `kill_plan` of the `tree`, before `output`; `a_tool`, `mw settle`, [`link`]."),
            0
        );
        assert_eq!(found(path, "//! `plan` is carried out on the `trees`."), 2);
        assert_eq!(found("crates/a/src/end/kill_plan.rs", "//! `plan`"), 0);
        assert_eq!(found(path, "/// `plan`\nmod x;"), 0);
    }

    #[test]
    fn rows_of_a_text_block_begin_with_modules() {
        let path = "crates/a/src/lib.rs";
        assert_eq!(
            found(
                path,
                "//! ```text\n//! end     how it ends\n//! P0 ─▶ x  y\n//!    sleeps   long\n//! ```"
            ),
            0
        );
        assert_eq!(found(path, "//! ```text\n//! ends    how it ends\n//! ```"), 1);
        assert_eq!(found(path, "//! ```\n//! let x  = y;\n//! ```"), 0);
    }
}
