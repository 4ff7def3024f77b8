//! A thread that waits for news.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use meanwhile::{Filter, Runtime};

use super::deeds;
use super::event::Event;
use super::program::{Options, Post};
use super::worker::told;

/// How long a failure is left alone before it is tried again.
const RESPITE: Duration = Duration::from_secs(2);
/// Questions are no events of tasks, so they are looked for.
const LONGEST: Duration = Duration::from_secs(2);

/// Says so whenever something happens to tasks, or somebody is asked. What fails is tried again, for ever: a screen
/// that is live must not stop to be so in silence.
pub(super) fn news(options: Arc<Options>, post: &Post) {
    post.spawn(move |post| {
        loop {
            let Err(error) = watch(&options, post);
            post.tell(Event::Deaf(told(&error)));
            std::thread::sleep(RESPITE);
        }
    });
}

fn watch(options: &Options, post: &Post) -> meanwhile::Result<Infallible> {
    let runtime = Runtime::open(options.settings.clone())?;
    let mut subscription = runtime.subscribe(options.scope())?;
    let mut before = Vec::new();
    let mut is_told = false;
    let mut number = None;
    loop {
        // A removal is no event of a task: it has none any more.
        let all = Filter { limit: 0, ..Filter::new(options.scope()) };
        let total = runtime.list(&all)?.total;
        if number.replace(total).is_some_and(|before| before != total) {
            post.tell(Event::News);
        }
        let asked = deeds::proposed(&runtime, options)?;
        // One that was answered in vain comes back by this.
        if asked != before || !asked.is_empty() {
            post.tell(Event::Asked(asked.clone()));
            before = asked;
        }
        if !is_told {
            // What happened while nobody listened is looked at now.
            post.tell(Event::Hearing);
            is_told = true;
        }
        if !subscription.next(LONGEST)?.is_empty() {
            post.tell(Event::News);
        }
    }
}
