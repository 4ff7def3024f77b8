//! A log that another process has damaged.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use mw_model::wire::HEADER_LEN;

use super::log_file::{Log, fresh};

impl Log {
    /// Checks whether the log was cut, removed or replaced. What it held then counts as dropped, and the log begins
    /// again.
    pub(super) fn check_damage(&mut self) -> io::Result<()> {
        if self.inode == 0 {
            self.inode = self.file.metadata()?.ino();
        }
        let found = fs::metadata(&self.path).ok().filter(|found| found.ino() == self.inode);
        match found {
            Some(found) if found.size() >= self.size => return Ok(()),
            Some(_) => self.rewind_to(0)?,
            None => {
                let _ = fs::remove_file(&self.path);
                self.file = fresh(&self.path)?;
                self.inode = self.file.metadata()?.ino();
            }
        }
        self.prefix = 0;
        self.size = 0;
        self.cut_index(HEADER_LEN)?;
        self.write_index_header()?;
        self.announced = None;
        self.dropped = self.end;
        self.board.pending_drop.set(self.end);
        Ok(())
    }
}
