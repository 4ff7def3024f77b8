//! Checks whether tasks can run at a place now.

use mw_model::{BackendKind, BackendPlace};

use crate::{container, slurm, ssh};

/// Checks whether tasks can run at a place now. An error says what is missing.
///
/// # Errors
/// When the place cannot be reached, or refuses tasks.
pub fn probe(place: &BackendPlace) -> Result<String, String> {
    match &place.kind {
        BackendKind::Ssh(ssh) => ssh::probe(ssh).map(|()| format!("shell on {}", ssh.host)),
        BackendKind::Container(container) => container::probe(container),
        BackendKind::Slurm(slurm) => slurm::probe(slurm),
    }
    .map_err(|error| error.to_string())
}
