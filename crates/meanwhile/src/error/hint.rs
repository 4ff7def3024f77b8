//! What to do after an error, in words that suit every front end: no hint names a command.

use mw_model::wire::RefusalCode;

use super::{Error, NoConsent, is_shortage};

/// What to do when this process has no descriptor, process or memory left.
pub(crate) const LACK_HINT: &str = "raise the limits of this process (ulimit -a), or end processes";

impl Error {
    /// Returns what to do next.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Invalid(invalid) => return invalid.hint(),
            Self::Home(problem) => return problem.hint(),
            Self::NeedsApproval { keep, .. } => {
                let minutes = keep.as_secs().div_ceil(60);
                return format!(
                    "ask the user to answer the approval request within {minutes} min, then repeat exactly the same call"
                );
            }
            Self::EndedOnly { source, .. } => return format!("{}; then restart it", source.hint()),
            Self::Store(error) => error.hint(),
            Self::Denied(denial) => denial.hint(),
            Self::NoConsent { why: NoConsent::Denied(_), .. } => {
                "do not try it another way; ask the user what to do instead. If they change their mind and approve it, repeat exactly the same call"
            }
            Self::NoConsent { .. } => {
                "do not try it another way; repeat exactly the same call when the user can answer"
            }
            Self::Foreign { what, .. } => what.hint(),
            Self::NoProposal(_) => "look at the list of approval requests",
            Self::NotFound(_) => "list the tasks",
            Self::NoTrace(_) => {
                "a span id has 16 hex digits, a trace id 32; the spans of removed tasks are gone"
            }
            Self::Ambiguous { .. } => "use a longer part of the id",
            Self::NameLive { .. } => "choose another name, or end the task that has it",
            Self::AtCapacity { .. } => "end a task first, or queue this one",
            Self::WrongState { .. } => "look at the state of the task",
            Self::Refused { .. } => "look at the state of the task, and try again",
            Self::NoInput { .. } => "start it with an open standard input, or in a terminal",
            Self::NeverReady { .. } => "wait for its end, or start it with a readiness condition",
            Self::Expired { .. } => "its answers are kept; start a new agent",
            Self::Spawn { code, .. } => spawn_hint(code),
            Self::Unanswered => "try again; if it happens again, check the installation of mw-supervisor",
            Self::Supervisor { source, .. } | Self::Io { source, .. } if is_shortage(source) => LACK_HINT,
            Self::Supervisor { .. } => "install mw-supervisor next to mw",
            Self::Damaged { .. } => "repair its directory, or remove the task",
            Self::Io { .. } => "check permissions and free space of the home directory",
        }
        .to_owned()
    }
}

const fn spawn_hint(code: &RefusalCode) -> &'static str {
    match code {
        RefusalCode::NotFound => "check the program's name and PATH",
        RefusalCode::Directory => "check the working directory",
        RefusalCode::Lack => LACK_HINT,
        RefusalCode::NotExecutable => "check the file's permissions and format",
        RefusalCode::NoControlGroup => {
            "omit the limit on CPUs, or start it from a delegated control group; a limit on CPU time works everywhere"
        }
        RefusalCode::Busy => "another process is starting it; look at it again",
        RefusalCode::Version => "install the supervisor of the same version as this program",
        RefusalCode::DiskFull | RefusalCode::System | RefusalCode::Other(_) => {
            "check free disk space and process limits"
        }
    }
}
