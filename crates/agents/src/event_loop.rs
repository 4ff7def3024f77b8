//! The async runtime of servers and drivers, and the signals that end them.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// Threads of the runtime. Calls that block have separate threads.
const THREADS: usize = 2;

/// Runs a future to its end. Threads that still block then end with the process.
///
/// # Errors
/// When the runtime cannot be made.
pub fn run<T>(work: impl Future<Output = T>) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    let done = runtime.block_on(work);
    runtime.shutdown_background();
    Ok(done)
}

/// Listens from now on for SIGINT, SIGTERM and SIGHUP; the future ends with the first of them.
///
/// # Errors
/// When the process cannot listen for signals.
pub fn end_signal() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}
