//! A git worktree for one agent. It is created before the agent starts, checked for changes at its end, and removed if
//! there are none.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use mw_model::Worktree;

/// The directory of worktrees within their repository. The project's settings apply there, and git ignores it.
const PLACE: &str = ".meanwhile/worktrees";

/// Creates a worktree of the repository that contains a directory. Returns the worktree and the corresponding directory
/// in it.
///
/// # Errors
/// Returns a text if the directory is in no repository or git fails.
pub fn make(cwd: &Path) -> Result<(Worktree, PathBuf), String> {
    let top = git(cwd, &["rev-parse", "--show-toplevel"])
        .map_err(|why| format!("{} is not in a git repository: {why}", cwd.display()))?;
    let top = PathBuf::from(top);
    let base =
        git(&top, &["rev-parse", "HEAD"]).map_err(|why| format!("the repository has no commit: {why}"))?;
    let path = free_place(&top).map_err(|error| error.to_string())?;
    let target = path.to_string_lossy();
    git(&top, &["worktree", "add", "--detach", "--quiet", &target, &base])?;
    let real = fs::canonicalize(cwd).map_err(|error| error.to_string())?;
    let below = real.strip_prefix(&top).unwrap_or(Path::new("")).to_owned();
    let inside = match path.join(&below) {
        inside if inside.is_dir() && !below.as_os_str().is_empty() => inside,
        _ => path.clone(),
    };
    let raw = |path: &Path| path.as_os_str().as_bytes().into();
    Ok((Worktree { repository: raw(&top), path: raw(&path), base }, inside))
}

/// Creates a new empty directory.
fn free_place(top: &Path) -> io::Result<PathBuf> {
    let directory = top.join(PLACE);
    fs::create_dir_all(&directory)?;
    if let Some(own) = directory.parent() {
        fs::write(own.join(".gitignore"), "*\n")?;
    }
    for number in 1.. {
        let path = directory.join(number.to_string());
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("no free name for a worktree"))
}

/// The changes in a worktree.
#[derive(Debug, PartialEq, Eq)]
pub enum Changes {
    /// There are no changes. The worktree was removed.
    None,
    /// No file differs, but there are commits that cancel each other out. The worktree was kept.
    Commits,
    /// A diff against the first commit. It is in bytes, because files may contain any encoding.
    Diff(Vec<u8>),
    /// The changes could not be determined, for this reason. The worktree was kept.
    Unknown(String),
}

/// Checks a worktree. Returns its changes as a diff, including commits and new files. An unchanged worktree is removed.
pub fn finish(worktree: &Worktree) -> Changes {
    let path = PathBuf::from(std::ffi::OsStr::from_bytes(worktree.path.as_bytes()));
    let repository = PathBuf::from(std::ffi::OsStr::from_bytes(worktree.repository.as_bytes()));
    if !path.is_dir() {
        return Changes::Unknown(format!("{} no longer exists", path.display()));
    }
    match diff(&path, &worktree.base) {
        Ok(diff) if diff.is_empty() => {
            let head = git(&path, &["rev-parse", "HEAD"]);
            if head.is_ok_and(|head| head != worktree.base) {
                return Changes::Commits;
            }
            match git(&repository, &["worktree", "remove", "--force", &path.to_string_lossy()]) {
                Ok(_) => Changes::None,
                Err(why) => Changes::Unknown(why),
            }
        }
        Ok(diff) => Changes::Diff(diff),
        Err(why) => Changes::Unknown(why),
    }
}

/// Returns all changes since a commit. A copy of the index is used, because the agent's index must not change.
fn diff(path: &Path, base: &str) -> Result<Vec<u8>, String> {
    let real = path.join(git(path, &["rev-parse", "--git-path", "index"])?);
    let copy = real.with_file_name("meanwhile-index");
    let copied = match fs::copy(&real, &copy) {
        // Nothing was ever staged.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        other => other,
    };
    copied.map_err(|error| format!("cannot copy its index: {error}"))?;
    let with_copy = |arguments: &[&str]| git_output(path, arguments, Some(&copy));
    let found = with_copy(&["add", "--all", "--intent-to-add"])
        .and_then(|_| with_copy(&["diff", "--no-color", "--no-ext-diff", "--binary", base]));
    let _ = fs::remove_file(&copy);
    found
}

/// Removes an unchanged worktree.
pub fn discard(worktree: &Worktree) {
    let repository = PathBuf::from(std::ffi::OsStr::from_bytes(worktree.repository.as_bytes()));
    let _ = git(&repository, &["worktree", "remove", "--force", &worktree.path.to_lossy()]);
}

fn git(directory: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = git_output(directory, arguments, None)?;
    Ok(String::from_utf8_lossy(&output).trim_end_matches('\n').to_owned())
}

/// Runs git and returns its output. If an index is given, git uses it.
fn git_output(directory: &Path, arguments: &[&str], index: Option<&Path>) -> Result<Vec<u8>, String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(directory).args(arguments);
    command.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").env_remove("GIT_INDEX_FILE");
    command.envs(index.map(|index| ("GIT_INDEX_FILE", index)));
    let output = command.output().map_err(|error| format!("cannot run git: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().next().unwrap_or("git failed").to_owned())
}
