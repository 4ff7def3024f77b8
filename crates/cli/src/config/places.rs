//! Paths of the home and the settings files.

use std::env;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::file::SettingsFile;
use super::source::shown;
use crate::error::CommandError;

/// The settings file of a project.
pub(super) const PROJECT_FILE: &str = ".meanwhile.toml";
/// Maximum size of a project file. The user did not choose this file, so it may be arbitrary.
const MAX_BYTES: u64 = 1 << 20;

fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Returns the path of the user file and its content, if it exists. The file that `MEANWHILE_CONFIG` names must exist.
pub(super) fn user_file() -> (Option<PathBuf>, Result<Option<SettingsFile>, CommandError>) {
    if let Some(path) = variable("MEANWHILE_CONFIG") {
        let bytes =
            fs::read(&path).map_err(|error| unreadable(&path, &error, "it is set by MEANWHILE_CONFIG"));
        let file = bytes.and_then(|bytes| SettingsFile::new(path.clone(), bytes));
        return (Some(path), file.map(Some));
    }
    let Some(directory) = variable("XDG_CONFIG_HOME").or_else(|| Some(variable("HOME")?.join(".config")))
    else {
        return (None, Ok(None));
    };
    let path = directory.join("meanwhile/config.toml");
    let file = match fs::read(&path) {
        Ok(bytes) => SettingsFile::new(path.clone(), bytes).map(Some),
        Err(error) if is_absent(&path, &error) => Ok(None),
        Err(error) => Err(unreadable(&path, &error, "set MEANWHILE_CONFIG to use another file")),
    };
    (Some(path), file)
}

/// Looks for a project's settings in a directory and those above it, up to the user's own.
///
/// A command that runs inside the home, as `mw settle` does, belongs to no project.
pub(super) fn project_file(directory: &Path, home: &Path) -> Result<Option<SettingsFile>, CommandError> {
    if !home.as_os_str().is_empty() && directory.starts_with(home) {
        return Ok(None);
    }
    let top = variable("HOME");
    for directory in directory.ancestors() {
        if let Some(file) = open_project_file(&directory.join(PROJECT_FILE))? {
            return Ok(Some(file));
        }
        if Some(directory) == top.as_deref() {
            break;
        }
    }
    Ok(None)
}

/// Returns the text of a file that belongs to a project, if it exists and may be used.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn project_text(path: &Path) -> Result<Option<String>, CommandError> {
    Ok(open_project_file(path)?.map(|file| file.text))
}

/// Reads a project file, if it exists and may be used.
fn open_project_file(path: &Path) -> Result<Option<SettingsFile>, CommandError> {
    // Nonblocking, because a named pipe would wait for a writer.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from);
    let read = match opened {
        Err(error) if is_absent(path, &error) => return Ok(None),
        opened => opened.and_then(|file| read_project_file(path, file.into())),
    };
    match read {
        Ok(Some(bytes)) => SettingsFile::new(path.to_owned(), bytes).map(Some),
        Ok(None) => Ok(None),
        Err(error) => Err(unreadable(path, &error, "it applies to everything below its directory")),
    }
}

fn read_project_file(path: &Path, mut file: File) -> io::Result<Option<Vec<u8>>> {
    let found = file.metadata()?;
    if is_planted(path, found.uid())? {
        return Ok(None);
    }
    if !found.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    if found.len() > MAX_BYTES {
        return Err(io::Error::other(format!("larger than {MAX_BYTES} bytes")));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Returns whether a file is in a directory that everyone can write, such as `/tmp`, and is neither ours nor root's.
fn is_planted(path: &Path, owner: u32) -> io::Result<bool> {
    if owner == 0 || owner == rustix::process::geteuid().as_raw() {
        return Ok(false);
    }
    let directory = path.parent().unwrap_or(path);
    Ok(fs::metadata(directory)?.mode() & 0o002 != 0)
}

/// Returns whether an error means that the file does not exist, as far as we can see.
fn is_absent(path: &Path, error: &io::Error) -> bool {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => true,
        ErrorKind::PermissionDenied => fs::symlink_metadata(path).is_err(),
        _ => false,
    }
}

fn unreadable(path: &Path, error: &io::Error, hint: &str) -> CommandError {
    let shown = shown(&path.to_string_lossy());
    CommandError::usage(format!("cannot read {shown}: {error}"), format!("correct or remove it; {hint}"))
}
