//! What to do after an error, in words that suit every front end: no hint names a command. Two front ends replace some of
//! them: `crates/cli/src/hints.rs` names commands of `mw`, and `next_step` in `crates/tools/src/call/` tells a model how a
//! person can approve.

use mw_model::LONGEST_SESSION_NAME;
use mw_model::wire::RefusalCode;

use super::{Denial, Error, ForeignEntry, HomeProblem, Invalid, NoConsent, is_shortage};

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
            Self::Store(error) => error.store_error().hint(),
            Self::Denied(denial) => denial.hint(),
            Self::NoConsent { why: NoConsent::Denied(_), .. } => {
                "do not try it another way; ask the user what to do instead. If they change their mind and approve it, repeat exactly the same call"
            }
            Self::NoConsent { .. } => {
                "do not try it another way; repeat exactly the same call when the user can answer"
            }
            Self::Foreign { what, .. } => what.hint(),
            Self::NoProposal(_) => "list the approval requests",
            Self::NotFound(_) => "list the tasks",
            Self::NoTrace(_) => {
                "a span id has 16 hex digits, a trace id 32; the spans of removed tasks are gone"
            }
            Self::Ambiguous { .. } => "use a longer part of the id",
            Self::NameLive { .. } => "choose another name, or end the task that has it",
            Self::AtCapacity { .. } => "end a task first, or queue this one",
            Self::WrongState { .. } => "check the state of the task",
            Self::Refused { .. } | Self::Unresponsive { .. } => {
                "check the state of the task, and try again"
            }
            Self::Kept(kept) => return kept.hint.clone(),
            Self::NoInput { .. } => "start it with an open standard input, or in a terminal",
            Self::NeverReady { .. } => "wait for its end, or start it with a readiness condition",
            Self::Expired { .. } => "its answers are kept; start a new agent",
            Self::Spawn { code, .. } => spawn_hint(code),
            Self::Unanswered => "try again; if it happens again, check the installation of mw-supervisor",
            Self::Supervisor { source, .. } | Self::Io { source, .. } if is_shortage(source) => LACK_HINT,
            Self::Supervisor { .. } => "install mw-supervisor next to this program, or on the PATH",
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
        RefusalCode::Confinement => "start it without a confinement, or on a kernel with Landlock",
        RefusalCode::Busy => "another process is starting it; check its state again",
        RefusalCode::Version => "install the supervisor of the same version as this program",
        RefusalCode::DiskFull | RefusalCode::System | RefusalCode::Other(_) => {
            "check free disk space and process limits"
        }
    }
}

impl Invalid {
    fn hint(&self) -> String {
        match self {
            Self::EmptyCommand => "give a command to run".to_owned(),
            Self::SessionName(_) => format!("use 1 to {LONGEST_SESSION_NAME} printable characters"),
            Self::Deadline { .. } => "choose a shorter deadline, or none".to_owned(),
            Self::Limit(wrong) => format!("use 0 for no limit, or {}", wrong.takes),
            Self::Directory { .. } => "give an existing directory".to_owned(),
            Self::NoSuchRun { last: 1, .. } => "choose run 1, or omit it for the latest".to_owned(),
            Self::NoSuchRun { last, .. } => {
                format!("choose a run from 1 to {last}, or omit it for the latest")
            }
            Self::NotAnAgent { .. } => "send it input, or restart it".to_owned(),
            Self::EmptyMessage { .. } => "say what the agent should do next".to_owned(),
            Self::AmbiguousProposal(_) => "use a longer part of the id".to_owned(),
            Self::Other { hint, .. } => hint.clone(),
        }
    }
}

impl Denial {
    const fn hint(&self) -> &'static str {
        match self {
            Self::Policy { .. } => "the user can choose another mode",
            Self::NotAsApproved => "start exactly the approved command, or request approval again",
            Self::ChangedSince => "start it again",
            Self::OtherCommand { .. } => "end it first, or choose another name",
            Self::Closed { .. } => "check the history of approval requests",
            Self::ByHook { .. } => "do what the hook asks for, or change the setting hooks.before",
            Self::InsideTask { .. } => "answer in a terminal outside the task; this attempt was recorded",
        }
    }
}

impl HomeProblem {
    fn hint(&self) -> String {
        match self {
            Self::Unset => "set a home directory".to_owned(),
            Self::Hidden(_) => "end this command, and use the tools of the session instead".to_owned(),
            Self::Unusable { .. } | Self::OtherUser(_) => "use a home directory that belongs to you".to_owned(),
            Self::NotADirectory(path) => format!("move {} to another place", path.display()),
            Self::Link { .. } => {
                "use the directory itself as home; a part of it on another disk can be a bind mount".to_owned()
            }
            Self::Shared(_) => {
                "check its contents and remove the write permission of other users, or use another home directory"
                    .to_owned()
            }
            Self::SessionPolicy { .. } => "end the session and start it again".to_owned(),
        }
    }
}

impl ForeignEntry {
    const fn hint(&self) -> &'static str {
        match self {
            Self::Link { .. } => "remove the link; its target is not touched",
            Self::NotADirectory => "move it elsewhere, or remove it",
            Self::OtherUser => "ask its owner to move it",
            Self::Unmarked => "move it elsewhere",
        }
    }
}
