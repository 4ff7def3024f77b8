//! What the end of a job means: what the node has recorded, what Slurm's messages say, and the state of the job.

use mw_model::wire::PlaceEnd;
use mw_model::{EndRequest, Exit, ResourceLimit, TimeLimit};

/// What the node has recorded about the end of an attempt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Recorded {
    /// The command was not executed.
    Refused(String),
    /// It has ended.
    Ended {
        exit: Exit,
        /// Whether signals came that this machine has not sent.
        was_told: bool,
    },
    /// A later run or attempt has the lease.
    Fenced,
}

/// Why Slurm has ended a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    TimeLimit,
    Memory,
    Preempted,
    Cancelled,
    NodeFailure,
}

/// What the state of a job says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It waits, at first or again.
    Waiting,
    /// It may run.
    Active,
    /// It does not run, according to Slurm.
    Over(Option<Reason>),
}

/// Interprets the line that `node.sh` writes. `sent` are the signals of this machine.
pub(super) fn recorded(line: &str, sent: &[i32]) -> Option<Recorded> {
    let (word, rest) = line.split_once(' ')?;
    if word == "refused" {
        return Some(Recorded::Refused(rest.to_owned()));
    }
    let mut words = rest.split(' ');
    let number: i32 = words.next()?.parse().ok()?;
    let was_told = words.next().is_some();
    let exit = match word {
        "fenced" => return Some(Recorded::Fenced),
        "wait" if number & 0x7f == 0 => Exit::Code((number >> 8) & 0xff),
        "wait" => Exit::Signal { number: number & 0x7f, core: number & 0x80 != 0 },
        // Without perl.
        "code" if sent.contains(&(number - 128)) => Exit::Signal { number: number - 128, core: false },
        "code" => Exit::Code(number),
        _ => return None,
    };
    Some(Recorded::Ended { exit, was_told })
}

/// Returns what the long word for the state of a job says.
pub(super) fn phase(state: &str) -> Phase {
    match state {
        "PENDING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "SPECIAL_EXIT" | "RESV_DEL_HOLD" => {
            Phase::Waiting
        }
        "COMPLETED" | "FAILED" | "REVOKED" => Phase::Over(None),
        "BOOT_FAIL" | "NODE_FAIL" => Phase::Over(Some(Reason::NodeFailure)),
        "CANCELLED" => Phase::Over(Some(Reason::Cancelled)),
        "DEADLINE" | "TIMEOUT" => Phase::Over(Some(Reason::TimeLimit)),
        "OUT_OF_MEMORY" => Phase::Over(Some(Reason::Memory)),
        "PREEMPTED" => Phase::Over(Some(Reason::Preempted)),
        // Also what a later Slurm may add.
        _ => Phase::Active,
    }
}

/// Returns why a job was ended, according to the messages that Slurm has written on the node.
pub(super) fn reason_in(messages: &str) -> Option<Reason> {
    let words = [
        ("DUE TO TIME LIMIT", Reason::TimeLimit),
        ("exceeded memory limit", Reason::Memory),
        ("oom_kill", Reason::Memory),
        ("oom-kill", Reason::Memory),
        ("DUE TO PREEMPTION", Reason::Preempted),
        ("DUE TO NODE FAILURE", Reason::NodeFailure),
        ("CANCELLED AT", Reason::Cancelled),
    ];
    words.into_iter().find(|(words, _)| messages.contains(words)).map(|(_, reason)| reason)
}

/// Returns the end of a run that Slurm has ended for a reason. `memory` is the limit of the job.
pub(super) fn ended_by(reason: Option<Reason>, exit: Exit, memory: Option<u64>) -> PlaceEnd {
    let asked = |asked| PlaceEnd::Ended { exit: exit.clone(), limit: None, asked: Some(asked) };
    match reason {
        None | Some(Reason::NodeFailure) => PlaceEnd::by_itself(exit),
        Some(Reason::TimeLimit) => asked(EndRequest::Limit(TimeLimit::Job)),
        Some(Reason::Preempted) => {
            asked(EndRequest::Kill { by: "Slurm, for a job of higher priority".to_owned() })
        }
        Some(Reason::Cancelled) => asked(EndRequest::Kill { by: "someone else, in Slurm".to_owned() }),
        Some(Reason::Memory) => {
            PlaceEnd::Ended { exit, limit: memory.map(ResourceLimit::Memory), asked: None }
        }
    }
}

