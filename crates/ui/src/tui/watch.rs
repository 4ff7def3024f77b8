//! A thread that waits for news.

use std::sync::Arc;
use std::time::Duration;

use meanwhile::Runtime;

use super::deeds;
use super::event::Event;
use super::program::{Options, Post};
use super::worker::told;

/// Says so whenever something happens to tasks, or somebody is asked.
pub(super) fn news(options: Arc<Options>, post: &Post) {
    /// Questions are no events of tasks, so they are looked for.
    const LONGEST: Duration = Duration::from_secs(2);
    post.spawn(move |post| {
        let watch = || -> meanwhile::Result<()> {
            let runtime = Runtime::open(options.settings.clone())?;
            let mut subscription = runtime.subscribe(options.scope())?;
            let mut before = Vec::new();
            loop {
                let asked = deeds::proposed(&runtime, &options)?;
                if asked != before {
                    post.tell(Event::Asked(asked.clone()));
                    before = asked;
                }
                if !subscription.next(LONGEST)?.is_empty() {
                    post.tell(Event::News);
                }
            }
        };
        if let Err(error) = watch() {
            post.tell(Event::Failed(format!("news do not come any more: {}", told(&error))));
        }
    });
}
