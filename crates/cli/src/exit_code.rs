//! Exit codes, each with a name. See `docs/cli.md`.

use meanwhile::Task;
use meanwhile::model::Cause;

/// Any other failure.
pub(crate) const FAILURE: u8 = 1;
/// Bad input; nothing was changed.
pub(crate) const USAGE: u8 = 2;
/// Approval is required and was not given; `mw policy`: it would be required.
pub(crate) const ASK: u8 = 3;
/// Denied by the policy or a person; `mw policy`: it would be denied.
pub(crate) const DENY: u8 = 4;
/// No such task, or more than one matches.
pub(crate) const NOT_FOUND: u8 = 5;
/// The name is in use, no slot is free, or the task is in the wrong state.
pub(crate) const CONFLICT: u8 = 6;
/// The home cannot be used.
pub(crate) const STORE: u8 = 7;
/// The task ended before the condition came true.
pub(crate) const UNMET: u8 = 8;
/// A change was shown and not confirmed.
pub(crate) const NOT_CONFIRMED: u8 = 9;
/// The wait, or the task's own time limit, ran out.
pub(crate) const TIMED_OUT: u8 = 124;
/// The outcome is unknown.
pub(crate) const LOST: u8 = 125;
/// The program could not be executed.
pub(crate) const NOT_EXECUTABLE: u8 = 126;
/// The program was not found.
pub(crate) const PROGRAM_NOT_FOUND: u8 = 127;
/// Returns the exit code for an end by a signal: 128 and its number.
pub(crate) fn of_signal(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// Returns the exit code for a task that has ended.
pub(crate) fn of_task(task: &Task) -> u8 {
    let Some(cause) = task.cause_value() else {
        return FAILURE;
    };
    let own = cause.exit_code().map(|code| code as u8);
    let by_signal = cause.signal().map(of_signal);
    match cause {
        Cause::Exited { .. } | Cause::Signaled { .. } => own.or(by_signal).unwrap_or(FAILURE),
        // A requested end is not a success, even if the process exits with 0.
        Cause::Cancelled { .. } | Cause::LimitReached { .. } => {
            own.filter(|code| *code != 0).or(by_signal).unwrap_or(FAILURE)
        }
        Cause::TimedOut { .. } => TIMED_OUT,
        Cause::SpawnFailed { .. } => PROGRAM_NOT_FOUND,
        Cause::Lost { .. } => LOST,
        Cause::Skipped { .. } => FAILURE,
    }
}
