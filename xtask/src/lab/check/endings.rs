//! Every true exit code is recorded or honestly `lost`.

use super::{Evidence, Promise, Violation};
use crate::lab::claims::Task;
use crate::lab::facts::Run;

pub(super) fn check(evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    for task in evidence.tasks {
        if let Some(text) = problem(evidence, task) {
            found.push(Violation {
                promise: Promise::Ending,
                text: format!("{} {}: {text}", task.id, task.key),
            });
        }
    }
}

fn problem(evidence: &Evidence<'_>, task: &Task) -> Option<String> {
    let actions = evidence.actions;
    let run = evidence.run_of(task, task.pid);
    let was_asked = actions.kills.contains(&task.key)
        || actions.clears.contains(&task.key)
        || actions.restarts.contains_key(&task.key)
        || evidence.session_has_ended(&task.session);
    let says = format!("{} ({})", task.status, task.cause);
    match task.status.as_str() {
        "completed" | "failed" => match (run, task.exit_code, &task.signal) {
            (Some(run), Some(code), _) => exited(run, code, &says),
            _ if task.signal.is_some() && task.pid.is_some_and(|pid| actions.killed.contains(&pid)) => None,
            (Some(run), None, Some(signal)) => signalled(run, signal, &says),
            // It never ran: the cause names the reason.
            (None, None, None) if task.status == "failed" => {
                let ran = evidence.facts.of(&task.key).count() as u64;
                (ran >= task.runs).then(|| format!("{says}, but it ran {ran} times"))
            }
            _ => Some(format!("{says}, but its witness says {run:?}")),
        },
        "cancelled" => (!was_asked).then(|| format!("{says}, but nobody asked for it")),
        "timed_out" => {
            let has_limit = actions.starts.get(&task.key).is_some_and(|start| start.timeout.is_some());
            (!has_limit).then(|| format!("{says}, but it had no time limit"))
        }
        // A clock that jumps forward while a task starts looks like a reboot; see docs/limits.md.
        "lost"
            if task.cause.contains("rebooted during its start")
                && actions.faults.contains_key("clock jumps") =>
        {
            run.map(|run| format!("{says}, but it ran: {run:?}"))
        }
        "lost" => {
            let kills = evidence.supervisor_kills(&task.id);
            (kills < 2).then(|| format!("{says}, but its supervisors were hit {kills} times; it was {run:?}"))
        }
        _ => Some(format!("it never ended: {says}")),
    }
}

fn exited(run: &Run, code: u64, says: &str) -> Option<String> {
    (run.exit.map(u64::from) != Some(code))
        .then(|| format!("{says}, but it was about to exit with {:?}", run.exit))
}

/// A signal that the witness did not send itself comes from outside, which the lab does not do.
fn signalled(run: &Run, signal: &str, says: &str) -> Option<String> {
    (run.signal.is_none())
        .then(|| format!("{says}: {signal}, but it sent itself no signal; its exit was {:?}", run.exit))
}
