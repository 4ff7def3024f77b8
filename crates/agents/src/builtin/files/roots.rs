//! Resolves paths and checks that they are inside the project.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use meanwhile::engine::LocalFiles;
use mw_policy::Files;

use crate::new_file::{Access, NewFile};

/// The maximum size of a file that is read or edited, in bytes.
pub(super) const MAX_BYTES: u64 = 8 << 20;

/// The directories that may be accessed: the project's first, then those that the client has added.
#[derive(Clone, Debug)]
pub(in crate::builtin) struct ProjectRoots {
    roots: Vec<PathBuf>,
}

impl ProjectRoots {
    /// Resolves the directories.
    pub(in crate::builtin) fn new(cwd: &Path, added: &[PathBuf]) -> Result<Self, String> {
        let real = |path: &Path| {
            let real = fs::canonicalize(path)
                .map_err(|error| format!("{} cannot be used: {error}", path.display()))?;
            if real.is_dir() { Ok(real) } else { Err(format!("{} is not a directory", path.display())) }
        };
        let roots = [cwd]
            .into_iter()
            .chain(added.iter().map(PathBuf::as_path))
            .map(real)
            .collect::<Result<_, _>>()?;
        Ok(Self { roots })
    }

    /// Returns the project's directory.
    pub(in crate::builtin) fn root(&self) -> &Path {
        self.roots.first().map_or(Path::new("/"), PathBuf::as_path)
    }

    /// Resolves a path.
    pub(in crate::builtin) fn real(&self, path: &str) -> Result<PathBuf, String> {
        let path = if path.is_empty() { "." } else { path };
        let whole = self.root().join(path);
        let real = whole.to_str().and_then(|whole| LocalFiles.real(whole));
        Ok(PathBuf::from(real.ok_or_else(|| format!("{path} does not exist"))?))
    }

    /// Resolves a path, and refuses a path outside of the directories.
    pub(in crate::builtin) fn find(&self, path: &str) -> Result<PathBuf, String> {
        let real = self.real(path)?;
        if self.roots.iter().any(|root| real.starts_with(root)) {
            return Ok(real);
        }
        Err(format!(
            "{path} is outside the project ({}); only files in the project can be used",
            self.root().display()
        ))
    }

    /// Returns a path relative to the project.
    pub(in crate::builtin) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(self.root()).unwrap_or(path).to_string_lossy().into_owned()
    }
}

/// Reads a text file.
pub(in crate::builtin) fn read_text(path: &Path) -> Result<String, String> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        _ => error.to_string(),
    };
    let about = fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err("not a regular file".to_owned());
    }
    if about.len() > MAX_BYTES {
        return Err(format!(
            "it has {} bytes, more than {MAX_BYTES}: use grep, or shell with sed -n",
            about.len()
        ));
    }
    let mut bytes = Vec::new();
    // The file may have been replaced by a pipe, which must not block, or may have grown.
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(nonblock).open(path).map_err(failed)?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    String::from_utf8(bytes)
        .map_err(|error| format!("not a text file: byte {} is not UTF-8", error.utf8_error().valid_up_to()))
}

/// Writes a text file atomically, and creates its directories.
pub(in crate::builtin) fn write_text(path: &Path, content: &str) -> Result<(), String> {
    let written = NewFile::write(path, content, Access::Shared).and_then(NewFile::put_in_place);
    written.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn paths_outside_the_project_are_refused() {
        let outside = tempfile::tempdir().unwrap();
        let project = outside.path().join("project");
        fs::create_dir_all(project.join("src")).unwrap();
        fs::write(outside.path().join("secret"), "s").unwrap();
        symlink("../secret", project.join("link")).unwrap();
        symlink("..", project.join("up")).unwrap();
        symlink("/nowhere/at/all", project.join("dangling")).unwrap();
        symlink("src", project.join("inside")).unwrap();
        let place = ProjectRoots::new(&project, &[]).unwrap();
        for path in
            ["../secret", "link", "up/secret", "up/new", "/etc/passwd", "src/../../secret", "dangling"]
        {
            assert!(place.find(path).is_err(), "{path}");
        }
        for path in ["src/new.rs", "inside/new.rs", ".", "", "src/../README", "not/there/yet"] {
            assert!(place.find(path).unwrap().starts_with(place.root()), "{path}");
        }
        assert_eq!(place.shown(&place.find("inside/a").unwrap()), "src/a");
        let more = ProjectRoots::new(&project, &[outside.path().to_owned()]).unwrap();
        assert!(more.find("../secret").is_ok());
        assert!(ProjectRoots::new(&project.join("nothing"), &[]).is_err());
    }

    #[test]
    fn a_written_file_keeps_its_permissions_and_leaves_no_temporary_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/run.sh");
        write_text(&path, "one").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        write_text(&path, "two").unwrap();
        assert_eq!(read_text(&path).unwrap(), "two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert!(write_text(dir.path(), "x").is_err());
    }

    #[test]
    fn missing_binary_and_too_large_files_are_refused_with_a_reason() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        assert_eq!(read_text(&path).unwrap_err(), "no such file");
        fs::write(&path, b"ab\xff").unwrap();
        assert_eq!(read_text(&path).unwrap_err(), "not a text file: byte 2 is not UTF-8");
        assert_eq!(read_text(dir.path()).unwrap_err(), "not a regular file");
        fs::File::create(&path).unwrap().set_len(MAX_BYTES + 1).unwrap();
        assert!(read_text(&path).unwrap_err().contains("use grep"));
    }
}
