//! Signals, as the loop hears of them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::post::{Message, Post};

/// Passes signals on. While another program has the terminal, those of the keyboard are meant for that one.
pub(super) fn watch<News: Send + 'static>(post: &Post<News>, is_outside: Arc<AtomicBool>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH])?;
    post.spawn(move |post| {
        for signal in signals.forever() {
            match (signal, is_outside.load(Ordering::SeqCst)) {
                // The shell that started us waits for us to stop, too.
                (SIGTSTP, true) => {
                    let _ = stop();
                }
                (SIGINT | SIGQUIT | SIGCONT | SIGWINCH, true) => {}
                (signal, _) => post.send(Message::Signal(signal)),
            }
        }
    });
    Ok(())
}

/// Stops this process, as the shell expects it of a job.
pub(super) fn stop() -> io::Result<()> {
    emulate_default_handler(SIGTSTP)
}
