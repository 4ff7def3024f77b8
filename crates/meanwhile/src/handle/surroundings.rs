//! Defaults from the environment of this process. No other file of the library reads the environment.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

use mw_model::EnvVar;

use crate::error::{Error, Result};
use crate::launch::program::find_program;
use crate::settings::{Executables, Settings};

impl Settings {
    /// Returns the settings of a program that only chooses the home.
    ///
    /// `mw` and `mw-supervisor` are looked for next to this program, in the directory above (where cargo puts the
    /// executables for examples and tests), and on the `PATH`. Everything else has its default: **no configuration file is
    /// read**. The user's settings for the queue, limits, redaction, hooks and traces do not apply to tasks that are
    /// started with these settings. The user's retention settings do apply: `mw settle`, which removes old tasks, reads
    /// them.
    ///
    /// # Errors
    /// When an executable is not found.
    pub fn at(home: impl Into<PathBuf>) -> Result<Self> {
        let home = std::path::absolute(home.into()).map_err(Error::io("cannot use the home directory"))?;
        let programs = Executables::of_home(&beside("mw")?, beside("mw-supervisor")?, &home);
        Ok(Self::new(home, programs))
    }
}

/// Returns the default directory of the home.
pub(super) fn default_home() -> Result<PathBuf> {
    home_directory(None)
        .ok_or_else(|| Error::invalid("no home directory for tasks", "set HOME or MEANWHILE_HOME"))
}

/// Returns the directory of the home, if the environment says where it is. `profile` is the directory that a profile
/// has below the user's directory.
#[must_use]
pub fn home_directory(profile: Option<&str>) -> Option<PathBuf> {
    let directory = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    directory("MEANWHILE_HOME")
        .or_else(|| Some(directory("HOME")?.join(profile?)))
        .or_else(|| Some(directory("XDG_STATE_HOME")?.join("meanwhile")))
        .or_else(|| Some(directory("HOME")?.join(".local/state/meanwhile")))
}

/// Returns the home directory of the user.
pub(super) fn user_home() -> Option<PathBuf> {
    env::var_os("HOME").filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Finds one of the executables of meanwhile.
fn beside(name: &str) -> Result<PathBuf> {
    let own = env::current_exe().unwrap_or_default();
    let near = own.ancestors().skip(1).take(2).map(|directory| directory.join(name));
    let on_path = || find_program(name, env::var_os("PATH").as_deref(), Path::new("/")).ok();
    near.into_iter().find(|file| file.is_file()).or_else(on_path).ok_or_else(|| {
        let message = format!("{name} was not found next to this program or on the PATH");
        Error::invalid(message, "install it, or set Settings::executables")
    })
}

/// Returns the environment of this process.
pub fn environment() -> Vec<EnvVar> {
    env::vars_os()
        .map(|(name, value)| EnvVar { name: name.as_bytes().into(), value: value.as_bytes().into() })
        .collect()
}

/// Returns the working directory of this process.
pub(super) fn directory() -> Result<PathBuf> {
    env::current_dir().map_err(Error::io("cannot use the current directory"))
}

/// Returns the umask of this process. The system call for this also sets the mask, for all threads, so it is
/// read from `/proc` instead.
pub(super) fn umask() -> u32 {
    const USUAL: u32 = 0o022;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    mask.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(USUAL)
}
