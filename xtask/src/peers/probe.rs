//! Checks whether the file system is suitable for measurements.
//!
//! ext4 without a journal, which is common in virtual machines, does not reuse the inode of a deleted file for up to
//! five minutes, and examines all such inodes whenever a file is created. After some ten thousand deletions in one part
//! of the disk, creating a file there takes half a millisecond instead of twenty microseconds. A peer that creates more
//! files per task then looks worse than it is.

use std::fs::{self, File};
use std::path::Path;
use std::time::Instant;

use super::samples::median;

/// The time to create an empty file, in microseconds, that no healthy disk exceeds.
pub(super) const TOO_SLOW: f64 = 100.0;
/// The advice for a disk that is too slow.
pub(super) const REMEDY: &str =
    "wait five minutes without deleting files, or name another directory with --root";

const FILES: u32 = 200;

/// Returns the time to create an empty file under `root` in microseconds, or NaN if it cannot be measured.
pub(super) fn file_cost(root: &Path) -> f64 {
    let folder = root.join("probe");
    if fs::create_dir_all(&folder).is_err() {
        return f64::NAN;
    }
    // Files of earlier runs are kept, so that nothing is deleted.
    let begin = fs::read_dir(&folder).map_or(0, |entries| entries.count() as u32);
    let costs = (begin..begin + FILES).filter_map(|number| {
        let path = folder.join(number.to_string());
        let begun = Instant::now();
        File::create_new(path).ok()?;
        Some(begun.elapsed().as_secs_f64() * 1e6)
    });
    median(&costs.collect::<Vec<_>>())
}
