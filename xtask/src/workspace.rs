//! Finds the workspace and reads its files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Failure;

/// The folders with the workspace's own code.
const CODE_FOLDERS: [&str; 3] = ["benches", "crates", "xtask"];

/// A text file of the workspace.
#[derive(Debug)]
pub(crate) struct TextFile {
    /// The path relative to the workspace root, with `/` as the separator.
    pub(crate) path: String,
    /// The whole content.
    pub(crate) text: String,
}

/// Finds the workspace root at or above the current directory.
pub(crate) fn root() -> Result<PathBuf, Failure> {
    let here =
        std::env::current_dir().map_err(|source| Failure::File { path: PathBuf::from("."), source })?;
    here.ancestors()
        .find(|folder| folder.join("xtask/Cargo.toml").is_file())
        .map(Path::to_path_buf)
        .ok_or(Failure::NoWorkspace)
}

/// Reads every Rust, JavaScript, CSS and manifest file of the workspace, sorted by path.
pub(crate) fn code_files(root: &Path) -> Result<Vec<TextFile>, Failure> {
    let mut paths = Vec::new();
    for folder in CODE_FOLDERS {
        let folder = root.join(folder);
        if folder.is_dir() {
            collect(&folder, &mut paths)?;
        }
    }
    paths.sort();
    paths.iter().map(|path| Ok(TextFile { path: relative(root, path), text: read(path)? })).collect()
}

/// Reads one file as text.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|source| Failure::File { path: path.to_path_buf(), source })
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |source| Failure::File { path: folder.to_path_buf(), source };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // Following links could leave the workspace or never end.
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules" {
            collect(&entry.path(), found)?;
        } else if kind.is_file() && is_code(&name) {
            found.push(entry.path());
        }
    }
    Ok(())
}

fn is_code(name: &str) -> bool {
    name == "Cargo.toml" || [".rs", ".js", ".css"].iter().any(|ending| name.ends_with(ending))
}

fn relative(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}
