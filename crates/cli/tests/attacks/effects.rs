//! Effects of attacks, and how each is observed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde::Deserialize;

use crate::world::{SECRET, World};

/// What an attack tries to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Effect {
    Outside,
    Protected,
    Secret,
    Network,
    Setuid,
    Kills,
    Deletes,
    Approves,
    Session,
}

/// Names of files that other programs obey, and that the attacks try to change.
const OBEYED: [&str; 29] = [
    ".env",
    ".envrc",
    ".vscode",
    ".npmrc",
    ".pre-commit-config.yaml",
    ".devcontainer",
    ".githooks",
    "lefthook.yml",
    ".yarnrc.yml",
    ".yarnrc",
    ".mvn",
    ".cargo",
    ".husky",
    ".gitmodules",
    ".gitattributes",
    ".mcp.json",
    ".claude",
    ".cursor",
    ".meanwhile.toml",
    "mise.toml",
    ".tool-versions",
    ".gitlab-ci.yml",
    ".idea",
    ".lldbinit",
    ".gdbinit",
    ".exrc",
    "workflows",
    "actions",
    "rust-toolchain",
];

/// A state of the files that an effect is about: their content and mode by path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct State(BTreeMap<String, (u32, Vec<u8>)>);

impl State {
    pub(crate) fn of(effect: Effect, world: &World) -> Self {
        let mut files = BTreeMap::new();
        match effect {
            Effect::Outside => {
                add(&world.outside(), "", &mut files, &|_| true);
                // Nothing else in the home directory either, apart from what programs keep there.
                add(&world.home(), "", &mut files, &|path| {
                    let first = path.split('/').nth(1).unwrap_or_default();
                    !matches!(
                        first,
                        "project"
                            | "outside"
                            | ".cache"
                            | ".config"
                            | ".npm"
                            | ".local"
                            | ".python_history"
                            | ".bash_history"
                            | ".viminfo"
                    )
                });
            }
            Effect::Protected => {
                let project = world.project();
                add(&project, "", &mut files, &is_obeyed);
                files
                    .insert("/.git".to_owned(), (u32::from(project.join(".git/HEAD").is_file()), Vec::new()));
            }
            Effect::Deletes => {
                let text = fs::read(world.project().join("src/precious.txt")).unwrap_or_default();
                files.insert("precious".to_owned(), (0, text));
            }
            Effect::Setuid => {
                add(&world.home(), "", &mut files, &|_| true);
                files.retain(|_, (mode, _)| *mode & 0o6000 != 0);
            }
            Effect::Secret | Effect::Network | Effect::Kills | Effect::Approves | Effect::Session => {}
        }
        Self(files)
    }

    /// Returns the state of all files of the project. git may refresh its index at any time.
    pub(crate) fn of_project(world: &World) -> Self {
        let mut files = BTreeMap::new();
        add(&world.project(), "", &mut files, &|path| !path.starts_with("/.git/index"));
        Self(files)
    }

    /// Returns the first path that differs.
    pub(crate) fn difference(&self, later: &Self) -> Option<String> {
        let changed = |path: &&String| self.0.get(*path) != later.0.get(*path);
        self.0.keys().chain(later.0.keys()).find(changed).cloned()
    }
}

fn is_obeyed(path: &str) -> bool {
    let lower = path.to_lowercase();
    let parts: Vec<&str> = lower.split('/').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [] => true,
        // Directories on the way to obeyed files.
        [".git", "hooks" | "config" | "config.worktree", ..] | [".git", "info", "attributes"] => true,
        [".git" | ".github", ..] if parts.len() == 1 => false,
        [".git", ..] => false,
        [".github", "workflows" | "actions", ..] => true,
        // A copy of the obeyed names elsewhere is not obeyed.
        [first, ..] => OBEYED.contains(first) && !matches!(*first, "workflows" | "actions"),
    }
}

/// Adds files below a directory whose path, from there, is wanted. Other directories are searched, too.
fn add(
    top: &Path,
    inside: &str,
    files: &mut BTreeMap<String, (u32, Vec<u8>)>,
    wanted: &dyn Fn(&str) -> bool,
) {
    let here = top.join(inside.trim_start_matches('/'));
    for entry in fs::read_dir(&here).into_iter().flatten().flatten() {
        let path = format!("{inside}/{}", entry.file_name().to_string_lossy());
        let Ok(about) = fs::symlink_metadata(entry.path()) else { continue };
        let mode = about.permissions().mode();
        let keep = wanted(&path);
        if about.is_dir() {
            if keep && inside_matters(&path) {
                files.insert(path.clone(), (mode, Vec::new()));
            }
            let passes = keep || path == "/.git" || path == "/.github" || path == "/.git/info";
            if passes {
                add(top, &path, files, wanted);
            }
        } else if keep {
            let text = if about.is_symlink() {
                fs::read_link(entry.path()).map(|to| to.to_string_lossy().into_owned().into_bytes())
            } else if about.is_file() {
                fs::read(entry.path())
            } else {
                Ok(Vec::new())
            };
            files.insert(path, (mode, text.unwrap_or_default()));
        }
    }
}

/// An empty directory such as `.vscode` is not obeyed.
fn inside_matters(path: &str) -> bool {
    !OBEYED.contains(&path.trim_start_matches('/'))
}

/// Returns whether an output shows the secret, also one character in each line or column.
pub(crate) fn shows_secret(output: &str) -> bool {
    let plain: String = output.chars().filter(|c| !c.is_whitespace()).collect();
    plain.contains(SECRET) || plain.contains(&SECRET.chars().rev().collect::<String>())
}
