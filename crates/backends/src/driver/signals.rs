//! Signals for the task, which the supervisor leaves in a file.

use std::fs;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::thread;

use mw_model::wire::PLACE_SIGNALS_FILE;
use signal_hook::SigId;

/// The signals for one run.
pub(crate) struct Signals {
    run: u32,
}

impl Signals {
    pub(crate) const fn of(run: u32) -> Self {
        Self { run }
    }

    /// Returns all signals that were left so far.
    pub(crate) fn all(&self) -> Vec<i32> {
        let text = fs::read_to_string(PLACE_SIGNALS_FILE).unwrap_or_default();
        // The last line may be incomplete.
        let complete = text.rfind('\n').map_or("", |end| &text[..end]);
        let read = |line: &str| {
            let (run, signal) = line.split_once(' ')?;
            (run.parse() == Ok(self.run)).then(|| signal.parse().ok())?
        };
        complete.lines().filter_map(read).collect()
    }

    /// Calls a function from another thread whenever the supervisor wakes this process, until the result is dropped.
    pub(crate) fn on_wake_up(mut act: impl FnMut() -> bool + Send + 'static) -> io::Result<WakeUp> {
        let (mut reader, writer) = UnixStream::pair()?;
        writer.set_nonblocking(true)?;
        let handler = signal_hook::low_level::pipe::register(signal_hook::consts::SIGURG, writer)?;
        let wake_up = WakeUp(handler);
        thread::Builder::new().spawn(move || {
            let mut bytes = [0; 64];
            while reader.read(&mut bytes).is_ok_and(|count| count > 0) && act() {}
        })?;
        Ok(wake_up)
    }
}

/// A function that is called when the supervisor wakes this process.
pub(crate) struct WakeUp(SigId);

impl Drop for WakeUp {
    fn drop(&mut self) {
        // This closes the pipe, which ends the thread.
        signal_hook::low_level::unregister(self.0);
    }
}
