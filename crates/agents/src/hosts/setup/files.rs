//! Reads and replaces files of a host.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::error::SetupError;
use crate::hosts::host::Scope;

/// Reads a file. Returns `None` if it does not exist.
pub(in crate::hosts) fn read(path: &Path) -> Result<Option<String>, SetupError> {
    match fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|error| {
            let sound = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
            let line = sound.iter().filter(|byte| **byte == b'\n').count() + 1;
            SetupError::Broken { path: path.to_owned(), line, why: "it is not UTF-8".to_owned() }
        }),
        // Writing through a dangling link would create a file at an unexpected place.
        Err(error) if error.kind() == ErrorKind::NotFound && path.symlink_metadata().is_err() => Ok(None),
        Err(error) => Err(SetupError::io(path, "read")(error)),
    }
}

/// Replaces a file, if it has not changed since it was read. If it is a link, the target is replaced.
pub(in crate::hosts) fn replace(
    path: &Path,
    before: Option<&str>,
    after: Option<&str>,
    scope: Scope,
) -> Result<(), SetupError> {
    let real = match before {
        Some(_) => fs::canonicalize(path).map_err(SetupError::io(path, "found"))?,
        None => path.to_owned(),
    };
    if before.is_some() {
        check_writable(&real)?;
    }
    let Some(after) = after else {
        unchanged(&real, before)?;
        return fs::remove_file(&real).map_err(SetupError::io(path, "removed"));
    };
    let beside = write_beside(&real, after, scope).map_err(SetupError::io(path, "written"))?;
    let done = unchanged(&real, before)
        .and_then(|()| fs::rename(&beside, &real).map_err(SetupError::io(path, "replaced")));
    if done.is_err() {
        let _ = fs::remove_file(&beside);
    }
    done
}

/// Checks whether a file may be written. A rename does not check this.
fn check_writable(path: &Path) -> Result<(), SetupError> {
    let mode = fs::metadata(path).map_err(SetupError::io(path, "read"))?.mode();
    let may = rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    if mode & 0o222 == 0 || !may {
        return Err(SetupError::ReadOnly { path: path.to_owned() });
    }
    Ok(())
}

fn unchanged(path: &Path, before: Option<&str>) -> Result<(), SetupError> {
    if read(path)?.as_deref() == before { Ok(()) } else { Err(SetupError::Changed { path: path.to_owned() }) }
}

fn write_beside(path: &Path, text: &str, scope: Scope) -> io::Result<PathBuf> {
    let (directory_mode, mode) = match scope {
        Scope::User => (0o700, 0o600),
        Scope::Project => (0o777, 0o666),
    };
    let directory = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(directory_mode).create(directory)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let beside = directory.join(format!(".{name}.meanwhile-{}", std::process::id()));
    let write = |mut file: File| {
        if let Ok(found) = fs::metadata(path) {
            file.set_permissions(Permissions::from_mode(found.mode() & 0o7777))?;
            let owner = file.metadata()?;
            if (owner.uid(), owner.gid()) != (found.uid(), found.gid()) {
                std::os::unix::fs::fchown(&file, Some(found.uid()), Some(found.gid()))?;
            }
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    let _ = fs::remove_file(&beside);
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside)?;
    match write(file) {
        Ok(()) => Ok(beside),
        Err(error) => {
            let _ = fs::remove_file(&beside);
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_since_it_was_read_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        fs::write(&path, "theirs").unwrap();
        for (before, after) in [(Some("old"), Some("new")), (None, Some("new")), (Some("old"), None)] {
            let refused = replace(&path, before, after, Scope::User);
            assert!(matches!(refused, Err(SetupError::Changed { .. })), "{before:?} {refused:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn a_new_user_file_is_private_and_a_new_project_file_is_not() {
        let dir = tempfile::tempdir().unwrap();
        for (scope, name, others) in [(Scope::User, "a/b/mine", 0), (Scope::Project, "a/c/ours", 0o044)] {
            let path = dir.path().join(name);
            replace(&path, None, Some("x"), scope).unwrap();
            let umask_allows = 0o044;
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o077 & umask_allows, others, "{name}");
        }
    }
}
