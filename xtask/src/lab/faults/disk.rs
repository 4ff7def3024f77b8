//! A disk that is full for a while.

use std::fs::{self, File};
use std::io::Write as _;
use std::thread;
use std::time::Duration;

use crate::lab::actions::Book;
use crate::lab::random::Random;
use crate::lab::world::World;

const PIECE: usize = 64 * 1024;

/// Fills the small disk, to the last byte or almost, and frees it again.
pub(super) fn fill(world: &World, book: &Book, random: &mut Random) {
    if !world.has_disk() {
        return;
    }
    let path = world.home().with_file_name("home").join(".lab-fills-the-disk");
    let Ok(mut file) = File::create(&path) else { return };
    book.actions().disk_changes += 1;
    let zeros = vec![0; PIECE];
    while file.write_all(&zeros).is_ok() {}
    // Now and then a few pages are left.
    if random.chance(40)
        && let Ok(metadata) = file.metadata()
    {
        let _ = file.set_len(metadata.len().saturating_sub(4096 * random.between(1, 40)));
    }
    book.log("disk full");
    book.count("disk full", 1);
    thread::sleep(Duration::from_millis(random.between(50, 1500)));
    drop(file);
    let _ = fs::remove_file(&path);
    book.actions().disk_changes += 1;
    book.log("disk free");
}

pub(super) fn reason() -> Option<(&'static str, &'static str)> {
    (!super::limits::is_root()).then_some(("full disk", "only root can mount a small disk"))
}
