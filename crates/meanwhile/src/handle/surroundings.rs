//! What a program finds around it: the one place of the library that reads the environment, for those who ask for the
//! defaults.

use std::env;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use mw_model::{EnvVar, RawText};

use crate::error::{Error, Result};
use crate::launch::program::find_program;
use crate::settings::{Programs, Settings};

/// Returns the settings that a program has that says nothing else.
pub(super) fn default_settings() -> Result<Settings> {
    let home = default_home()?;
    let word = |path: &Path| RawText::from(path.as_os_str().as_bytes());
    let settle = vec![word(&beside("mw")?), "settle".into(), "--home".into(), word(&home)];
    let programs = Programs { supervisor: beside("mw-supervisor")?, settle, starter_exits: false };
    Ok(Settings::new(home, programs))
}

fn default_home() -> Result<PathBuf> {
    let directory = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    directory("MEANWHILE_HOME")
        .or_else(|| directory("XDG_STATE_HOME").map(|state| state.join("meanwhile")))
        .or_else(|| directory("HOME").map(|home| home.join(".local/state/meanwhile")))
        .ok_or_else(|| Error::invalid("no home directory for tasks", "set HOME or MEANWHILE_HOME"))
}

/// Finds an executable of ours beside this program, in the directory above (where cargo puts examples and tests), or on
/// the `PATH`.
fn beside(name: &str) -> Result<PathBuf> {
    let own = env::current_exe().unwrap_or_default();
    let near = own.ancestors().skip(1).take(2).map(|directory| directory.join(name));
    let on_path = || find_program(name, env::var_os("PATH").as_deref(), Path::new("/")).ok();
    near.into_iter().find(|file| file.is_file()).or_else(on_path).ok_or_else(|| {
        let message = format!("{name} was not found next to this program or on the PATH");
        Error::invalid(message, "install it, or set Settings::programs")
    })
}

/// Returns the environment of this process.
pub(super) fn environment() -> Vec<EnvVar> {
    env::vars_os()
        .map(|(name, value)| EnvVar { name: name.as_bytes().into(), value: value.as_bytes().into() })
        .collect()
}

/// Returns where this process works.
pub(super) fn directory() -> Result<PathBuf> {
    env::current_dir().map_err(Error::io("cannot use the current directory"))
}
