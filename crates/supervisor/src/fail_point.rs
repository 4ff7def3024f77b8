//! Named steps at which a debug build kills itself on request, for crash tests.

/// Every named step of the supervisor, in the order of a run.
pub const FAIL_POINTS: [&str; 25] = [
    "supervisor-locked",
    "supervisor-files-made",
    "supervisor-spawned",
    "supervisor-journalled",
    "supervisor-answered",
    "output-armed",
    "output-read",
    "output-written",
    "output-recovered",
    "drop-announced",
    "drop-marked",
    "middle-copied",
    "middle-index-replaced",
    "middle-dropped",
    "writer-wrote",
    "writer-ended",
    "supervisor-kill-noted",
    "guardian-takes-over",
    "guardian-took-over",
    "adopter-noted",
    "supervisor-exit-seen",
    "supervisor-recorded",
    "supervisor-reaped",
    "supervisor-synced",
    "supervisor-settling",
];

/// Kills this process if the environment names this step; does nothing in a release build.
///
/// `MEANWHILE_FAIL_AT=name` applies to every process of meanwhile that reaches the step, so a successor dies there,
/// too.
pub(crate) fn fail_point(name: &str) {
    debug_assert!(FAIL_POINTS.contains(&name), "{name} is not listed");
    if cfg!(debug_assertions) && std::env::var_os("MEANWHILE_FAIL_AT").is_some_and(|wanted| wanted == *name) {
        let me = rustix::process::getpid();
        let _ = rustix::process::kill_process(me, rustix::process::Signal::KILL);
    }
}

/// Waits as on a slow disk, if the environment asks for it; does nothing in a release build.
///
/// `MEANWHILE_SLOW_DISK` names a file with the number of milliseconds that a write takes. A write returns as soon as
/// the file is gone.
pub(crate) fn slow_point() {
    if !cfg!(debug_assertions) {
        return;
    }
    let Some(path) = std::env::var_os("MEANWHILE_SLOW_DISK") else { return };
    let begun = std::time::Instant::now();
    let is_slow = || {
        let wanted = std::fs::read_to_string(&path).ok()?.trim().parse().ok()?;
        (begun.elapsed() < std::time::Duration::from_millis(wanted)).then_some(())
    };
    while is_slow().is_some() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}
