//! The reasons that errors carry as data. A front end matches on them to say what to do in its own words.

use std::path::PathBuf;

use mw_model::approval::ProposalId;
use mw_model::{OutOfRange, TaskId};
use mw_policy::Mode;

/// What is wrong with a request.
#[derive(Debug, thiserror::Error)]
pub enum Invalid {
    /// There is no command.
    #[error("the command is empty")]
    EmptyCommand,
    /// The session's name cannot be used.
    #[error("{0:?} is not a session name")]
    SessionName(String),
    /// The deadline is too far away.
    #[error("the deadline is after the year {last_year}")]
    Deadline {
        /// The last year that a deadline may lie in.
        last_year: i64,
    },
    /// A limit is out of its range.
    #[error("the limit {} is out of range", .0.name)]
    Limit(OutOfRange),
    /// The working directory cannot be used.
    #[error("the working directory {} {why}", path.display())]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why, as the rest of the sentence.
        why: String,
    },
    /// The task has no such run.
    #[error("{id} has no run {run}: it has {}", mw_model::count(*last as usize, "run", "runs"))]
    NoSuchRun {
        /// The task.
        id: TaskId,
        /// The requested run.
        run: u32,
        /// The number of its last run.
        last: u32,
    },
    /// A message is for agents, and the task is not one.
    #[error("{id} is not an agent's task: it cannot receive a message")]
    NotAnAgent {
        /// The task.
        id: TaskId,
    },
    /// The message to an agent is empty.
    #[error("the message is empty")]
    EmptyMessage {
        /// The agent's task.
        id: TaskId,
    },
    /// The beginning of an id matches several approval requests.
    #[error("{0:?} matches several approval requests")]
    AmbiguousProposal(String),
    /// Something else, with its own words.
    #[error("{message}")]
    Other {
        /// What is wrong.
        message: String,
        /// What to write instead.
        hint: String,
    },
}

/// Why something is not allowed, whatever a person says now.
#[derive(Debug, thiserror::Error)]
pub enum Denial {
    /// A rule or the mode forbids it.
    #[error("not allowed in mode {}: {}", mode.name(), reasons.join("; "))]
    Policy {
        /// The mode.
        mode: Mode,
        /// Why.
        reasons: Vec<String>,
    },
    /// The start differs from what was approved.
    #[error("not allowed: this differs from the approved command")]
    NotAsApproved,
    /// The queued task differs from what was approved.
    #[error("not started: it differs from the approved command")]
    ChangedSince,
    /// The task with that name runs something else.
    #[error("{id} has another command or directory")]
    OtherCommand {
        /// The task.
        id: TaskId,
    },
    /// The approval request has been answered, used or closed.
    #[error("{id} can no longer be changed: {why}")]
    Closed {
        /// The approval request.
        id: ProposalId,
        /// What it is.
        why: String,
    },
    /// The user's hook before a task has refused it.
    #[error("not started: the hook before tasks has refused it: {why}")]
    ByHook {
        /// The first line that it wrote to standard error, or how it failed.
        why: String,
    },
    /// An approval request was answered by a program that runs inside a task.
    #[error("{id} cannot be answered from inside task {task}")]
    InsideTask {
        /// The approval request.
        id: ProposalId,
        /// The task.
        task: String,
    },
}

/// Why an approval request did not lead to an approval.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoConsent {
    /// A person denied it. They can still change their mind.
    #[error("denied by a person{}", in_brackets(.0))]
    Denied(String),
    /// Another call has used the approval.
    #[error("the approval was used by another call")]
    Used,
    /// Nobody answered, or the approval was not used in time.
    #[error("nobody answered in time")]
    Lapsed,
    /// The request is no longer in the database.
    #[error("the approval request was lost")]
    Lost,
}

fn in_brackets(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(" ({why})") }
}

/// What is wrong with the home directory.
#[derive(Debug, thiserror::Error)]
pub enum HomeProblem {
    /// No directory was given.
    #[error("no home directory")]
    Unset,
    /// This process is confined, and the home is hidden from it.
    #[error("mw cannot be used inside this task: it is confined, and the home directory {} is hidden from it", .0.display())]
    Hidden(PathBuf),
    /// It cannot be created, read or written.
    #[error("cannot use the home directory {}: {why}", path.display())]
    Unusable {
        /// The home.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// A part of it is not a directory.
    #[error("cannot use the home directory: {} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    /// It, or a part of it, is a symbolic link, which could be changed between the check and the use.
    #[error("cannot use the home directory: {} is a symbolic link to {}", path.display(), target.display())]
    Link {
        /// The link.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// Another user owns it.
    #[error("cannot use the home directory {}: it belongs to another user", .0.display())]
    OtherUser(PathBuf),
    /// Other users can write to it.
    #[error("cannot use the home directory {}: other users can write to it", .0.display())]
    Shared(PathBuf),
    /// The policy settings of a session are damaged.
    #[error("cannot read the policy settings of session {session:?}: {why}")]
    SessionPolicy {
        /// The session.
        session: String,
        /// What is wrong.
        why: String,
    },
}

/// What has the place of a task's directory.
#[derive(Debug, thiserror::Error)]
pub enum ForeignEntry {
    /// A symbolic link.
    #[error("a symbolic link to {}", target.display())]
    Link {
        /// Where it leads.
        target: PathBuf,
    },
    /// A file or the like.
    #[error("not a directory")]
    NotADirectory,
    /// A directory of another user.
    #[error("a directory of another user")]
    OtherUser,
    /// A directory without any file of a task.
    #[error("a directory that meanwhile did not make")]
    Unmarked,
}
