//! Files that the place and this machine share. The command there may replace them.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use mw_model::Stream;
use rustix::fs::{Mode, OFlags};

use super::Output;
use crate::error::{PlaceError, Result};

const CHUNK: usize = 256 << 10;

/// Opens a file that only this user can read, for appending.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    File::options().create(true).append(true).mode(0o600).open(path)
}

/// Opens a file for reading. A link could name any file of this machine, and a FIFO would block this process, so only a
/// regular file is read.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, how, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Copies the output in the files of a directory that is not in the log yet, up to a limit. The log begins with this many
/// bytes of each stream that are not in the files. Returns whether there was any.
pub(crate) fn copy_streams(directory: &Path, before: [u64; 2], output: &mut Output) -> Result<bool> {
    let mut found = false;
    for (stream, name) in [(Stream::Stdout, "stdout"), (Stream::Stderr, "stderr")] {
        let failed = || PlaceError::files("cannot read the output");
        let file = open_regular(&directory.join(name)).map_err(failed())?;
        let mut bytes = vec![0; CHUNK];
        let offset = output.offset(stream).saturating_sub(before[stream as usize]);
        let count = file.read_at(&mut bytes, offset).map_err(failed())?;
        if count > 0 {
            output.write(stream, &bytes[..count])?;
            found = true;
        }
    }
    Ok(found)
}