/// Describes a job that was over before the command was executed. `sent` are the signals of this machine.
pub(super) fn not_started(job: &str, reason: Option<Reason>, messages: &str, sent: &[i32]) -> PlaceEnd {
    let why = match reason {
        Some(Reason::Cancelled) if !sent.is_empty() => "was cancelled before it started".to_owned(),
        Some(Reason::Cancelled) => "was cancelled by someone else before it started".to_owned(),
        Some(Reason::TimeLimit) => "reached its deadline before it started".to_owned(),
        Some(Reason::NodeFailure) => "could not be started, because its node has failed".to_owned(),
        Some(Reason::Preempted | Reason::Memory) | None => {
            let last = messages.lines().rfind(|line| !line.trim().is_empty());
            last.map_or_else(
                || "ended without starting the command".to_owned(),
                |line| format!("says: {line}"),
            )
        }
    };
    PlaceEnd::NotStarted { message: format!("its job {job} {why}") }
}

/// Reads an amount of memory as Slurm prints it.
pub(super) fn memory_of(text: &str) -> Option<u64> {
    let text = text.trim().trim_end_matches(['c', 'n']);
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "K" => 10,
        "" | "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return None,
    };
    let amount: f64 = digits.parse().ok()?;
    (amount > 0.0).then_some((amount * (1_u64 << shift) as f64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_node_is_read() {
        let ended = |exit, was_told| Some(Recorded::Ended { exit, was_told });
        let signal = |number| Exit::Signal { number, core: false };
        assert_eq!(recorded("wait 1792", &[]), ended(Exit::Code(7), false));
        assert_eq!(recorded("wait 15 TERM", &[]), ended(signal(15), true));
        assert_eq!(recorded("code 143", &[15]), ended(signal(15), false));
        assert_eq!(recorded("code 143", &[]), ended(Exit::Code(143), false));
        assert_eq!(recorded("fenced 9", &[]), Some(Recorded::Fenced));
        assert_eq!(
            recorded("refused no such program", &[]),
            Some(Recorded::Refused("no such program".to_owned()))
        );
        assert!(["", "wait", "wait x", "what 1"].iter().all(|line| recorded(line, &[]).is_none()));
    }

    #[test]
    fn messages_of_slurm_say_why_it_has_ended_a_job() {
        let says = |text: &str| reason_in(&format!("slurmstepd-n1: error: {text}\n"));
        assert_eq!(says("*** JOB 7 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***"), Some(Reason::Cancelled));
        assert_eq!(
            says("*** JOB 7 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***"),
            Some(Reason::TimeLimit)
        );
        assert_eq!(says("StepId=4.batch exceeded memory limit (2 > 1), being killed"), Some(Reason::Memory));
        assert_eq!(says("Detected 1 oom_kill event in StepId=1.batch."), Some(Reason::Memory));
        assert_eq!(says("something else"), None);
    }

    #[test]
    fn a_failed_node_says_nothing_about_the_command() {
        let exit = Exit::Unknown("node n1 failed".to_owned());
        assert_eq!(ended_by(Some(Reason::NodeFailure), exit.clone(), None), PlaceEnd::by_itself(exit));
        assert_eq!(phase("NODE_FAIL"), Phase::Over(Some(Reason::NodeFailure)));
        assert_eq!(phase("COMPLETING"), Phase::Active);
        assert_eq!(phase("SOMETHING_NEW"), Phase::Active);
    }

    #[test]
    fn amounts_of_memory_are_read() {
        assert_eq!(memory_of("100M\n"), Some(100 << 20));
        assert_eq!(memory_of("1.50G"), Some(3 << 29));
        assert_eq!(memory_of("24576Kn"), Some(24 << 20));
        assert_eq!((memory_of("0"), memory_of("lots")), (None, None));
    }
}
