//! What a task is: written once to `spec.json`, never changed, enough to run it again.

use serde::{Deserialize, Serialize};

use super::agent::AgentSpec;
use super::id::{TaskId, TaskKind};
use super::limits::Limits;
use super::place::Place;
use super::ready::ReadyWhen;
use crate::approval::ApprovalRecord;
use crate::dialect::Dialect;
use crate::text::raw_text::RawText;
use crate::time::Timestamp;
use crate::trace::TaskTrace;

/// The owner of tasks that are started outside any session: the person at the terminal.
pub const DEFAULT_SESSION: &str = "default";

/// The format of `spec.json` written by this build.
pub const SPEC_VERSION: u32 = 1;

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
                words.iter().map(|word| quoted(&word.to_lossy())).collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// Returns the word that best names the program: wrappers such as `env` or `uv run` are looked through.
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

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// One entry of an environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvVar {
    /// The name; holds neither `=` nor NUL.
    pub name: RawText,
    /// The value.
    pub value: RawText,
}

/// How a task's standard streams are connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Io {
    /// Standard input is empty; stdout and stderr are two pipes.
    #[default]
    Pipes,
    /// As `Pipes`, but standard input stays open for typing.
    Stdin,
    /// All three are one terminal.
    Pty {
        /// Lines of the terminal.
        rows: u16,
        /// Columns of the terminal.
        cols: u16,
    },
}

/// How long a task may live relative to its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifetime {
    /// It ends with its session: when somebody ends that, and some time after its last host has gone.
    #[default]
    Session,
    /// It also ends some time after the last server of its session has gone.
    Client,
    /// It ends when somebody ends its session; nobody's leaving ends it.
    Kept,
    /// It outlives its session.
    Detached,
}

impl Lifetime {
    /// Reads the word used in records.
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

/// How a task hangs on those who hold its session. Written at its start; again when it passes to another session, or runs
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionBond {
    /// Whether somebody held the session with whose end the task ends.
    pub held: bool,
    /// When that was looked at.
    pub at: Timestamp,
    /// How long after the last holder has gone another may take its place.
    pub grace_ms: u64,
}

/// How many tasks may run at a time, as it was when a task was started. A waiting task is held to its own, whichever process
/// frees a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueLimits {
    /// Commands of its session.
    pub max_running: u32,
    /// Agents of its session.
    pub max_agents: u32,
    /// Tasks of all sessions; 0 = no limit.
    pub max_running_total: u32,
}

/// A task as it was asked for. The environment lives here and nowhere else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSpec {
    /// Format of this record, see [`SPEC_VERSION`].
    pub version: u32,
    /// The canonical id.
    pub id: TaskId,
    /// What sort of work it is.
    pub kind: TaskKind,
    /// The owner.
    pub session: String,
    /// Its number among the session's tasks, from 1.
    pub number: u64,
    /// The dialect it was started through, and is spoken of in.
    #[serde(default, skip_serializing_if = "Dialect::is_canonical")]
    pub dialect: Dialect,
    /// The context in which its short handle counts, if not its session: when that began, see
    /// [`context_stamp`](crate::context_stamp).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The number in its short handle: which background task of its context it is, from 1. None while it runs in
    /// the foreground, and in specs of earlier builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle_number: Option<u64>,
    /// Whether it began in the foreground: somebody waits for its first run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreground: bool,
    /// A name unique among the session's live tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A line for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What to execute.
    pub command: CommandSpec,
    /// In which place it runs.
    #[serde(default, skip_serializing_if = "Place::is_process")]
    pub place: Place,
    /// The directory to execute it in; absolute.
    pub cwd: RawText,
    /// The whole environment of the command.
    pub env: Vec<EnvVar>,
    /// File mode creation mask of the command.
    #[serde(default = "usual_umask")]
    pub umask: u32,
    /// How its streams are connected.
    #[serde(default)]
    pub io: Io,
    /// Time, size and silence limits.
    pub limits: Limits,
    /// Whether it ends with its session.
    #[serde(default)]
    pub lifetime: Lifetime,
    /// How it hangs on those who hold its session. None where it does not, and in specs of earlier builds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bond: Option<SessionBond>,
    /// The batch it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// Tasks that must complete first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<TaskId>,
    /// Higher starts earlier.
    #[serde(default)]
    pub priority: i32,
    /// The limits it was started with. Specs of earlier builds have none: those of the process that looks hold then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueLimits>,
    /// Whether its log begins with four header lines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub log_header: bool,
    /// Whether hooks were configured when it was started: others are not run for it. Specs of earlier builds do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<bool>,
    /// What makes it ready, if anybody wants to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<ReadyWhen>,
    /// Whether it has a descriptor to tell its progress on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub progress_fd: bool,
    /// The session on whose behalf its owner works, such as that of a parent agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    /// The message that led to it, in words of the owner's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_message: Option<String>,
    /// Who waits for its first run and will tell how that ends, as the ledger of notices knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teller: Option<String>,
    /// The server that started it, as its session's directory knows it. While that lives, only it tells how the task
    /// ends where several servers share the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starter: Option<String>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// Who approved it: `user`, or `auto` when nobody had to.
    pub approved_by: String,
    /// When it was approved.
    pub approved_at: Timestamp,
    /// What an agent is asked to do, where one is; boxed because few tasks have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Box<AgentSpec>>,
    /// The approval it was started with, where a person was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalRecord>,
    /// Its place in a trace. Specs of earlier builds have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TaskTrace>,
}

impl TaskSpec {
    /// Returns what it is called in the dialect it was started through.
    #[must_use]
    pub fn handle(&self) -> String {
        self.dialect.handle(self)
    }

    /// Returns what it does, as a person would say it: the command, or what an agent was asked.
    #[must_use]
    pub fn to_line(&self) -> String {
        self.agent.as_ref().map_or_else(|| self.command.to_line(), |agent| agent.prompt.clone())
    }
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
    fn lines_can_be_pasted_back() {
        let argv = CommandSpec::Argv(vec!["printf".into(), "%s\n".into(), "it's".into(), "".into()]);
        assert_eq!(argv.to_line(), "printf '%s\n' 'it'\\''s' ''");
        assert_eq!(shell("a | b").to_line(), "a | b");
    }

    #[test]
    fn programs_are_named_through_their_wrappers() {
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
