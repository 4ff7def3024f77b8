//! Directories that confined commands may not change.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::needs::{Need, skip};

/// Directories for temporary files, which every confined command may change.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Creates a directory that is not among those for temporary files: in `preferred`, or else in the user's home directory. Without
/// a place for it the test is skipped.
///
/// # Panics
/// When skipped tests are not counted.
#[must_use]
pub fn directory_outside(preferred: &str) -> TempDir {
    let home = env::var_os("HOME").map(PathBuf::from);
    let places = [Some(PathBuf::from(preferred)), home].into_iter().flatten();
    let made = places.filter(|place| !is_temporary(place)).find_map(|place| {
        tempfile::Builder::new().prefix("mw-outside-").tempdir_in(fs::canonicalize(place).ok()?).ok()
    });
    made.unwrap_or_else(|| {
        skip(Need::Outside, "the checkout and the home directory are among temporary files")
    })
}

fn is_temporary(place: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let of_user = env::var_os("TMPDIR").map(PathBuf::from);
    let temporary = TEMPORARY.iter().map(PathBuf::from).chain(of_user);
    let place = real(place);
    temporary.map(|directory| real(&directory)).any(|directory| place.starts_with(directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preferred_place_among_temporary_files_is_not_used() {
        let preferred = tempfile::tempdir_in("/tmp").unwrap();
        let made = directory_outside(preferred.path().to_str().unwrap());
        assert!(made.path().is_absolute() && !is_temporary(made.path()), "{}", made.path().display());
    }
}
