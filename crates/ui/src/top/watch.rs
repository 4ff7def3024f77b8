//! The thread that waits for changes of tasks.

use std::ops::ControlFlow;
use std::time::Duration;

use mw_desk::text::error_text;
use mw_desk::{Change, Desk};

use super::event::Event;
use super::program::Post;

/// How long a failure is left alone before it is tried again.
const RESPITE: Duration = Duration::from_secs(2);

/// Reports whenever something happens to tasks, or somebody is asked. A failure is shown and retried for as long as the
/// screen is there, because a live screen must not go stale in silence.
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
                post.tell(Event::Deaf(error_text(&error)));
            }
            std::thread::sleep(RESPITE);
        }
    });
}
