//! Reads, follows and searches the log of the selected task.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use meanwhile::Result;
use mw_desk::Desk;
use mw_desk::log_window::{FollowStep, LogTarget};
use mw_desk::text::error_text;

use super::event::Event;
use super::program::EventSender;

/// The maximum time between two reads. The supervisor usually wakes the reader earlier.
const MAX_READ_INTERVAL: Duration = Duration::from_secs(2);
/// The minimum time between two updates of the screen. Nobody reads faster.
const MIN_UPDATE_INTERVAL: Duration = Duration::from_millis(30);

/// Runs one thread for each followed log. A thread ends at its next step once another log is followed.
pub(super) struct Reader {
    desk: Desk,
    events: EventSender,
    turn: Arc<AtomicU64>,
}

impl Reader {
    pub(super) fn new(desk: Desk, events: EventSender) -> Self {
        Self { desk, events, turn: Arc::new(AtomicU64::new(0)) }
    }

    /// Follows this log and stops following any other.
    pub(super) fn follow(&self, target: Option<LogTarget>) {
        let mine = self.turn.fetch_add(1, Ordering::SeqCst) + 1;
        let Some(target) = target else { return };
        let (desk, turn) = (self.desk.clone(), Arc::clone(&self.turn));
        self.events.spawn(move |events| {
            let is_mine = || turn.load(Ordering::SeqCst) == mine;
            // While a key is held down, most logs are selected only briefly. They are not read at all.
            std::thread::sleep(MIN_UPDATE_INTERVAL);
            if let Err(error) = read_on(&desk, events, &target, is_mine) {
                events.send(Event::Unreadable(target, error_text(&error)));
            }
        });
    }
}

fn read_on(desk: &Desk, events: &EventSender, target: &LogTarget, is_mine: impl Fn() -> bool) -> Result<()> {
    let mut log = desk.follow_log(target.clone())?;
    while is_mine() {
        match log.read()? {
            FollowStep::Chunk(chunk) => events.send(Event::Read(target.clone(), chunk)),
            FollowStep::Nothing => {}
            FollowStep::End => break,
        }
        log.wait(MAX_READ_INTERVAL)?;
        std::thread::sleep(MIN_UPDATE_INTERVAL);
    }
    Ok(())
}
