//! The local file system, for decisions about commands.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use mw_policy::Files;

use crate::disk::optional_file::is_absent;

/// Maximum length of a script whose content is judged, in bytes.
const MAX_BYTES: u64 = 64 << 10;

/// Entries that mark the root of a project.
const MARKS: [&str; 4] = [".git", ".meanwhile.toml", ".hg", ".jj"];

/// The files of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalFiles;

impl Files for LocalFiles {
    fn real(&self, absolute: &str) -> Option<String> {
        let real = match fs::canonicalize(absolute) {
            Ok(real) => real,
            Err(error) if is_absent(&error) => follow(Path::new(absolute))?,
            Err(_) => return None,
        };
        real.into_os_string().into_string().ok()
    }

    fn text(&self, absolute: &str) -> Option<String> {
        let about = fs::metadata(absolute).ok()?;
        if !about.is_file() || about.len() > MAX_BYTES {
            return None;
        }
        let mut text = String::new();
        File::open(absolute).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
        Some(text)
    }

    fn exists(&self, absolute: &str) -> bool {
        !matches!(fs::symlink_metadata(absolute), Err(error) if is_absent(&error))
    }
}

/// Resolves a path as far as it exists and keeps the rest as written. Returns `None` at a dangling link.
fn follow(path: &Path) -> Option<PathBuf> {
    let mut real = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            Component::ParentDir => {
                real.pop();
            }
            Component::Normal(name) => {
                real.push(name);
                match fs::symlink_metadata(&real) {
                    Ok(about) if about.is_symlink() => real = fs::canonicalize(&real).ok()?,
                    Ok(_) => {}
                    Err(error) if is_absent(&error) => {}
                    Err(_) => return None,
                }
            }
        }
    }
    Some(real)
}

/// Directories that never contain a project.
const SYSTEM: [&str; 10] =
    ["/etc", "/boot", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/proc", "/sys", "/private/etc"];
/// Directories that contain a project only if it has a mark.
const OFTEN_SYSTEM: [&str; 3] = ["/usr", "/var/lib", "/var/log"];

fn is_below(path: &Path, directories: &[&str]) -> bool {
    directories.iter().any(|directory| path.starts_with(directory))
}

/// Finds the project of a directory: its nearest ancestor with a repository or settings, or else the directory
/// itself.
///
/// Returns `None` for the user's home directory, its ancestors and system directories, because they belong to no
/// single project.
#[must_use]
pub fn project_of(directory: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let directory = fs::canonicalize(directory).ok()?;
    let home = home.and_then(|home| fs::canonicalize(home).ok());
    let too_high = |path: &Path| {
        path == Path::new("/")
            || is_below(path, &SYSTEM)
            || home.as_ref().is_some_and(|home| home.starts_with(path))
    };
    let marked = directory
        .ancestors()
        .take_while(|path| !too_high(path))
        .find(|path| MARKS.iter().any(|mark| path.join(mark).exists()));
    let unmarked = || (!is_below(&directory, &OFTEN_SYSTEM)).then_some(directory.as_path());
    let project = marked.or_else(unmarked)?;
    (!too_high(project)).then(|| project.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_resolved_and_missing_path_parts_are_kept_as_written() {
        let place = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(place.path()).unwrap();
        fs::create_dir(top.join("a")).unwrap();
        symlink("/etc", top.join("out")).unwrap();
        symlink("nowhere", top.join("dangling")).unwrap();
        let real = |path: &str| LocalFiles.real(&format!("{}/{path}", top.display()));
        let inside = |path: &str| Some(format!("{}/{path}", top.display()));
        assert_eq!(real("a/../a/new/file"), inside("a/new/file"));
        assert_eq!(real("out/new"), Some("/etc/new".to_owned()));
        assert_eq!(real("out/../new"), Some("/new".to_owned()));
        assert_eq!(real("dangling"), None);
        assert_eq!(real("missing/../a"), inside("a"));
    }

    #[test]
    fn only_short_regular_files_are_read_as_scripts() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("x.sh");
        fs::write(&path, "ls\n").unwrap();
        assert_eq!(LocalFiles.text(path.to_str().unwrap()).as_deref(), Some("ls\n"));
        fs::write(&path, "ls\n".repeat(40_000)).unwrap();
        assert_eq!(LocalFiles.text(path.to_str().unwrap()), None);
        assert_eq!(LocalFiles.text("/dev/zero"), None);
        assert_eq!(LocalFiles.text(place.path().to_str().unwrap()), None);
    }

    #[test]
    fn a_project_is_a_marked_ancestor_below_the_home_or_the_directory_itself() {
        let place = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(place.path()).unwrap();
        fs::create_dir_all(home.join("code/x/src")).unwrap();
        assert_eq!(project_of(&home.join("code/x/src"), Some(&home)), Some(home.join("code/x/src")));
        fs::create_dir(home.join("code/x/.git")).unwrap();
        assert_eq!(project_of(&home.join("code/x/src"), Some(&home)), Some(home.join("code/x")));
        fs::create_dir(home.join(".git")).unwrap();
        assert_eq!(project_of(&home.join("code"), Some(&home)), Some(home.join("code")));
        assert_eq!(project_of(&home, Some(&home)), None);
        assert_eq!(project_of(Path::new("/"), None), None);
        assert_eq!(project_of(Path::new("/etc"), None), None);
        assert_eq!(project_of(Path::new("/usr/bin"), None), None);
    }
}
