//! Whether the file system is fit to measure on.
//!
//! ext4 without a journal, as virtual machines often have it, does not use the inode of a deleted file again for up to
//! five minutes, and looks at each of them whenever a file is made. After a few ten thousand deletions in one part of
//! the disk, making a file there takes half a millisecond instead of twenty microseconds. Whoever makes more files for
//! a task looks worse then, for a reason that is not theirs.

use std::fs::{self, File};
use std::path::Path;
use std::time::Instant;

use super::samples::median;

/// Microseconds for an empty file that no healthy disk takes.
pub(super) const TOO_SLOW: f64 = 100.0;
/// What to do then.
pub(super) const REMEDY: &str =
    "wait five minutes without deleting files, or name another directory with --root";

const FILES: u32 = 200;

/// Returns how many microseconds making an empty file takes under `root`; nothing measurable gives NaN.
pub(super) fn file_cost(root: &Path) -> f64 {
    let folder = root.join("probe");
    if fs::create_dir_all(&folder).is_err() {
        return f64::NAN;
    }
    // Kept from the last time, so that nothing is deleted.
    let begin = fs::read_dir(&folder).map_or(0, |entries| entries.count() as u32);
    let costs = (begin..begin + FILES).filter_map(|number| {
        let path = folder.join(number.to_string());
        let begun = Instant::now();
        File::create_new(path).ok()?;
        Some(begun.elapsed().as_secs_f64() * 1e6)
    });
    median(&costs.collect::<Vec<_>>())
}
