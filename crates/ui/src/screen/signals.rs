//! Delivers signals as input of the main loop.

use std::io;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, waitpid};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::channel::{EventSender, Message};

/// Starts to deliver signals. While another program has the terminal, signals from the keyboard are meant for that
/// program.
pub(super) fn watch<E: Send + 'static>(
    events: &EventSender<E>,
    is_outside: Arc<AtomicBool>,
) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH])?;
    events.spawn(move |events| {
        for signal in signals.forever() {
            match (signal, is_outside.load(Ordering::SeqCst)) {
                // While another program has the terminal, this process stops as well, because the shell waits for it.
                (SIGTSTP, true) => {
                    let _ = stop();
                }
                (SIGINT | SIGQUIT | SIGCONT | SIGWINCH, true) => {}
                (signal, _) => events.send_message(Message::Signal(signal)),
            }
        }
    });
    Ok(())
}

/// The result of an attempt to suspend this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// The process was suspended and resumed.
    Woken,
    /// The process was not suspended, because no shell would resume it.
    Never,
}

/// Suspends this process as a shell expects it of a job, until it is resumed.
///
/// The system ignores a stop signal in an orphaned process group, where no shell could resume the process (POSIX). This
/// process catches the signal, so a child process that does not catch it tests whether it works.
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
