//! `fs/*`: reads and writes files for an agent, only inside its project.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use meanwhile::engine::LocalFiles;
use mw_policy::Files;

/// Maximum number of bytes of a file that are read for an agent.
const LARGEST: u64 = 64 << 20;

/// Resolves a path, with links and `..`, if it leads into the root.
pub(crate) fn within(root: &Path, path: &Path) -> io::Result<PathBuf> {
    if !path.is_absolute() {
        return Err(io::Error::other(format!("{} is not absolute", path.display())));
    }
    let real = path.to_str().and_then(|path| LocalFiles.real(path)).map(PathBuf::from);
    real.filter(|real| real.starts_with(root)).ok_or_else(|| {
        let (path, root) = (path.display(), root.display());
        io::Error::other(format!("{path} is outside {root}, the directory of this agent"))
    })
}

/// Reads a text file, or some lines of it.
pub(crate) fn read(root: &Path, path: &Path, line: Option<u32>, limit: Option<u32>) -> io::Result<String> {
    let path = within(root, path)?;
    if fs::metadata(&path)?.len() > LARGEST {
        return Err(io::Error::other(format!("{} has more than {LARGEST} bytes", path.display())));
    }
    let text = fs::read_to_string(&path)?;
    if line.is_none() && limit.is_none() {
        return Ok(text);
    }
    let skip = line.unwrap_or(1).saturating_sub(1) as usize;
    let most = limit.map_or(usize::MAX, |limit| limit as usize);
    Ok(text.split_inclusive('\n').skip(skip).take(most).collect())
}

/// Writes a text file and creates its directories.
pub(crate) fn write(root: &Path, path: &Path, content: &str) -> io::Result<()> {
    let path = within(root, path)?;
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::write(path, content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_outside_the_root_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let root = base.join("project");
        fs::create_dir(&root).unwrap();
        fs::write(base.join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(base.join("secret"), root.join("link")).unwrap();
        std::os::unix::fs::symlink(base.join("nowhere"), root.join("dangling")).unwrap();
        std::os::unix::fs::symlink(&base, root.join("up")).unwrap();
        write(&root, &root.join("a/b.txt"), "1\n2\n3\n").unwrap();
        assert_eq!(read(&root, &root.join("a/b.txt"), Some(2), Some(1)).unwrap(), "2\n");
        for bad in ["../secret", "link", "dangling", "up/secret", "up/new", "a/../../new", "new/../../x"] {
            assert!(write(&root, &root.join(bad), "y").is_err(), "{bad}");
            assert!(read(&root, &root.join(bad), None, None).is_err(), "{bad}");
        }
        assert!(read(&root, Path::new("a/b.txt"), None, None).is_err());
        assert_eq!(fs::read_to_string(base.join("secret")).unwrap(), "x");
        assert!(!base.join("new").exists() && !base.join("nowhere").exists());
    }
}
