//! Signals as input of the loop.

use std::io;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, waitpid};
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

/// The result of suspending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// It was resumed.
    Woken,
    /// It was not suspended, because no shell would resume it.
    Never,
}

/// Suspends this process as a shell expects it of a job, until it is resumed.
///
/// A stop signal is ignored by the system where no shell could wake the process again (POSIX: an orphaned process group).
/// Ours is caught, so a child that does not catch it tries it out first.
pub(super) fn stop() -> io::Result<Stopped> {
    let probe = Command::new("/bin/sh").args(["-c", "kill -s TSTP $$"]).stdin(Stdio::null()).spawn()?;
    let Some(probe) = Pid::from_raw(probe.id() as i32) else { return Ok(Stopped::Never) };
    let (_, status) = waited(probe, WaitOptions::UNTRACED)?;
    if !status.stopped() {
        return Ok(Stopped::Never);
    }
    let stopped = emulate_default_handler(SIGTSTP);
    kill_process(probe, Signal::CONT)?;
    waited(probe, WaitOptions::empty())?;
    stopped.map(|()| Stopped::Woken)
}

fn waited(child: Pid, options: WaitOptions) -> io::Result<(Pid, WaitStatus)> {
    loop {
        match waitpid(Some(child), options) {
            Ok(Some(found)) => return Ok(found),
            Ok(None) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
