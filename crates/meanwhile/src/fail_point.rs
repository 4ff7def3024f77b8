//! Named steps at which a debug build kills itself on request, for the crash tests.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;

use rustix::process::Signal;

/// Every named step of the library, in the order in which a task passes them.
pub const FAIL_POINTS: [&str; 35] = [
    "start-directory-made",
    "start-spec-written",
    "queue-committed",
    "start-committed",
    "start-message-sent",
    "start-answered",
    "arrivals-committed",
    "settle-begun",
    "task-looked-at",
    "change-committed",
    "again-decided",
    "settle-marked",
    "settle-released",
    "alarm-taken",
    "alarm-started-due",
    "alarm-noted",
    "alarm-released",
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
    "output-looked",
    "notices-handed-over",
    "reply-ready",
    "reply-written",
    "notices-told",
    "notices-acknowledged",
    "spans-sent",
];

/// What happens at a named step.
struct Armed {
    /// The name of the step; `trace` for every step.
    step: String,
    /// The signal that this process sends itself there; none while steps are only traced.
    signal: Option<Signal>,
    /// The file to which the names of the steps are appended as they are reached.
    reached: Option<PathBuf>,
}

static ARMED: OnceLock<Armed> = OnceLock::new();

/// Arms a step: the process is killed there or, for the name `stop:STEP`, stopped, so that a test can act in between.
/// `trace@FILE` appends the name of every step to a file instead; `STEP@FILE` also names that step there. Only the
/// first call has an effect.
pub fn arm(wanted: &str) {
    let (step, reached) = match wanted.split_once('@') {
        Some((step, file)) => (step, Some(PathBuf::from(file))),
        None => (wanted, None),
    };
    let (step, signal) = match step.strip_prefix("stop:") {
        Some(step) => (step, Some(Signal::STOP)),
        None => (step, (step != "trace").then_some(Signal::KILL)),
    };
    let _ = ARMED.set(Armed { step: step.to_owned(), signal, reached });
}

/// Kills or stops this process if the step is armed. Does nothing in a release build.
#[doc(hidden)]
pub fn fail_point(name: &str) {
    debug_assert!(FAIL_POINTS.contains(&name), "{name} is not listed");
    if !cfg!(debug_assertions) {
        return;
    }
    let Some(armed) = ARMED.get().filter(|armed| armed.signal.is_none() || armed.step == name) else {
        return;
    };
    if let Some(file) = &armed.reached {
        let _ = fs::File::options().create(true).append(true).open(file).and_then(|mut file| {
            // One write, because several processes append.
            file.write_all(format!("{name}\n").as_bytes())
        });
    }
    if let Some(signal) = armed.signal {
        let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
    }
}
