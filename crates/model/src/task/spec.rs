//! The spec of a task: written once to `spec.json`, never changed, and sufficient to run the task again.

use serde::{Deserialize, Serialize};

use super::agent::AgentSpec;
use super::dependency::Dependency;
use super::grant::TaskGrant;
use super::id::{TaskId, TaskKind};
use super::limits::Limits;
use super::place::Place;
use super::ready::ReadyWhen;
use super::schedule::Schedule;
use crate::approval::ApprovalRecord;
use crate::dialects::Dialect;
use crate::text::raw_text::RawText;
use crate::text::shell_word::shell_word;
use crate::time::Timestamp;
use crate::trace::TaskTrace;

/// The session of tasks that are started outside any other session: the person at the terminal.
pub const DEFAULT_SESSION: &str = "default";

/// Maximum length of the name of a session, in bytes.
pub const LONGEST_SESSION_NAME: usize = 200;

/// Returns whether a text can be the name of a session: 1 to [`LONGEST_SESSION_NAME`] bytes without control characters.
#[must_use]
pub fn is_session_name(name: &str) -> bool {
    (1..=LONGEST_SESSION_NAME).contains(&name.len()) && !name.chars().any(char::is_control)
}

/// The format of `spec.json` written by this build.
pub const SPEC_VERSION: u32 = 1;

/// The shell of scripts for which no other one is chosen.
pub const DEFAULT_SHELL: &str = "/bin/sh";

/// What to execute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandSpec {
    /// A script for a shell: `<program> -c <script>`.
    Shell {
        /// The shell, such as `/bin/sh`.
        program: RawText,
        /// The script, as it was given.
        script: RawText,
    },
    /// A program and its arguments, executed without a shell. Never empty.
    Argv(Vec<RawText>),
}

impl CommandSpec {
    /// Returns the argument vector to execute.
    #[must_use]
    pub fn argv(&self) -> Vec<RawText> {
        match self {
            Self::Shell { program, script } => vec![program.clone(), RawText::from("-c"), script.clone()],
            Self::Argv(words) => words.clone(),
        }
    }

    /// Returns the command as a person would type it.
    #[must_use]
    pub fn to_line(&self) -> String {
        match self {
            Self::Shell { script, .. } => script.to_lossy(),
            Self::Argv(words) => {
                words.iter().map(|word| shell_word(&word.to_lossy())).collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// Returns the word that best names the program, ignoring wrappers such as `env` or `uv run`.
    #[must_use]
    pub fn program_word(&self) -> String {
        const WRAPPERS: [&str; 9] = ["env", "nice", "nohup", "time", "sudo", "timeout", "uv", "npx", "run"];
        let line = self.to_line();
        let words = line.split_whitespace().filter(|word| !word.contains('=') && !word.starts_with('-'));
        let mut named =
            words.map(|word| word.trim_matches(['"', '\'', '(', ')', ';'])).filter(|word| !word.is_empty());
        let first = named.clone().next().unwrap_or("task").to_owned();
        let is_wrapper = |word: &str| WRAPPERS.contains(&word) || word.bytes().all(|b| b.is_ascii_digit());
        named.find(|word| !is_wrapper(word.rsplit('/').next().unwrap_or(word))).map_or(first, str::to_owned)
    }
}

/// One entry of an environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvVar {
    /// The name; contains neither `=` nor NUL.
    pub name: RawText,
    /// The value.
    pub value: RawText,
}

impl EnvVar {
    /// Sets a variable of an environment. It replaces one with the same name.
    pub fn set(env: &mut Vec<Self>, name: &str, value: &str) {
        env.retain(|var| var.name.as_bytes() != name.as_bytes());
        env.push(Self { name: name.into(), value: value.into() });
    }
}

/// How a task's standard streams are connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Io {
    /// Standard input is empty; stdout and stderr are two pipes.
    #[default]
    Pipes,
    /// Like `Pipes`, but standard input stays open.
    Stdin,
    /// Standard input is empty; stdout and stderr are the log file itself.
    Direct,
    /// All three streams are one terminal.
    Pty {
        /// Lines of the terminal.
        rows: u16,
        /// Columns of the terminal.
        cols: u16,
    },
    /// Standard input and stdout are one terminal; stderr is a pipe.
    PtyAndPipe {
        /// Lines of the terminal.
        rows: u16,
        /// Columns of the terminal.
        cols: u16,
    },
}

impl Io {
    /// Returns the lines and columns of the terminal, if there is one.
    #[must_use]
    pub const fn terminal(self) -> Option<(u16, u16)> {
        match self {
            Self::Pty { rows, cols } | Self::PtyAndPipe { rows, cols } => Some((rows, cols)),
            Self::Pipes | Self::Stdin | Self::Direct => None,
        }
    }
}

/// When a task ends relative to its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifetime {
    /// It ends when its session is ended, or some time after the last host of the session has exited.
    #[default]
    Session,
    /// It also ends some time after the last server of its session has exited.
    Client,
    /// It ends only when its session is ended, not when hosts or servers exit.
    Kept,
    /// It outlives its session.
    Detached,
}

