//! Named steps at which a debug build kills itself on request, for crash tests.

/// Every named step of the supervisor, in the order of a run.
pub const FAIL_POINTS: [&str; 28] = [
    "supervisor-locked",
    "supervisor-files-made",
    "supervisor-entrusted",
    "command-forked",
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
    "supervisor-has-turn",
];

/// Kills this process if the environment names this step; does nothing in a release build.
///
/// `MEANWHILE_FAIL_AT=STEP` applies to every process of meanwhile that reaches the step, so a successor dies there,
/// too. `STEP@FILE` also appends the name to a file, and `trace@FILE` appends the names of all steps and kills nothing.
pub(crate) fn fail_point(name: &str) {
    debug_assert!(FAIL_POINTS.contains(&name), "{name} is not listed");
    if !cfg!(debug_assertions) {
        return;
    }
    let Some(wanted) = std::env::var_os("MEANWHILE_FAIL_AT") else { return };
    let wanted = wanted.to_string_lossy();
    let (step, file) = wanted.split_once('@').unwrap_or((&wanted, ""));
    if step != name && step != "trace" {
        return;
    }
    if let Ok(mut file) = std::fs::File::options().create(true).append(true).open(file) {
        // One write, because several processes append.
        let _ = std::io::Write::write_all(&mut file, format!("{name}\n").as_bytes());
    }
    if step == name {
        let me = rustix::process::getpid();
        let _ = rustix::process::kill_process(me, rustix::process::Signal::KILL);
    }
}

/// Like [`fail_point`], in the process that is about to execute the command: kills the supervisor, its parent, and lets the guardian
/// look before it goes on.
pub(crate) fn fail_point_of_child() {
    const LOOK: std::time::Duration = std::time::Duration::from_millis(100);
    if !cfg!(debug_assertions)
        || std::env::var_os("MEANWHILE_FAIL_AT").is_none_or(|it| it != "command-forked")
    {
        return;
    }
    let parent = || rustix::process::getppid();
    let Some(supervisor) = parent() else { return };
    let _ = rustix::process::kill_process(supervisor, rustix::process::Signal::KILL);
    while parent() == Some(supervisor) {
        std::thread::yield_now();
    }
    std::thread::sleep(LOOK);
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
