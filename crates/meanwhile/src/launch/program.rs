//! Finds the executable of a program name.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use mw_model::wire::RefusalCode;
use mw_model::{CommandSpec, RawText};
use rustix::fs::{Access, access};

use crate::error::{Error, Result};

/// The `PATH` that applies when an environment has none.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Why no program was found for a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoProgram {
    /// There is no such file.
    Missing,
    /// The file cannot be executed.
    NotExecutable(PathBuf),
}

/// Finds a program as a shell would: a name with a slash is a path, other names are looked up. Relative paths start at
/// `cwd`.
///
/// # Errors
/// When there is no such file, or none that can be executed.
pub fn find_program(
    name: impl AsRef<OsStr>,
    path: Option<&OsStr>,
    cwd: &Path,
) -> std::result::Result<PathBuf, NoProgram> {
    let name = name.as_ref();
    let is_path = name.as_bytes().contains(&b'/');
    let places = if is_path { OsStr::new("") } else { path.unwrap_or(OsStr::new(USUAL_PATH)) };
    let mut unfit = None;
    for place in places.as_bytes().split(|byte| *byte == b':') {
        let file = cwd.join(OsStr::from_bytes(place)).join(name);
        let Ok(found) = fs::metadata(&file) else { continue };
        if found.is_file() && access(&file, Access::EXEC_OK).is_ok() {
            return Ok(file);
        }
        unfit.get_or_insert(file);
    }
    Err(unfit.map_or(NoProgram::Missing, NoProgram::NotExecutable))
}

/// Returns the file to execute for a command, or the error that a start reports.
pub(crate) fn program_of(command: &CommandSpec, path: Option<&[u8]>, cwd: &RawText) -> Result<RawText> {
    let name = &command.argv()[0];
    let cwd = Path::new(OsStr::from_bytes(cwd.as_bytes()));
    match find_program(OsStr::from_bytes(name.as_bytes()), path.map(OsStr::from_bytes), cwd) {
        Ok(file) => Ok(file.as_os_str().as_bytes().into()),
        Err(NoProgram::NotExecutable(file)) => Err(Error::Spawn {
            code: RefusalCode::NotExecutable,
            message: format!("{} is not an executable file", file.display()),
        }),
        Err(NoProgram::Missing) => Err(Error::Spawn {
            code: RefusalCode::NotFound,
            message: format!("program {:?} was not found", name.to_lossy()),
        }),
    }
}
