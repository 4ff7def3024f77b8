//! A dialect, and what a file of this folder says about it.

use serde::{Deserialize, Serialize};

use super::{TaskName, background_task, canonical, co_cli, mycode, opta, zidane};
use crate::task::cause::Cause;
use crate::task::state::Status;
use crate::tool::Tool;

/// The vocabulary of one design.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// The dialect of meanwhile itself.
    #[default]
    Canonical,
    /// zidane.
    Zidane,
    /// mycode.
    Mycode,
    /// The background-task specification.
    BackgroundTask,
    /// opta.
    Opta,
    /// co-cli.
    CoCli,
}

/// What the crates below the tools know about a dialect.
pub(super) struct Description {
    pub(super) name: &'static str,
    /// The name of the settings that go with it.
    pub(super) profile: &'static str,
    pub(super) tools: &'static [Tool],
    /// The words that it may use for states.
    pub(super) words: &'static [&'static str],
    /// Its word for a state; `None` if it does not list such a task.
    pub(super) word: fn(Status, Option<&Cause>) -> Option<&'static str>,
    /// Its name for a task.
    pub(super) handle: fn(&TaskName<'_>) -> String,
    /// The second name of a task beside its directory, see [`Dialect::link`].
    pub(super) link: fn(&TaskName<'_>) -> Option<Link>,
    pub(super) exit_code: fn(&Cause) -> Option<i32>,
    /// Whether tasks are numbered per context.
    pub(super) numbers_tasks: bool,
    /// Whether every start and every kill needs approval in mode safe.
    pub(super) asks_first: bool,
    /// Whether a notification is one sentence instead of one element per fact.
    pub(super) notifies_in_a_sentence: bool,
}

impl Description {
    /// What most dialects have in common.
    pub(super) const DEFAULT: Self = Self {
        name: "",
        profile: "",
        tools: &[],
        words: &[],
        word: |status, _| Some(status.word()),
        handle: |task| task.id.to_string(),
        link: |_| None,
        exit_code: Cause::exit_code,
        numbers_tasks: false,
        asks_first: false,
        notifies_in_a_sentence: false,
    };
}

/// A second name beside a task's directory, and the file in the directory that it links to; `None` for the directory
/// itself.
pub type Link = (String, Option<&'static str>);

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 6] =
        [Self::Canonical, Self::Zidane, Self::Mycode, Self::BackgroundTask, Self::Opta, Self::CoCli];

    const fn description(self) -> &'static Description {
        match self {
            Self::Canonical => &canonical::DESCRIPTION,
            Self::Zidane => &zidane::DESCRIPTION,
            Self::Mycode => &mycode::DESCRIPTION,
            Self::BackgroundTask => &background_task::DESCRIPTION,
            Self::Opta => &opta::DESCRIPTION,
            Self::CoCli => &co_cli::DESCRIPTION,
        }
    }

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.description().name
    }

    /// Finds a dialect by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// Returns the name of the profile, the settings that go with the dialect.
    #[must_use]
    pub const fn profile(self) -> &'static str {
        self.description().profile
    }

    /// Finds a dialect by the name of its profile.
    #[must_use]
    pub fn of_profile(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.profile() == name)
    }

    /// Returns whether this is the dialect of meanwhile itself.
    #[must_use]
    pub const fn is_canonical(&self) -> bool {
        matches!(self, Self::Canonical)
    }

    /// Returns its tools.
    #[must_use]
    pub const fn tools(self) -> &'static [Tool] {
        self.description().tools
    }

    /// Returns one of its tools.
    ///
    /// # Panics
    /// When it has no tool of that name. In a constant this is a compile-time error.
    #[must_use]
    pub const fn tool(self, name: &str) -> Tool {
        let tools = self.tools();
        let mut at = 0;
        while at < tools.len() {
            if tools[at].is_named(name) {
                return tools[at];
            }
            at += 1;
        }
        panic!("the dialect has no tool of that name")
    }

    /// Returns its name for a task.
    #[must_use]
    pub fn handle<'a>(self, task: impl Into<TaskName<'a>>) -> String {
        (self.description().handle)(&task.into())
    }

    /// Returns the second name of a task beside its directory, if the dialect has such names.
    #[must_use]
    pub fn link<'a>(self, task: impl Into<TaskName<'a>>) -> Option<Link> {
        (self.description().link)(&task.into())
    }

    /// Returns the exit code that it shows for an end, if any.
    #[must_use]
    pub fn exit_code(self, cause: &Cause) -> Option<i32> {
        (self.description().exit_code)(cause)
    }

    /// Returns the words that it may use for states.
    #[must_use]
    pub const fn words(self) -> &'static [&'static str] {
        self.description().words
    }

    /// Returns its word for a state; `None` if it does not list such a task.
    #[must_use]
    pub fn word(self, status: Status, cause: Option<&Cause>) -> Option<&'static str> {
        (self.description().word)(status, cause)
    }

    /// Returns whether it numbers the tasks of each context: `bash_1`, `bash_2`.
    #[must_use]
    pub const fn numbers_tasks(self) -> bool {
        self.description().numbers_tasks
    }

    /// Returns whether every start and every kill needs approval in mode safe, whatever the command.
    #[must_use]
    pub const fn asks_first(self) -> bool {
        self.description().asks_first
    }

    pub(crate) const fn notifies_in_a_sentence(self) -> bool {
        self.description().notifies_in_a_sentence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_word_of_a_dialect_is_in_its_list() {
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
    fn a_dialect_distinguishes_endings_as_far_as_its_words_allow() {
        let crash = Cause::Signaled { signal: 11, core: false };
        assert_eq!(Dialect::Opta.word(Status::Failed, Some(&crash)), Some("killed"));
        assert_eq!(Dialect::Opta.word(Status::Failed, Some(&Cause::Exited { code: 1 })), Some("failed"));
        assert_eq!(Dialect::Opta.word(Status::TimedOut, None), Some("timeout"));
        assert_eq!(Dialect::Zidane.word(Status::TimedOut, None), Some("killed"));
        assert_eq!(Dialect::Zidane.word(Status::Lost, None), None);
        assert_eq!(Dialect::CoCli.word(Status::Cancelling, None), Some("running"));
        assert_eq!(Dialect::BackgroundTask.word(Status::Resumed, None), Some("resumed"));
    }

    #[test]
    fn a_dialect_is_found_by_its_name_and_by_its_profile() {
        for dialect in Dialect::ALL {
            assert_eq!(Dialect::named(dialect.name()), Some(dialect));
            assert_eq!(Dialect::of_profile(dialect.profile()), Some(dialect));
            let written = serde_json::to_value(dialect).unwrap();
            assert_eq!(written, dialect.name(), "specs store the name");
        }
        assert_eq!(Dialect::of_profile("canonical"), None);
    }
}
