//! Hosts that hold a session, and are killed with it.

use std::thread;
use std::time::Duration;

use super::Stage;
use crate::lab::random::Random;

/// Holds a session again and again until the round is over.
pub(in crate::lab) fn hold(stage: &Stage<'_>, session: &str, mut random: Random) {
    while !stage.is_over() {
        // The tasks of the session end with each host.
        stage.book.actions().ended_sessions.insert(session.to_owned());
        let seconds = random.between(2, 6).to_string();
        stage.mw(None, &["session", "run", session, "--", "sleep", &seconds]);
        thread::sleep(Duration::from_millis(random.between(0, 2000)));
    }
}