impl Lifetime {
    /// Parses the word used in records.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Session, Self::Client, Self::Kept, Self::Detached].into_iter().find(|it| it.word() == word)
    }

    /// Returns the word used in records.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Client => "client",
            Self::Kept => "kept",
            Self::Detached => "detached",
        }
    }
}

/// How a task depends on the holders of its session. Written when the task is started, and again when it moves to
/// another session or is restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionBond {
    /// Whether the session had a holder whose exit ends the task.
    pub held: bool,
    /// When this was checked, in milliseconds of the monotonic clock, which cannot be set and begins with each boot.
    #[serde(default)]
    pub at_ms: u64,
    /// How long the session may be without a holder before the task ends.
    pub grace_ms: u64,
}

/// The concurrency limits in effect when a task was started. A queued task is subject to its own limits, regardless of
/// the process that frees a slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueLimits {
    /// Maximum number of running commands in its session.
    pub max_running: u32,
    /// Maximum number of running agents in its session.
    pub max_agents: u32,
    /// Maximum number of running tasks in all sessions; 0 = no limit.
    pub max_running_total: u32,
    /// The group whose slots it needs as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<SlotGroup>,
}

impl QueueLimits {
    /// The limits of a task that takes no slot: a command in the foreground.
    pub const NONE: Self =
        Self { max_running: u32::MAX, max_agents: u32::MAX, max_running_total: 0, group: None };
}

/// A group of tasks of all sessions, of which only so many may run at a time, such as those that use the GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotGroup {
    /// The name.
    pub name: String,
    /// Maximum number of its tasks that run at a time.
    pub max: u32,
}

impl SlotGroup {
    /// The maximum number of slots.
    const MOST: u32 = 10_000;
    /// The maximum length of a name.
    const LONGEST: usize = 40;

    /// Reads `NAME=SLOTS`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (name, max) = text.split_once('=')?;
        let group = Self { name: name.to_owned(), max: max.parse().ok()? };
        group.is_valid().then_some(group)
    }

    /// Returns whether the name can be part of a file name, and the number of slots is in its range.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_name = (1..=Self::LONGEST).contains(&self.name.len()) && self.name.chars().all(fits);
        is_name && (1..=Self::MOST).contains(&self.max)
    }
}

