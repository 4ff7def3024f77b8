//! What git obeys in a repository, and in those of its submodules and worktrees.

use std::fs;
use std::path::{Path, PathBuf};

use super::list::real;
use super::protected::Protected;

/// Files of a repository that make git run programs. The rest of `.git` changes with every commit.
const OF_REPOSITORY: [&str; 4] = ["hooks", "config", "config.worktree", "info/attributes"];

/// Files of a linked worktree in its repository that lead git elsewhere.
const OF_WORKTREE: [&str; 3] = ["commondir", "gitdir", "config.worktree"];

/// How deep repositories of submodules are searched for. Their directories have the names of the submodules, which may have slashes.
const MOST_NESTED: usize = 6;

/// How many configurations may include one another.
const MOST_INCLUDED: usize = 4;

/// What separates the words of a command in a configuration.
const SEPARATORS: [char; 9] = [' ', '\t', '"', '\'', ';', '|', '&', '!', '='];

impl Protected {
    pub(super) fn find_in_repository(&mut self, project: &Path, git: &Path) {
        let Some(git) = real(git) else { return };
        // A link that leaves the project would make what it names changeable.
        if !git.starts_with(project) {
            return;
        }
        if git.is_dir() {
            return self.protect_repository(git, project, MOST_NESTED);
        }
        // A linked worktree, or a submodule.
        if let Some((own, common)) = linked_repository(project, &git) {
            self.writable.extend([own.clone(), common.clone()]);
            self.protect_repository(common, project, MOST_NESTED);
            self.read_only.extend(OF_WORKTREE.iter().filter_map(|name| real(&own.join(name))));
        }
        self.read_only.push(git);
    }

    /// Protects a repository whose files are in the directory `top`.
    fn protect_repository(&mut self, git: PathBuf, top: &Path, nested: usize) {
        let config = read(&git.join("config"));
        let per_worktree = config.to_lowercase().contains("worktreeconfig");
        if is_repository(&git) {
            // What does not exist could be made, and an empty directory or file is as good as none.
            let _ = fs::create_dir(git.join("hooks"));
            if per_worktree {
                let _ = fs::File::create_new(git.join("config.worktree"));
            }
        }
        // It names another directory with configuration and hooks. An empty one makes git fail.
        let elsewhere = git.join("commondir");
        match real(&elsewhere) {
            Some(it) => self.read_only.push(it),
            None => self.absent.push(elsewhere),
        }
        for tree in fs::read_dir(git.join("worktrees")).into_iter().flatten().flatten() {
            let tree = tree.path();
            if per_worktree {
                let _ = fs::File::create_new(tree.join("config.worktree"));
            }
            self.read_only.extend(OF_WORKTREE.iter().filter_map(|name| real(&tree.join(name))));
            self.protect_submodules(&tree.join("modules"), top, nested);
        }
        self.read_only.extend(OF_REPOSITORY.iter().filter_map(|name| real(&git.join(name))));
        self.protect_named(&config, &git, top, MOST_INCLUDED);
        self.protect_named(&read(&git.join("config.worktree")), &git, top, MOST_INCLUDED);
        self.protect_submodules(&git.join("modules"), top, nested);
        self.pinned.push(git);
    }

