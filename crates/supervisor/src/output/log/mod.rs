//! The log and its index: appends by `splice`, keeps head and tail within the cap, and counts dropped bytes.
//!
//! Dropping the middle replaces both files by rename, the index first. The index header names the log's inode, so
//! that a reader or a successor can tell which renames have happened.
//!
//! `log_file` appends; `buffer` moves large amounts through a mapped file, and `slow_disk` through another process if the disk is slow.
//! `drop_middle` and `dropping` hold the log to its cap. `succession` and `damage` continue a log after a kill or a full disk.

mod buffer;
mod damage;
mod drop_middle;
mod dropping;
mod index_file;
mod log_file;
mod reading;
mod slow_disk;
mod succession;
#[cfg(test)]
mod tests;

pub(crate) use log_file::{CHUNK, Log, Moved};
