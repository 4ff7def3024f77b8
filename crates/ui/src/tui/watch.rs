//! Threads that wait for signals and for news.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use meanwhile::Runtime;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::deeds;
use super::event::Event;
use super::program::{Inbox, Options, Post};
use super::worker::told;

/// Passes signals on. While another program has the terminal, those of the keyboard are meant for that one.
pub(super) fn signals(post: &Post, is_outside: Arc<AtomicBool>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH])?;
    post.spawn(move |post| {
        for signal in signals.forever() {
            match (signal, is_outside.load(Ordering::SeqCst)) {
                // The shell that started us waits for us to stop, too.
                (SIGTSTP, true) => {
                    let _ = emulate_default_handler(SIGTSTP);
                }
                (SIGINT | SIGQUIT | SIGCONT | SIGWINCH, true) => {}
                (signal, _) => post.send(Inbox::Signal(signal)),
            }
        }
    });
    Ok(())
}

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
                    post.event(Event::Asked(asked.clone()));
                    before = asked;
                }
                if !subscription.next(LONGEST)?.is_empty() {
                    post.event(Event::News);
                }
            }
        };
        if let Err(error) = watch() {
            post.event(Event::Failed(format!("news do not come any more: {}", told(&error))));
        }
    });
}
