//! Lists of names with patterns, compared quickly, and lists of paths.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use mw_model::RawText;

/// Returns whether a name in lower case is in a list, whose names are separated by white space and may contain `*`.
pub(super) fn contains(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| match listed.split_once('*') {
        None => listed == name,
        Some((begin, rest)) => matches_after(name.strip_prefix(begin), rest),
    })
}

/// Returns whether what follows the text before a `*` matches the pattern after it.
fn matches_after(text: Option<&str>, pattern: &str) -> bool {
    let Some(text) = text else { return false };
    match pattern.split_once('*') {
        None => text.ends_with(pattern),
        Some((middle, rest)) => {
            text.match_indices(middle).any(|(at, _)| matches_after(Some(&text[at + middle.len()..]), rest))
        }
    }
}

/// Returns the path that a record has as text.
pub(super) fn path(text: &RawText) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(text.as_bytes()))
}

/// Returns a path as a record has it.
pub(super) fn raw(path: &Path) -> RawText {
    RawText::from(path.as_os_str().as_bytes())
}

/// Returns the real path of a file or directory that exists.
pub(super) fn real(path: &Path) -> Option<PathBuf> {
    // Most paths of the lists do not exist, and this takes one system call.
    std::fs::symlink_metadata(path).ok()?;
    std::fs::canonicalize(path).ok()
}

/// Returns the paths sorted and without those that are below others.
pub(super) fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !kept.iter().any(|outer| path.starts_with(outer)) {
            kept.push(path);
        }
    }
    kept
}

/// Returns the paths sorted and without duplicates, as texts of the start message.
pub(super) fn texts(mut paths: Vec<PathBuf>) -> Vec<RawText> {
    paths.sort();
    paths.dedup();
    paths.iter().map(|path| RawText::from(path.as_os_str().as_bytes())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_patterns_of_a_list_match() {
        let list = ".git lefthook.y*ml *.pem mise.*.toml .env.*";
        for name in [".git", "lefthook.yml", "lefthook.yaml", "x.pem", "mise.local.toml", ".env.local"] {
            assert!(contains(list, name), "{name}");
        }
        for name in [".gitignore", "lefthook.toml", "x.pem.txt", "mise.toml", ".env"] {
            assert!(!contains(list, name), "{name}");
        }
    }

    #[test]
    fn only_the_outermost_paths_are_kept() {
        let paths = ["/b/c", "/a", "/a/x", "/b/c", "/bc"].map(PathBuf::from).to_vec();
        assert_eq!(outermost(paths), ["/a", "/b/c", "/bc"].map(PathBuf::from));
    }
}
