//! Replaces small files atomically: readers see the old text or the new text.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, renameat, unlinkat};

/// Opens a directory. A link is refused.
pub(crate) fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(openat(CWD, path, flags, Mode::empty())?)
}

/// Opens a file below a directory for writing, and creates it if it does not exist. A link is refused.
pub(crate) fn open_file(directory: &OwnedFd, name: &str, how: OFlags) -> io::Result<File> {
    let flags = how | OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(directory, name, flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// Replaces a file in a directory. A crash may leave a hidden file next to it.
pub(crate) fn replace_file(directory: &OwnedFd, name: &str, text: &[u8]) -> io::Result<()> {
    /// Two threads of one process may write the same file.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let beside = format!(".{name}.{}-{number}", std::process::id());
    let written = open_file(directory, &beside, OFlags::TRUNC)
        .and_then(|mut file| file.write_all(text))
        .and_then(|()| Ok(renameat(directory, &beside, directory, name)?));
    written.inspect_err(|_| _ = unlinkat(directory, &beside, AtFlags::empty()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn threads_that_replace_one_file_do_not_mix_their_texts() {
        let dir = tempfile::tempdir().unwrap();
        let directory = open_directory(dir.path()).unwrap();
        let write = |letter: &str| {
            let text = letter.repeat(4000);
            (0..300).for_each(|_| replace_file(&directory, "spec.json", text.as_bytes()).unwrap());
        };
        std::thread::scope(|scope| {
            ["a", "b"].into_iter().for_each(|letter| _ = scope.spawn(move || write(letter)));
            for _ in 0..300 {
                let text = fs::read_to_string(dir.path().join("spec.json")).unwrap_or_default();
                assert!(text.is_empty() || text == text[..1].repeat(4000), "{}", text.len());
            }
        });
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left next to it");
    }
}
