//! The words each dialect has for a task: its name, its state, its exit code. No dialect uses a word for a state
//! outside its own list.
//!
//! The dialect through which a task was started is part of its spec, so whoever speaks of the task later (a notice, a
//! hook, the header of its log) calls it what the reply to its start called it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::cause::Cause;
use super::id::{TaskId, TaskKind, long_handle, short_handle};
use super::spec::{CommandSpec, TaskSpec};
use super::state::Status;
use crate::time::Timestamp;

/// One source's way of speaking about tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Our own: every state has its word.
    #[default]
    Canonical,
    /// `running`, `exited`, `killed`.
    Zidane,
    /// `pending`, `running`, `completed`, `error`, `cancelled`.
    Mycode,
    /// `running`, `completed`, `error`, `cancelled`, `resumed`.
    BackgroundTask,
    /// `running`, `completed`, `failed`, `killed`, `timeout`.
    Opta,
    /// `pending`, `running`, `completed`, `failed`, `cancelled`.
    CoCli,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 6] =
        [Self::Canonical, Self::Zidane, Self::Mycode, Self::BackgroundTask, Self::Opta, Self::CoCli];

    /// Returns its name, which is that of its profile, too.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Canonical => "canonical",
            Self::Zidane => "zidane",
            Self::Mycode => "mycode",
            Self::BackgroundTask => "background-task",
            Self::Opta => "opta",
            Self::CoCli => "co-cli",
        }
    }

    /// Finds a dialect by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// Tells whether it is our own.
    #[must_use]
    pub const fn is_canonical(&self) -> bool {
        matches!(self, Self::Canonical)
    }

    /// Returns the name it has for a task.
    #[must_use]
    pub fn handle(self, task: &impl Named) -> String {
        match self {
            Self::Canonical | Self::Mycode | Self::BackgroundTask => task.id().to_string(),
            // Only tasks of a context are counted in it; all others have their id, which is never somebody else's.
            Self::Zidane => match (task.context(), task.handle_number()) {
                (Some(_), Some(number)) => short_handle(task.kind(), number),
                _ => task.id().to_string(),
            },
            Self::Opta => task.id().suffix().to_owned(),
            Self::CoCli => {
                let script = task.line().as_ref().into();
                let program = CommandSpec::Shell { program: "sh".into(), script }.program_word();
                long_handle(task.created_at(), &program, task.id())
            }
        }
    }

    /// Returns the exit code that it shows for an ending, if any.
    #[must_use]
    pub fn exit_code(self, cause: &Cause) -> Option<i32> {
        match self {
            // As a shell shows it: 128 and the signal.
            Self::Zidane => cause.exit_code().or(cause.signal().map(|signal| 128 + signal)),
            Self::Canonical | Self::Mycode | Self::BackgroundTask | Self::Opta | Self::CoCli => {
                cause.exit_code()
            }
        }
    }

    /// Returns the words it may use.
    #[must_use]
    pub const fn words(self) -> &'static [&'static str] {
        match self {
            Self::Canonical => &[
                "pending",
                "running",
                "resumed",
                "cancelling",
                "completed",
                "failed",
                "cancelled",
                "timed_out",
                "lost",
            ],
            Self::Zidane => &["running", "exited", "killed"],
            Self::Mycode => &["pending", "running", "completed", "error", "cancelled"],
            Self::BackgroundTask => &["running", "completed", "error", "cancelled", "resumed"],
            Self::Opta => &["running", "completed", "failed", "killed", "timeout"],
            Self::CoCli => &["pending", "running", "completed", "failed", "cancelled"],
        }
    }

    /// Returns its word for a state; nothing where it does not list such a task at all.
    #[must_use]
    pub const fn word(self, status: Status, cause: Option<&Cause>) -> Option<&'static str> {
        let by_signal = matches!(cause, Some(Cause::Signaled { .. }));
        Some(match (self, status) {
            (Self::Canonical, status) => status.word(),
            (Self::Zidane, Status::Pending | Status::Lost) => return None,
            (Self::Mycode | Self::CoCli, Status::Pending) => "pending",
            (Self::BackgroundTask, Status::Resumed) => "resumed",
            (_, Status::Pending | Status::Running | Status::Resumed | Status::Cancelling) => "running",
            (Self::Zidane, Status::Completed | Status::Failed) => "exited",
            (Self::Zidane, Status::Cancelled | Status::TimedOut) => "killed",
            (_, Status::Completed) => "completed",
            (Self::Opta, Status::Failed) if by_signal => "killed",
            (Self::Opta, Status::Cancelled) => "killed",
            (Self::Opta, Status::TimedOut) => "timeout",
            (_, Status::Cancelled) => "cancelled",
            (Self::Opta | Self::CoCli, Status::Failed | Status::TimedOut | Status::Lost) => "failed",
            (Self::Mycode | Self::BackgroundTask, Status::Failed | Status::TimedOut | Status::Lost) => {
                "error"
            }
        })
    }
}

/// What a task's names are made of.
pub trait Named {
    /// The canonical id.
    fn id(&self) -> &TaskId;
    /// What sort of work it is.
    fn kind(&self) -> TaskKind;
    /// The context in which it is counted, if it was started in one.
    fn context(&self) -> Option<&str>;
    /// Which background task of its context, or else of its session, it is; none in the foreground.
    fn handle_number(&self) -> Option<u64>;
    /// When it was asked for.
    fn created_at(&self) -> Timestamp;
    /// What it does, as a person would type it.
    fn line(&self) -> Cow<'_, str>;
}

impl Named for TaskSpec {
    fn id(&self) -> &TaskId {
        &self.id
    }

    fn kind(&self) -> TaskKind {
        self.kind
    }

    fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    fn handle_number(&self) -> Option<u64> {
        self.handle_number
    }

    fn created_at(&self) -> Timestamp {
        self.created_at
    }

    fn line(&self) -> Cow<'_, str> {
        self.to_line().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_dialect_uses_a_word_outside_its_own_list() {
        let crash = Cause::Signaled { signal: 11, core: false };
        for dialect in Dialect::ALL {
            for status in Status::ALL {
                for cause in [None, Some(&crash)] {
                    let word = dialect.word(status, cause);
                    assert!(
                        word.is_none_or(|word| dialect.words().contains(&word)),
                        "{dialect:?} {status:?} {word:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn endings_are_told_apart_as_far_as_each_dialect_can() {
        let crash = Cause::Signaled { signal: 11, core: false };
        assert_eq!(Dialect::Opta.word(Status::Failed, Some(&crash)), Some("killed"));
        assert_eq!(Dialect::Opta.word(Status::Failed, Some(&Cause::Exited { code: 1 })), Some("failed"));
        assert_eq!(Dialect::Opta.word(Status::TimedOut, None), Some("timeout"));
        assert_eq!(Dialect::Zidane.word(Status::TimedOut, None), Some("killed"));
        assert_eq!(Dialect::Zidane.word(Status::Lost, None), None);
        assert_eq!(Dialect::CoCli.word(Status::Cancelling, None), Some("running"));
        assert_eq!(Dialect::BackgroundTask.word(Status::Resumed, None), Some("resumed"));
    }
}
