//! A temporary directory.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// A private directory, removed when this is dropped.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Creates a directory that only this user can open.
    pub(super) fn make() -> io::Result<Self> {
        let base = std::env::temp_dir();
        let mut number = 0_u32;
        loop {
            let path = base.join(format!("mw-doctor-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 100 => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The supervisor of a task that has ended may be about to write its last file.
        let deadline = Instant::now() + Duration::from_secs(5);
        while fs::remove_dir_all(&self.0).is_err() && self.0.exists() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
    }
}
