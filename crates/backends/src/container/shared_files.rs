//! The files that a container and this machine share: what the command prints, and whether it was executed.

use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::PathBuf;

use mw_model::Stream;
use rustix::fs::{Mode, OFlags};

use crate::driver::Output;
use crate::error::{PlaceError, Result};

/// Where the directory is in the container.
const INSIDE: &str = "/.meanwhile";
/// Executes the command with its output in the files. It needs a shell in the image.
const WRAPPER: &str = ": >/.meanwhile/begun
command -v \"$1\" >/dev/null 2>&1 || { printf %s \"$1\" >/.meanwhile/missing; exit 127; }
exec \"$@\" >>/.meanwhile/stdout 2>>/.meanwhile/stderr";
const CHUNK: usize = 256 << 10;
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
        let mut found = false;
        for (stream, name) in [(Stream::Stdout, "stdout"), (Stream::Stderr, "stderr")] {
            let failed = || PlaceError::files("cannot read the output");
            let file = self.open(name).map_err(failed())?;
            let mut bytes = vec![0; CHUNK];
            let count = file.read_at(&mut bytes, output.offset(stream)).map_err(failed())?;
            if count > 0 {
                output.write(stream, &bytes[..count])?;
                found = true;
            }
        }
        Ok(found)
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

    /// Opens a file for reading. The container can replace it: a link could name any file of this machine, and a FIFO would block
    /// this process, so only a regular file is read.
    fn open(&self, name: &str) -> io::Result<File> {
        let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(self.directory.join(name), how, Mode::empty())?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    pub(super) fn remove(&self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

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
