//! The environment and umask of a task.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use meanwhile::engine::{check_set_variables, own_environment};
use meanwhile::model::EnvVar;

use crate::error::CommandError;

/// Returns the caller's environment with the added variables.
pub(crate) fn environment(added: &[OsString]) -> Result<Vec<EnvVar>, CommandError> {
    let mut all = own_environment();
    for entry in added {
        let bytes = entry.as_bytes();
        let split = bytes.iter().position(|byte| *byte == b'=').filter(|at| *at > 0).ok_or_else(|| {
            CommandError::usage(
                format!("--env {:?} is not NAME=VALUE", entry.to_string_lossy()),
                "write it as --env NAME=VALUE",
            )
        })?;
        check_set_variables([&bytes[..split]])?;
        let var = EnvVar { name: bytes[..split].into(), value: bytes[split + 1..].into() };
        all.retain(|other| other.name != var.name);
        all.push(var);
    }
    Ok(all)
}

/// Returns the umask. It can only be read by setting it, which is safe here: the only other thread starts the supervisor,
/// which sets a umask itself.
pub(crate) fn current_umask() -> u32 {
    let mask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    rustix::process::umask(mask);
    mask.as_raw_mode()
}
