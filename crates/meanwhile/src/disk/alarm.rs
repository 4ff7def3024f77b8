//! The alarm of a home: the one process that sleeps until the next task is due.
//!
//! ```text
//! the alarm   lock `alarm` ▸ start what is due ▸ write until when it sleeps ▸ is anything due earlier? ▸ sleep
//!                                                                          nothing is due: release ▸ is anything due now?
//! another     commit a due time ▸ is the lock held? ▸ no: start an alarm
//!                                                   ▸ yes, and it sleeps longer than that: ring
//! ```
//!
//! Both look after they have written, so one of them sees the other. The kernel releases the lock of a killed alarm; the
//! next process that changes the queue starts another.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mw_model::Timestamp;

use super::file_lock::{is_taken, open_private, within};
use super::home::Home;
use super::names::{ALARM_BELL_FILE, ALARM_FILE};
use super::platform;
use super::platform::short;

/// How long a process that looks at the state may have the lock.
const LOOK: Duration = Duration::from_millis(50);
const PAUSE: Duration = Duration::from_millis(1);

/// The lock of the alarm. Its file contains until when the process sleeps, in microseconds.
pub(crate) struct Alarm {
    lock: File,
    path: PathBuf,
    bell: UnixDatagram,
}

/// Whether a home has an alarm, as other processes see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AlarmState {
    /// No process sleeps.
    #[default]
    Off,
    /// A process sleeps until this time.
    Until(Timestamp),
}

impl Alarm {
    /// Becomes the alarm of a home; `None` if another process is.
    pub(crate) fn take(home: &Home) -> io::Result<Option<Self>> {
        let path = home.root().join(ALARM_FILE);
        let lock = open_private(&path)?;
        // Processes that look at the state have the lock for a moment.
        if !within(LOOK, PAUSE, || is_taken(lock.try_lock()))? {
            return Ok(None);
        }
        let bell = home.root().join(ALARM_BELL_FILE);
        let _ = fs::remove_file(&bell);
        let bell = short(&bell, |path| UnixDatagram::bind(path))?;
        bell.set_nonblocking(true)?;
        Ok(Some(Self { lock, path, bell }))
    }

    /// Notes until when this process is about to sleep.
    pub(crate) fn note(&mut self, until: Timestamp) -> io::Result<()> {
        let text = format!("{:020}\n", until.as_micros());
        std::os::unix::fs::FileExt::write_all_at(&self.lock, text.as_bytes(), 0)?;
        self.lock.flush()
    }

    /// Sleeps until a time of the system clock, until the clock is set, or until another process rings.
    pub(crate) fn sleep(&self, until: Timestamp) -> io::Result<()> {
        platform::sleep_until(until, &self.bell)?;
        let mut byte = [0; 8];
        while self.bell.recv(&mut byte).is_ok() {}
        Ok(())
    }

    /// Returns whether the home still exists, and this process is its alarm.
    pub(crate) fn is_current(&self) -> bool {
        let own = self.lock.metadata().map(|found| (found.dev(), found.ino()));
        let found = fs::metadata(&self.path).map(|found| (found.dev(), found.ino()));
        own.is_ok_and(|own| found.is_ok_and(|found| own == found))
    }
}

/// Returns whether a home has an alarm.
pub(crate) fn state(home: &Home) -> AlarmState {
    let path = home.root().join(ALARM_FILE);
    match File::open(&path).map(|file| is_taken(file.try_lock_shared())) {
        Ok(Ok(false)) => AlarmState::Until(noted(&path).unwrap_or_default()),
        Ok(Ok(true) | Err(_)) | Err(_) => AlarmState::Off,
    }
}

fn noted(path: &Path) -> Option<Timestamp> {
    fs::read_to_string(path).ok()?.trim().parse().ok().map(Timestamp::from_micros)
}

/// Wakes the alarm of a home.
pub(crate) fn ring(home: &Home) {
    let Ok(socket) = UnixDatagram::unbound() else { return };
    let _ = socket.set_nonblocking(true);
    let _ = short(&home.root().join(ALARM_BELL_FILE), |path| socket.send_to(&[1], path));
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::open(&dir.path().join("home")).unwrap();
        (dir, home)
    }

    fn now() -> Timestamp {
        std::time::SystemTime::now().into()
    }

    #[test]
    fn one_process_is_the_alarm_and_others_see_until_when_it_sleeps() {
        let (_dir, home) = home();
        assert_eq!(state(&home), AlarmState::Off);
        let mut alarm = Alarm::take(&home).unwrap().unwrap();
        assert!(Alarm::take(&home).unwrap().is_none());
        alarm.note(Timestamp::from_micros(12_000_000)).unwrap();
        alarm.note(Timestamp::from_micros(7)).unwrap();
        assert_eq!(state(&home), AlarmState::Until(Timestamp::from_micros(7)));
        drop(alarm);
        assert_eq!(state(&home), AlarmState::Off);
        assert!(Alarm::take(&home).unwrap().is_some());
    }

    #[test]
    fn a_process_that_looks_at_the_state_prevents_no_alarm() {
        let (_dir, home) = home();
        let look = open_private(&home.root().join(ALARM_FILE)).unwrap();
        look.lock_shared().unwrap();
        std::thread::scope(|scope| {
            let alarm = scope.spawn(|| Alarm::take(&home).unwrap().is_some());
            look.unlock().unwrap();
            assert!(alarm.join().unwrap());
        });
    }

    #[test]
    fn it_sleeps_until_the_time_or_until_another_process_rings() {
        let (_dir, home) = home();
        let alarm = Alarm::take(&home).unwrap().unwrap();
        let begun = Instant::now();
        alarm.sleep(now().plus_ms(30)).unwrap();
        assert!(begun.elapsed().as_millis() >= 29);
        ring(&home);
        alarm.sleep(now().plus_ms(600_000)).unwrap();
        alarm.sleep(Timestamp::from_micros(1)).unwrap();
    }

    #[test]
    fn the_alarm_of_a_removed_home_is_not_current() {
        let (_dir, home) = home();
        let alarm = Alarm::take(&home).unwrap().unwrap();
        assert!(alarm.is_current());
        fs::remove_file(home.root().join(ALARM_FILE)).unwrap();
        assert!(!alarm.is_current());
    }
}
