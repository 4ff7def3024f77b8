//! Named steps at which a debug build kills itself on request, for the crash tests.

use std::sync::OnceLock;

/// Every named step of the library, in the order in which a task's life meets them.
pub const FAIL_POINTS: [&str; 20] = [
    "start-directory-made",
    "start-spec-written",
    "start-committed",
    "start-message-sent",
    "start-answered",
    "arrivals-committed",
    "settle-begun",
    "settle-committed",
    "kill-sent",
    "adopt-recorded",
    "restart-committed",
    "restart-file-shelved",
    "clear-files-removed",
    "clear-committed",
    "notices-handed-over",
    "reply-ready",
    "reply-written",
    "notices-told",
    "notices-acknowledged",
    "spans-sent",
];

static ARMED: OnceLock<String> = OnceLock::new();

/// Arms a step: passing it kills the process. Only the first call counts.
pub fn arm(name: &str) {
    let _ = ARMED.set(name.to_owned());
}

/// Kills this process if the step is armed; nothing in a release build.
#[doc(hidden)]
pub fn fail_point(name: &str) {
    debug_assert!(FAIL_POINTS.contains(&name), "{name} is not listed");
    if cfg!(debug_assertions) && ARMED.get().is_some_and(|armed| armed == name) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}
