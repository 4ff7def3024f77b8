//! What to do after an error, as commands. The library says what happened as data, and names no command.

use meanwhile::Error;
use meanwhile::engine::model::LONGEST_SESSION_NAME;
use meanwhile::engine::model::wire::RefusalCode;
use meanwhile::engine::{ClearReport, KeepCause, Retained};
use meanwhile::error::{Denial, ForeignEntry, HomeProblem, Invalid};
use mw_tools::call::next_step;

use crate::programs::INSTALL;

/// Returns what to do next, with the command to run where there is one.
pub(crate) fn hint(error: &Error) -> String {
    match error {
        Error::Invalid(invalid) => after_invalid(invalid),
        Error::Home(problem) => after_home_problem(problem),
        Error::Denied(Denial::OtherCommand { .. }) => {
            "end it first (mw kill), or choose another name".to_owned()
        }
        Error::Denied(Denial::Closed { .. }) => "see mw approvals --history".to_owned(),
        Error::NotFound(_) => "mw list shows the tasks".to_owned(),
        Error::NoProposal(_) => {
            "mw approvals lists open requests, mw approvals --history earlier ones".to_owned()
        }
        Error::NoTrace(_) => format!("mw traces lists the traces; {}", error.hint()),
        Error::NameLive { id, .. } => {
            format!("choose another name, use --if-running return or restart, or end it: mw kill {id}")
        }
        Error::AtCapacity { .. } => {
            "end a task first (mw kill), or queue this one: --at-capacity queue".to_owned()
        }
        Error::WrongState { id, .. } | Error::Refused { id, .. } | Error::Unresponsive { id, .. } => {
            format!("mw status {id} shows its state")
        }
        Error::Kept(kept) => about_kept(kept),
        Error::NoInput { .. } => "start it with --stdin or --pty".to_owned(),
        Error::NeverReady { id } => {
            format!("mw wait {id} waits for its end; --ready-when or --ready-port at its start sets a condition")
        }
        Error::Expired { id } => {
            format!("its answers are kept (mw status {id}); start a new agent: mw agent 'prompt'")
        }
        Error::Spawn { code: RefusalCode::Directory, .. } => {
            "check the directory given with --cwd".to_owned()
        }
        Error::Spawn { code: RefusalCode::NoControlGroup, .. } => {
            "omit --cpus (limits.cpus), or start from a delegated group: systemd-run --user --scope mw start …; --cpu-time works everywhere".to_owned()
        }
        Error::Spawn { code: RefusalCode::Confinement, .. } => {
            format!("{}; mw doctor shows what this kernel offers", error.hint())
        }
        Error::Spawn { code: RefusalCode::Version, .. } => format!("{INSTALL}, all of the same version"),
        Error::Unanswered => "try again; mw doctor checks mw-supervisor".to_owned(),
        Error::Supervisor { .. } if !error.is_shortage() => {
            format!("{INSTALL}, or set MEANWHILE_SUPERVISOR")
        }
        Error::Damaged { id, .. } => format!("mw clear {id} removes it"),
        Error::Foreign { path, what, .. } => match what {
            ForeignEntry::Link { .. } => {
                format!("rm {} removes the link but not its target", path.display())
            }
            ForeignEntry::NotADirectory => {
                format!("move it elsewhere, or remove it: rm {}", path.display())
            }
            ForeignEntry::OtherUser | ForeignEntry::Unmarked => error.hint(),
        },
        Error::EndedOnly { id, source } => format!("{}; then: mw restart {id}", hint(source)),
        Error::Store(failure) => {
            let more = if failure.is_newer() {
                "set MEANWHILE_HOME to use another directory"
            } else if failure.is_disk_full() {
                "mw clear --finished removes finished tasks"
            } else if failure.is_damage() {
                "mw doctor checks the database"
            } else {
                return error.hint();
            };
            format!("{}; {more}", error.hint())
        }
        Error::Denied(_) | Error::NoConsent { .. } | Error::NeedsApproval { .. } => next_step(error),
        _ => error.hint(),
    }
}

