//! A small file system that a test can fill.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file system in memory, unmounted when this is dropped.
pub(crate) struct Disk {
    at: PathBuf,
}

impl Disk {
    /// Mounts a file system of `bytes` bytes. The error says why that is not possible; only root can mount one.
    pub(crate) fn mount(at: &Path, bytes: u64) -> Result<Self, String> {
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o"])
            .arg(format!("size={bytes},mode=0700"))
            .arg("tmpfs")
            .arg(at)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(Self { at: at.to_owned() })
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily, because a dying process may still use it.
        Command::new("umount").arg("-l").arg(&self.at).status().ok();
    }
}
