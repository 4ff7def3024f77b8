//! Named steps at which a debug build kills itself on request, for the crash tests.

use std::sync::OnceLock;

use rustix::process::Signal;

/// Every named step of the library, in the order in which a task passes them.
pub const FAIL_POINTS: [&str; 28] = [
    "start-directory-made",
    "start-spec-written",
    "queue-committed",
    "start-committed",
    "start-message-sent",
    "start-answered",
    "arrivals-committed",
    "settle-begun",
    "settle-committed",
    "settle-marked",
    "settle-released",
    "kill-claimed",
    "kill-sent",
    "adopt-recorded",
    "restart-looked",
    "restart-prepared",
    "restart-committed",
    "restart-archive-marked",
    "restart-file-archived",
    "clear-looked",
    "clear-marked",
    "clear-committed",
    "notices-handed-over",
    "reply-ready",
    "reply-written",
    "notices-told",
    "notices-acknowledged",
    "spans-sent",
];

/// The armed step, and the signal that this process sends itself there.
static ARMED: OnceLock<(String, Signal)> = OnceLock::new();

/// Arms a step: the process is killed there or, for the name `stop:STEP`, stopped, so that a test can act in between.
/// Only the first call has an effect.
pub fn arm(name: &str) {
    let armed = match name.strip_prefix("stop:") {
        Some(step) => (step.to_owned(), Signal::STOP),
        None => (name.to_owned(), Signal::KILL),
    };
    let _ = ARMED.set(armed);
}

/// Kills or stops this process if the step is armed. Does nothing in a release build.
#[doc(hidden)]
pub fn fail_point(name: &str) {
    debug_assert!(FAIL_POINTS.contains(&name), "{name} is not listed");
    if !cfg!(debug_assertions) {
        return;
    }
    if let Some((_, signal)) = ARMED.get().filter(|(step, _)| step == name) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), *signal);
    }
}