/// A task as it was requested. The environment is stored only here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSpec {
    /// Format of this record, see [`SPEC_VERSION`].
    pub version: u32,
    /// The canonical id.
    pub id: TaskId,
    /// The kind of work.
    pub kind: TaskKind,
    /// The session that owns it.
    pub session: String,
    /// Its number among the session's tasks, from 1.
    pub number: u64,
    /// The dialect it was started through, which also names it.
    #[serde(default, skip_serializing_if = "Dialect::is_canonical")]
    pub dialect: Dialect,
    /// The context in which its short handle is numbered, if that is not its session: the time at which the context
    /// began, see [`context_stamp`](crate::context_stamp).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The number in its short handle among the background tasks of its context, from 1. `None` while it runs in the
    /// foreground, and in specs of earlier builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle_number: Option<u64>,
    /// Whether its first run started in the foreground, with a caller waiting for its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreground: bool,
    /// A name unique among the session's live tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A one-line description for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What to execute.
    pub command: CommandSpec,
    /// Where it runs.
    #[serde(default, skip_serializing_if = "Place::is_process")]
    pub place: Place,
    /// The working directory; absolute.
    pub cwd: RawText,
    /// The complete environment of the command.
    pub env: Vec<EnvVar>,
    /// File mode creation mask of the command.
    #[serde(default = "usual_umask")]
    pub umask: u32,
    /// How its streams are connected.
    #[serde(default)]
    pub io: Io,
    /// Time, size and silence limits.
    pub limits: Limits,
    /// When it ends relative to its session.
    #[serde(default)]
    pub lifetime: Lifetime,
    /// How it depends on the holders of its session. `None` if it does not, and in specs of earlier builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bond: Option<SessionBond>,
    /// The batch it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// Tasks that must end first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Dependency>,
    /// When it starts, and whether it runs again. Boxed because few tasks have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Box<Schedule>>,
    /// The priority in the queue: higher starts earlier.
    #[serde(default)]
    pub priority: i32,
    /// The place among the queued tasks of its priority: lower starts earlier. Changes when tasks are moved.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rank: i64,
    /// The concurrency limits it was started with. Specs of earlier builds have none; then those of the current
    /// process apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueLimits>,
    /// Whether its log begins with four header lines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub log_header: bool,
    /// Whether hooks were configured when it was started. If not, no hooks run for it. Specs of earlier builds do not
    /// say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<bool>,
    /// The readiness condition, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<ReadyWhen>,
    /// Whether it has a progress descriptor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub progress_fd: bool,
    /// The session that its owner works for, such as that of a parent agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    /// The message that led to it, as the owner identifies it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_message: Option<String>,
    /// The process that waits for its first run and reports the end itself, as named in the records of notifications.
    #[serde(rename = "teller", default, skip_serializing_if = "Option::is_none")]
    pub reporter: Option<String>,
    /// The server that started it, as named in its session's directory. While that server lives, no other server of
    /// the session delivers the task's notifications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starter: Option<String>,
    /// When it was requested.
    pub created_at: Timestamp,
    /// Who approved it: `user`, or `auto` if no approval was needed.
    pub approved_by: String,
    /// When it was approved.
    pub approved_at: Timestamp,
    /// The request to an agent, for agent tasks; boxed because few tasks have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Box<AgentSpec>>,
    /// The approval it was started with, if a person was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalRecord>,
    /// What it may do. A task without a grant is not confined. Boxed because few tasks have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Box<TaskGrant>>,
    /// Its ids in a trace. Specs of earlier builds have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TaskTrace>,
}

impl TaskSpec {
    /// Returns its name in the dialect it was started through.
    #[must_use]
    pub fn handle(&self) -> String {
        self.dialect.handle(self)
    }

    /// Returns the name of its place, unless it is a process of this machine.
    #[must_use]
    pub fn place_name(&self) -> Option<String> {
        (!self.place.is_process()).then(|| self.place.name().to_owned())
    }

    /// Describes the work for people: the command, or the prompt of an agent.
    #[must_use]
    pub fn to_line(&self) -> String {
        self.agent.as_ref().map_or_else(|| self.command.to_line(), |agent| agent.prompt.clone())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &i64) -> bool {
    *number == 0
}

const fn usual_umask() -> u32 {
    0o022
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> CommandSpec {
        CommandSpec::Shell { program: "/bin/sh".into(), script: script.into() }
    }

    #[test]
    fn a_command_line_is_quoted_for_the_shell() {
        let argv = CommandSpec::Argv(vec!["printf".into(), "%s\n".into(), "it's".into(), "".into()]);
        assert_eq!(argv.to_line(), "printf '%s\n' 'it'\\''s' ''");
        assert_eq!(shell("a | b").to_line(), "a | b");
    }

    #[test]
    fn the_program_inside_wrappers_is_named() {
        let table = [
            ("uv run pytest -q", "pytest"),
            ("env A=1 nice -n 5 /usr/bin/make all", "/usr/bin/make"),
            ("timeout 30 cargo test", "cargo"),
            ("sudo", "sudo"),
            ("", "task"),
        ];
        for (script, word) in table {
            assert_eq!(shell(script).program_word(), word, "{script}");
        }
    }
}
