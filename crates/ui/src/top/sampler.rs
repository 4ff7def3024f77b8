//! The thread that measures what tasks use, so that a supervisor that does not answer blocks nothing else.

use std::sync::mpsc::{self, Sender};

use mw_desk::{Desk, FirstLook, Round};

use super::event::Event;
use super::program::Post;

pub(super) struct Sampler(Sender<Round>);

impl Sampler {
    pub(super) fn start(desk: &Desk, post: &Post) -> Self {
        let (sender, rounds) = mpsc::channel();
        let desk = desk.clone();
        post.spawn(move |post| {
            while let Ok(first) = rounds.recv() {
                // After a slow round only the newest request counts.
                let round = rounds.try_iter().last().unwrap_or(first);
                match desk.sample(&round) {
                    // A new task gets its second sample within a second.
                    Ok(FirstLook::Some) => post.tell(Event::News),
                    // A broken home is reported by the next list.
                    Ok(FirstLook::None) | Err(_) => {}
                }
            }
        });
        Self(sender)
    }

    /// Has these looked at soon.
    pub(super) fn look_at(&self, round: Round) {
        // Without the thread the program is about to leave.
        let _ = self.0.send(round);
    }
}
