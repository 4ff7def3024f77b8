//! Writes a file next to the one that it then replaces, so that readers see the old text or the new text.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

/// The permissions of what is created, before the umask.
#[derive(Clone, Copy)]
pub(crate) enum Access {
    /// Only for this user.
    Private,
    /// Subject to the umask.
    Shared,
}

/// A complete file, not yet renamed into place; removed on drop otherwise.
pub(crate) struct NewFile<'a> {
    path: &'a Path,
    beside: PathBuf,
}

impl<'a> NewFile<'a> {
    /// Writes the text next to `path`, with the mode and owner of the file that it will replace.
    pub(crate) fn write(path: &'a Path, text: &str, access: Access) -> io::Result<Self> {
        let (directory_mode, mode) = match access {
            Access::Private => (0o700, 0o600),
            Access::Shared => (0o777, 0o666),
        };
        let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        DirBuilder::new().recursive(true).mode(directory_mode).create(directory)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let beside = directory.join(format!(".{name}.meanwhile-{}", std::process::id()));
        let _ = fs::remove_file(&beside);
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside)?;
        let new = Self { path, beside };
        new.fill(file, text)?;
        Ok(new)
    }

    fn fill(&self, mut file: File, text: &str) -> io::Result<()> {
        match fs::metadata(self.path) {
            Ok(found) if !found.is_file() => return Err(io::Error::other("not a regular file")),
            Ok(found) => {
                file.set_permissions(Permissions::from_mode(found.mode() & 0o7777))?;
                let own = file.metadata()?;
                if (own.uid(), own.gid()) != (found.uid(), found.gid()) {
                    fchown(&file, Some(found.uid()), Some(found.gid()))?;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    /// Puts the file in its place.
    pub(crate) fn put_in_place(self) -> io::Result<()> {
        fs::rename(&self.beside, self.path)
    }
}

impl Drop for NewFile<'_> {
    fn drop(&mut self) {
        // After a rename there is nothing to remove.
        let _ = fs::remove_file(&self.beside);
    }
}
