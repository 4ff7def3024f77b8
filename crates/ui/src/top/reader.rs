//! The thread that reads and follows the log of the selected task.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use meanwhile::Result;
use mw_desk::Desk;
use mw_desk::log_window::{Followed, LogTarget};
use mw_desk::text::error_text;

use super::event::Event;
use super::program::Post;

/// Longest silence between two looks; the supervisor wakes us before.
const LONGEST: Duration = Duration::from_secs(2);
/// The minimum time between two updates; a person cannot read faster.
const BREATH: Duration = Duration::from_millis(30);

/// One thread per log that is looked at; a thread whose log is no longer the one ends at its next step.
pub(super) struct Reader {
    desk: Desk,
    post: Post,
    turn: Arc<AtomicU64>,
}

impl Reader {
    pub(super) fn new(desk: Desk, post: Post) -> Self {
        Self { desk, post, turn: Arc::new(AtomicU64::new(0)) }
    }

    /// Reads this log from now on, and no other.
    pub(super) fn follow(&self, target: Option<LogTarget>) {
        let mine = self.turn.fetch_add(1, Ordering::SeqCst) + 1;
        let Some(target) = target else { return };
        let (desk, turn) = (self.desk.clone(), Arc::clone(&self.turn));
        self.post.spawn(move |post| {
            let is_mine = || turn.load(Ordering::SeqCst) == mine;
            // Whoever holds a key down passes over most logs.
            std::thread::sleep(BREATH);
            if let Err(error) = read_on(&desk, post, &target, is_mine) {
                post.tell(Event::Unreadable(target, error_text(&error)));
            }
        });
    }
}

fn read_on(desk: &Desk, post: &Post, target: &LogTarget, is_mine: impl Fn() -> bool) -> Result<()> {
    let mut log = desk.follow_log(target.clone())?;
    while is_mine() {
        match log.read()? {
            Followed::Chunk(chunk) => post.tell(Event::Read(target.clone(), chunk)),
            Followed::Nothing => {}
            Followed::End => break,
        }
        log.wait(LONGEST)?;
        std::thread::sleep(BREATH);
    }
    Ok(())
}