fn after_invalid(invalid: &Invalid) -> String {
    match invalid {
        Invalid::EmptyCommand => "give a command: mw start 'make test'".to_owned(),
        Invalid::SessionName(_) => {
            format!(
                "use 1 to {LONGEST_SESSION_NAME} printable characters; mw session list shows the sessions that have tasks"
            )
        }
        Invalid::Deadline { .. } => "choose a shorter --deadline, or none".to_owned(),
        Invalid::Limit(wrong) => format!("--{} takes 0 for no limit, or {}", wrong.name, wrong.takes),
        Invalid::Directory { .. } => "give an existing directory with --cwd".to_owned(),
        Invalid::NoSuchRun { last: 1, .. } => "use --run 1, or omit it for the latest run".to_owned(),
        Invalid::NoSuchRun { last, .. } => {
            format!("use --run 1 to {last}, or omit it for the latest run")
        }
        Invalid::NotAnAgent { id } => format!("mw input {id} sends input, mw restart {id} runs it again"),
        Invalid::EmptyMessage { id } => format!("give a message: mw resume {id} 'and now …'"),
        Invalid::AmbiguousProposal(_) => "use a longer part of the id; mw approvals lists them".to_owned(),
        Invalid::Other { hint, .. } => hint.clone(),
    }
}

fn after_home_problem(problem: &HomeProblem) -> String {
    match problem {
        HomeProblem::Unset => "set MEANWHILE_HOME or HOME".to_owned(),
        HomeProblem::Hidden(_) => {
            "while a server or agent of the session runs, mw start, list, status, output, wait and kill work here; run \
             other commands outside of the task"
                .to_owned()
        }
        HomeProblem::Unusable { .. } | HomeProblem::OtherUser(_) => {
            "set MEANWHILE_HOME to a directory of your own".to_owned()
        }
        HomeProblem::NotADirectory(path) => format!("move {} to another place", path.display()),
        HomeProblem::Link { .. } => {
            "set MEANWHILE_HOME to the directory itself; a part of it on another disk can be a bind mount"
                .to_owned()
        }
        HomeProblem::Shared(path) => format!(
            "check its contents and run chmod go-w {}, or set MEANWHILE_HOME to another directory",
            path.display()
        ),
        HomeProblem::SessionPolicy { .. } => {
            "end the session and start it again with mw session run".to_owned()
        }
    }
}

/// Returns what to do about a task that was kept.
pub(crate) fn about_kept(kept: &Retained) -> String {
    match &kept.cause {
        KeepCause::Live => format!("mw clear --kill {} kills it first", kept.id),
        KeepCause::Undelivered => "mw notices delivers the notification".to_owned(),
        KeepCause::DiskFull => kept.hint.clone(),
        KeepCause::Failed(error) => hint(error),
    }
}

/// Puts commands into the hints of a report.
pub(crate) fn with_commands(mut report: ClearReport) -> ClearReport {
    for kept in &mut report.kept {
        kept.hint = about_kept(kept);
    }
    report
}

#[cfg(test)]
mod tests {
    use meanwhile::model::approval::ProposalId;

    use super::*;

    #[test]
    fn the_library_names_no_command_and_the_command_line_does() {
        let task: meanwhile::TaskId = "agent-k3f9x2ab".parse().unwrap();
        let errors = [
            Error::NotFound("x".to_owned()),
            Error::NoProposal("x".to_owned()),
            Error::AtCapacity { limit: 1 },
            Error::Expired { id: task.clone() },
            Error::Damaged { id: task, message: String::new() },
            Error::Unanswered,
            Error::Invalid(Invalid::EmptyCommand),
            Error::Denied(Denial::Closed { id: ProposalId::from_random(1), why: String::new() }),
        ];
        for error in errors {
            assert!(!error.hint().contains("mw "), "{}", error.hint());
            assert!(hint(&error).contains("mw "), "{}", hint(&error));
        }
    }
}
