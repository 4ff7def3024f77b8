//! The words each dialect has for states. None ever uses a word outside its own list.

use mw_model::{Cause, Status};

/// One source's way of speaking about tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