    fn protect_submodules(&mut self, directory: &Path, top: &Path, nested: usize) {
        if nested == 0 {
            return;
        }
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if !is_repository(&path) {
                self.protect_submodules(&path, top, nested - 1);
                continue;
            }
            let files = settings(&read(&path.join("config")))
                .find(|(key, _)| key == "worktree")
                .and_then(|(_, files)| real(&path.join(files)))
                .filter(|files| files.starts_with(top) && files != top);
            // It leads git from these files to the repository.
            self.read_only.extend(files.as_ref().and_then(|files| real(&files.join(".git"))));
            self.protect_repository(path, files.as_deref().unwrap_or(top), nested - 1);
        }
    }

    /// Protects what a configuration, which is in the directory `at`, names below `top`: files, which can be programs or further
    /// configurations, and the directory of hooks.
    fn protect_named(&mut self, config: &str, at: &Path, top: &Path, included: usize) {
        for (key, value) in settings(config) {
            let inside = |path: PathBuf| real(&path).filter(|path| path.starts_with(top) && path != top);
            let named = |text: &str| [at, top].map(|base| inside(base.join(text))).into_iter().flatten();
            if key == "hookspath" {
                self.read_only.extend(named(&value).filter(|path| !at.starts_with(path)));
                continue;
            }
            let words = value.split(SEPARATORS).filter(|word| !word.is_empty()).chain([value.as_str()]);
            let files: Vec<PathBuf> = words.flat_map(named).filter(|path| path.is_file()).collect();
            if key == "path" && included > 0 {
                for file in &files {
                    self.protect_named(&read(file), file.parent().unwrap_or(top), top, included - 1);
                }
            }
            self.read_only.extend(files);
        }
    }
}

/// Returns whether a directory is a repository, also if a command has removed what it could to have it taken for something else.
fn is_repository(directory: &Path) -> bool {
    ["HEAD", "config"].iter().any(|name| directory.join(name).exists())
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

/// Returns the keys of a configuration, in lower case and without their sections, with their values.
fn settings(config: &str) -> impl Iterator<Item = (String, String)> {
    config.lines().filter_map(|line| {
        // A key may follow its section on the same line.
        let line = line.trim_start();
        let line = if line.starts_with('[') { line.split_once(']')?.1 } else { line };
        let (key, value) = line.split_once('=')?;
        let value = value.trim().trim_matches('"');
        Some((key.trim().to_lowercase(), value.to_owned()))
    })
}

/// Returns the directory of a linked worktree and that of its repository, if both name each other.
fn linked_repository(project: &Path, file: &Path) -> Option<(PathBuf, PathBuf)> {
    let text = fs::read_to_string(file).ok()?;
    let own = real(&project.join(text.strip_prefix("gitdir:")?.trim()))?;
    let back = fs::read_to_string(own.join("gitdir")).ok()?;
    if real(Path::new(back.trim()))? != *file {
        return None;
    }
    let common = fs::read_to_string(own.join("commondir")).ok()?;
    let common = real(&own.join(common.trim()))?;
    let is_repository = ["HEAD", "objects", "refs"].iter().all(|name| common.join(name).exists());
    (is_repository && own.starts_with(&common)).then_some((own, common))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_a_configuration_names_are_protected_and_others_are_not() {
        let place = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(place.path()).unwrap();
        for file in [
            "tools/hooks/pre-commit",
            "more/own.config",
            "tools/merge.sh",
            "src/main.rs",
            "Makefile",
            "more/deep.config",
        ] {
            fs::create_dir_all(top.join(file).parent().unwrap()).unwrap();
            fs::write(top.join(file), "").unwrap();
        }
        fs::create_dir(top.join(".git")).unwrap();
        fs::write(top.join("more/own.config"), "[include] path = deep.config\n").unwrap();
        let config = "[core]\n\thooksPath = \"tools/hooks\"\n\tworktree = ..\n[include]\n\tpath = ../more/own.config\n\
            [merge \"x\"]\n\tdriver = sh './tools/merge.sh' %O %A\n[remote \"origin\"]\n\turl = src\n[user]\n\tname = A Person\n";
        fs::write(top.join(".git/config"), config).unwrap();
        let mut found = Protected::default();
        found.find_in_repository(&top, &top.join(".git"));
        found.read_only.sort();
        found.read_only.dedup();
        let names: Vec<_> = found.read_only.iter().map(|path| path.strip_prefix(&top).unwrap()).collect();
        let expected = [
            ".git/config",
            ".git/hooks",
            "more/deep.config",
            "more/own.config",
            "tools/hooks",
            "tools/merge.sh",
        ];
        assert_eq!(names, expected.map(Path::new));
    }
}
