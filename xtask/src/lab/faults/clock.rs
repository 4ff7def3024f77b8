//! A clock that jumps.

use std::fs;
use std::path::Path;

use crate::lab::actions::Book;
use crate::lab::random::Random;
use crate::lab::world::World;

/// Sets the clock of every process of the round to another time: minutes to days before or after the true one. Each process reads
/// the file when it looks at the time of day.
pub(super) fn jump(world: &World, book: &Book, random: &mut Random) {
    let milliseconds = match random.below(4) {
        0 => 0,
        1 => random.between(1, 5000) as i64,
        2 => random.between(1, 3 * 86_400_000) as i64,
        _ => -(random.between(1, 3 * 86_400_000) as i64),
    };
    let (path, new) = (world.root().join("clock"), world.root().join("clock.new"));
    let is_set = fs::write(&new, milliseconds.to_string()).and_then(|()| fs::rename(&new, &path)).is_ok();
    book.log(&format!("clock {milliseconds} ms"));
    book.count("clock jumps", u64::from(is_set));
}

/// The clock can be set only in a debug build.
pub(super) fn reason(programs: &Path) -> Option<(&'static str, &'static str)> {
    let is_debug = std::process::Command::new(programs.join("mw"))
        .args(["fail-points"])
        .output()
        .is_ok_and(|output| output.status.success());
    (!is_debug).then_some(("clock jumps", "only a debug build has a clock that can be set"))
}
