//! Directories for temporary files, which every command may change.

use std::path::Path;

/// Directories for temporary files.
pub(crate) const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Returns whether `TMPDIR` with this value lets a command change files that it may not change otherwise.
pub(super) fn widens(value: &Path, home: Option<&Path>) -> bool {
    let named = std::fs::canonicalize(value).ok().filter(|path| is_temporary(path, home));
    named.is_some_and(|path| !TEMPORARY.iter().any(|usual| path.starts_with(usual)))
}

/// Returns whether a directory that `TMPDIR` names is one for temporary files: a command could name any.
pub(crate) fn is_temporary(path: &Path, home: Option<&Path>) -> bool {
    path.is_dir()
        && path.iter().any(|part| names_temporary(&part.to_string_lossy()))
        && !home.is_some_and(|home| home.starts_with(path) || path.starts_with(home))
}

/// Returns whether one of the words of a name says that a directory is temporary.
fn names_temporary(name: &str) -> bool {
    let name = name.to_lowercase();
    name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| matches!(word, "tmp" | "temp" | "scratch"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_word_names_a_temporary_directory() {
        for name in ["tmp", "TEMP", "build-tmp", "scratch", "tmp.X1"] {
            assert!(names_temporary(name), "{name}");
        }
        for name in ["attempts", "tmpfiles.d", "contemporary", "scratchpad", ""] {
            assert!(!names_temporary(name), "{name}");
        }
    }
}
