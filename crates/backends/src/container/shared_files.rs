//! The files that a container and this machine share: what the command prints, and whether it was executed.

use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::driver::{Output, copy_streams, open_regular};
use crate::error::{PlaceError, Result};

/// Where the directory is in the container.
const INSIDE: &str = "/.meanwhile";
/// Executes the command with its output in the files. It needs a shell in the image.
const WRAPPER: &str = ": >/.meanwhile/begun
command -v \"$1\" >/dev/null 2>&1 || { printf %s \"$1\" >/.meanwhile/missing; exit 127; }
exec \"$@\" >>/.meanwhile/stdout 2>>/.meanwhile/stderr";
/// How much of the name of a missing program is shown.
const MAX_NAME: u64 = 4096;

/// The files of one run, in the task's directory.
pub(super) struct SharedFiles {
    directory: PathBuf,
}

impl SharedFiles {
    pub(super) fn of(run: u32) -> Self {
        Self { directory: format!("place-{run}").into() }
    }

    /// Makes the files, unless they exist. The user in the container may be another one; on this machine only the owner
    /// can enter the task's directory.
    pub(super) fn make(run: u32) -> Result<Self> {
        let failed = || PlaceError::files("cannot make the files for the output");
        let files = Self::of(run);
        fs::create_dir_all(&files.directory).map_err(failed())?;
        fs::set_permissions(&files.directory, Permissions::from_mode(0o777)).map_err(failed())?;
        for name in ["stdout", "stderr"] {
            let path = files.directory.join(name);
            File::options().create(true).append(true).open(&path).map_err(failed())?;
            fs::set_permissions(&path, Permissions::from_mode(0o666)).map_err(failed())?;
        }
        Ok(files)
    }

    /// Returns the mount that the container needs.
    pub(super) fn mount(&self) -> String {
        let path = fs::canonicalize(&self.directory).unwrap_or_else(|_| self.directory.clone());
        format!("{}:{INSIDE}", path.to_string_lossy())
    }

    /// Returns what is executed in the container, before the words of the command.
    pub(super) const fn wrapper() -> [&'static str; 4] {
        ["/bin/sh", "-c", WRAPPER, "sh"]
    }

    /// Copies the output that is not in the log yet, up to a limit. Returns whether there was any.
    pub(super) fn copy(&self, output: &mut Output) -> Result<bool> {
        copy_streams(&self.directory, [0, 0], output)
    }

    /// Returns why the command was not executed, if the container has ended without that.
    pub(super) fn why_not_started(&self) -> Option<String> {
        if !self.directory.join("begun").exists() {
            return Some("the image has no /bin/sh, which keeps the output of the command".to_owned());
        }
        let mut missing = Vec::new();
        self.open("missing").ok()?.take(MAX_NAME).read_to_end(&mut missing).ok()?;
        Some(format!("there is no program {} in the image", String::from_utf8_lossy(&missing)))
    }

    fn open(&self, name: &str) -> io::Result<File> {
        open_regular(&self.directory.join(name))
    }

    pub(super) fn remove(&self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::Mode;

    use super::*;

    #[test]
    fn a_link_or_a_fifo_that_the_container_made_is_not_read() {
        let place = tempfile::tempdir().unwrap();
        let files = SharedFiles { directory: place.path().to_owned() };
        let at = |name: &str| place.path().join(name);
        fs::write(at("secret"), "of this machine").unwrap();
        fs::write(at("begun"), "").unwrap();
        symlink(at("secret"), at("stdout")).unwrap();
        symlink(at("secret"), at("missing")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("stderr"), Mode::RUSR | Mode::WUSR).unwrap();
        assert!(files.open("stdout").is_err());
        assert!(files.open("stderr").is_err());
        assert_eq!(files.why_not_started(), None);
        fs::remove_file(at("missing")).unwrap();
        fs::write(at("missing"), "nothing").unwrap();
        assert!(files.why_not_started().is_some_and(|why| why.contains("nothing")));
    }
}
