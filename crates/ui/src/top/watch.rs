//! A thread that waits for news.

use std::ops::ControlFlow;
use std::time::Duration;

use mw_desk::text::told;
use mw_desk::{Change, Desk};

use super::event::Event;
use super::program::Post;

/// How long a failure is left alone before it is tried again.
const RESPITE: Duration = Duration::from_secs(2);

/// Says so whenever something happens to tasks, or somebody is asked. What fails is tried again, for ever: a screen
/// that is live must not stop to be so in silence.
pub(super) fn news(desk: Desk, post: &Post) {
    post.spawn(move |post| {
        loop {
            let watched = desk.watch(|change| {
                post.tell(match change {
                    Change::Watching => Event::Hearing,
                    Change::Tasks => Event::News,
                    Change::Asked(asked) => Event::Asked(asked),
                });
                ControlFlow::Continue(())
            });
            if let Err(error) = watched {
                post.tell(Event::Deaf(told(&error)));
            }
            std::thread::sleep(RESPITE);
        }
    });
}
