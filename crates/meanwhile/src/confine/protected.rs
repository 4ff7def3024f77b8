//! Files in a directory that other programs obey.

use std::fs;
use std::path::{Path, PathBuf};

use mw_policy::{PROTECTED_NAMES, PROTECTED_PATHS};

use super::list::{contains, real};

/// What is protected in a directory.
#[derive(Default)]
pub(super) struct Protected {
    pub(super) read_only: Vec<PathBuf>,
    /// Directories that contain read-only files, and could be replaced by a rename.
    pub(super) pinned: Vec<PathBuf>,
    /// Directories outside that belong to the repository of a linked worktree.
    pub(super) writable: Vec<PathBuf>,
    /// Files that do not exist, and that nobody but an attacker makes.
    pub(super) absent: Vec<PathBuf>,
}

impl Protected {
    /// Finds what is protected in a directory that may be changed. Directories below it are not searched.
    pub(super) fn find_in(&mut self, directory: &Path) {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().to_lowercase();
            if name == ".git" {
                self.find_in_repository(directory, &entry.path());
            } else if contains(PROTECTED_NAMES, &name)
                && let Some(path) = real(&entry.path())
            {
                self.read_only.push(path);
            }
        }
        for inside in PROTECTED_PATHS.split_ascii_whitespace() {
            if let Some(path) = real(&directory.join(inside)) {
                self.pinned
                    .extend(path.parent().filter(|parent| parent.starts_with(directory)).map(Path::to_owned));
                self.read_only.push(path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(top: &Path, files: &[&str]) {
        for file in files {
            let path = top.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
    }

    fn inside(top: &Path, mut paths: Vec<PathBuf>) -> Vec<String> {
        paths.sort();
        paths.iter().map(|path| path.strip_prefix(top).unwrap().display().to_string()).collect()
    }

    #[test]
    fn obeyed_files_are_read_only_and_the_rest_of_a_repository_is_not() {
        let place = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(place.path()).unwrap();
        make(
            &top,
            &[
                ".git/HEAD",
                ".git/config",
                ".git/hooks/pre-commit.sample",
                ".git/modules/a/config",
                ".git/worktrees/b/commondir",
                ".envrc",
                "Lefthook.yml",
                ".github/workflows/ci.yml",
                "src/main.rs",
                "Makefile",
            ],
        );
        let mut found = Protected::default();
        found.find_in(&top);
        assert_eq!(
            inside(&top, found.read_only),
            [
                ".envrc",
                ".git/config",
                ".git/hooks",
                ".git/modules/a/config",
                ".git/modules/a/hooks",
                ".git/worktrees/b/commondir",
                ".github/workflows",
                "Lefthook.yml"
            ]
        );
        assert_eq!(inside(&top, found.pinned), [".git", ".git/modules/a", ".github"]);
        assert_eq!(inside(&top, found.absent), [".git/commondir", ".git/modules/a/commondir"]);
        assert!(found.writable.is_empty());
    }

    #[test]
    fn a_linked_worktree_brings_its_repository_only_if_both_name_each_other() {
        let place = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(place.path()).unwrap();
        make(&top, &["repo/.git/HEAD", "repo/.git/config", "repo/.git/refs/x", "repo/.git/objects/x"]);
        make(&top, &["tree/x", "repo/.git/worktrees/tree/HEAD"]);
        let own = top.join("repo/.git/worktrees/tree");
        fs::write(top.join("tree/.git"), format!("gitdir: {}\n", own.display())).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        fs::write(own.join("gitdir"), format!("{}\n", top.join("tree/.git").display())).unwrap();
        let mut found = Protected::default();
        found.find_in(&top.join("tree"));
        assert_eq!(inside(&top, found.writable), ["repo/.git", "repo/.git/worktrees/tree"]);
        assert!(inside(&top, found.read_only).contains(&"repo/.git/config".to_owned()));
        fs::write(own.join("gitdir"), "/elsewhere/.git\n").unwrap();
        let mut forged = Protected::default();
        forged.find_in(&top.join("tree"));
        assert!(forged.writable.is_empty());
    }
}
