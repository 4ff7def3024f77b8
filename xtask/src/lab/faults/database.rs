//! A database that another program locks, cuts or removes.

use std::fs::{self, File};
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::lab::actions::Book;
use crate::lab::random::Random;
use crate::lab::world::World;

/// What happens to the database.
#[derive(Clone, Copy)]
enum Harm {
    Lock,
    LockHome,
    Delete,
    DeleteLog,
    Truncate,
    TruncateLog,
    Zero,
}

const HARMS: [(Harm, u64); 7] = [
    (Harm::Lock, 6),
    (Harm::LockHome, 4),
    (Harm::Delete, 3),
    (Harm::DeleteLog, 1),
    (Harm::Truncate, 2),
    (Harm::TruncateLog, 1),
    (Harm::Zero, 1),
];

/// Locks the database or the home for a while.
pub(super) fn hold(world: &World, book: &Book, random: &mut Random) {
    let harm = if random.chance(60) { Harm::Lock } else { Harm::LockHome };
    apply(world, book, harm, random);
}

/// Locks, cuts or removes the database or a file next to it.
pub(super) fn harm(world: &World, book: &Book, random: &mut Random) {
    if let Some(harm) = random.weighted(&HARMS) {
        apply(world, book, harm, random);
    }
}

fn apply(world: &World, book: &Book, harm: Harm, random: &mut Random) {
    let database = world.home().join("meanwhile.db");
    let log = world.home().join("meanwhile.db-wal");
    let long = Duration::from_millis(random.between(50, 2500));
    let class = match harm {
        Harm::Lock => "database locked",
        Harm::LockHome => "home locked",
        Harm::Delete => "database removed",
        Harm::DeleteLog => "write-ahead log removed",
        Harm::Truncate => "database cut",
        Harm::TruncateLog => "write-ahead log cut",
        Harm::Zero => "database zeroed",
    };
    book.log(class);
    if !matches!(harm, Harm::Lock | Harm::LockHome) {
        book.actions().database_faults += 1;
    }
    let is_done = match harm {
        Harm::Lock => lock(&database, long),
        Harm::LockHome => lock_home(world, long),
        Harm::Delete => {
            let is_gone = fs::remove_file(&database).is_ok();
            let _ = (fs::remove_file(&log), fs::remove_file(world.home().join("meanwhile.db-shm")));
            is_gone
        }
        Harm::DeleteLog => fs::remove_file(&log).is_ok(),
        Harm::Truncate => cut(&database, random),
        Harm::TruncateLog => cut(&log, random),
        Harm::Zero => zero(&database, random),
    };
    book.log(&format!("{class}: {is_done}"));
    book.count(class, u64::from(is_done));
}

/// Holds SQLite's own write lock.
fn lock(database: &std::path::Path, long: Duration) -> bool {
    let mut command = Command::new("sqlite3");
    command.arg(database).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    let Some(mut input) = child.stdin.take() else { return false };
    // The last connection that closes a database would remove the write-ahead log, which is another fault.
    let _ = input.write_all(b".filectrl persist_wal 1\nBEGIN IMMEDIATE;\n");
    thread::sleep(long);
    let _ = input.write_all(b"ROLLBACK;\n");
    drop(input);
    child.wait().is_ok_and(|status| status.success())
}

/// Holds the lock under which processes open the database.
fn lock_home(world: &World, long: Duration) -> bool {
    let Ok(home) = File::open(world.home()) else { return false };
    if home.lock().is_err() {
        return false;
    }
    thread::sleep(long);
    true
}

fn cut(path: &std::path::Path, random: &mut Random) -> bool {
    let Ok(file) = File::options().write(true).open(path) else { return false };
    let Ok(metadata) = file.metadata() else { return false };
    metadata.len() > 0 && file.set_len(random.below(metadata.len())).is_ok()
}

/// Overwrites a part with zeros.
fn zero(path: &std::path::Path, random: &mut Random) -> bool {
    use std::os::unix::fs::FileExt as _;
    let Ok(file) = File::options().write(true).open(path) else { return false };
    let Ok(metadata) = file.metadata() else { return false };
    let at = random.below(metadata.len().max(1));
    let long = random.between(1, 8192).min(metadata.len() - at);
    long > 0 && file.write_all_at(&vec![0; long as usize], at).is_ok()
}

pub(super) fn reason() -> Option<(&'static str, &'static str)> {
    let works = Command::new("sqlite3").arg("--version").stdout(Stdio::null()).status();
    (!works.is_ok_and(|status| status.success())).then_some(("database locked", "there is no sqlite3"))
}
