//! A log that somebody else laid hands on.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use mw_model::wire::HEADER_LEN;

use super::{Log, fresh};

impl Log {
    /// Somebody cut the log, removed it or put another file in its place: what it held counts as dropped, and it
    /// begins anew.
    pub(super) fn notice_damage(&mut self) -> io::Result<()> {
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
        self.board.set_pending_drop(self.end);
        Ok(())
    }
}
