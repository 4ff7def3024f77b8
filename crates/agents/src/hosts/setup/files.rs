//! Reads and replaces files of a host.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::error::{FailedAction, SetupError};
use crate::hosts::host::SetupScope;
use crate::new_file::{Access, NewFile};

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
        Err(error) => Err(SetupError::io(path, FailedAction::Read)(error)),
    }
}

/// Replaces a file, if it has not changed since it was read. If it is a link, the target is replaced.
pub(in crate::hosts) fn replace(
    path: &Path,
    before: Option<&str>,
    after: Option<&str>,
    scope: SetupScope,
) -> Result<(), SetupError> {
    let real = match before {
        Some(_) => fs::canonicalize(path).map_err(SetupError::io(path, FailedAction::Find))?,
        None => path.to_owned(),
    };
    if before.is_some() {
        check_writable(&real)?;
    }
    let Some(after) = after else {
        unchanged(&real, before)?;
        return fs::remove_file(&real).map_err(SetupError::io(path, FailedAction::Remove));
    };
    let access = match scope {
        SetupScope::User => Access::Private,
        SetupScope::Project => Access::Shared,
    };
    let new = NewFile::write(&real, after, access).map_err(SetupError::io(path, FailedAction::Write))?;
    unchanged(&real, before)?;
    new.put_in_place().map_err(SetupError::io(path, FailedAction::Replace))
}

/// Checks whether a file may be written. A rename does not check this.
fn check_writable(path: &Path) -> Result<(), SetupError> {
    let mode = fs::metadata(path).map_err(SetupError::io(path, FailedAction::Read))?.mode();
    let may = rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    if mode & 0o222 == 0 || !may {
        return Err(SetupError::ReadOnly { path: path.to_owned() });
    }
    Ok(())
}

fn unchanged(path: &Path, before: Option<&str>) -> Result<(), SetupError> {
    if read(path)?.as_deref() == before { Ok(()) } else { Err(SetupError::Changed { path: path.to_owned() }) }
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
            let refused = replace(&path, before, after, SetupScope::User);
            assert!(matches!(refused, Err(SetupError::Changed { .. })), "{before:?} {refused:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn a_new_user_file_is_private_and_a_new_project_file_is_not() {
        let dir = tempfile::tempdir().unwrap();
        for (scope, name, others) in
            [(SetupScope::User, "a/b/mine", 0), (SetupScope::Project, "a/c/ours", 0o044)]
        {
            let path = dir.path().join(name);
            replace(&path, None, Some("x"), scope).unwrap();
            let umask_allows = 0o044;
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o077 & umask_allows, others, "{name}");
        }
    }
}
