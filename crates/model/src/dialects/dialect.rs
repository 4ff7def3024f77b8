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
pub(super) struct DialectFacts {
    pub(super) name: &'static str,
    /// The name of the settings that go with it.
    pub(super) profile: &'static str,
    pub(super) tools: &'static [Tool],
    /// The words that it may use for states.
    pub(super) words: &'static [&'static str],
    /// Its word for a state, or ours for a state that it does not list.
    pub(super) word: fn(Status, Option<&Cause>) -> &'static str,
    /// The states in which it does not list a task.
    pub(super) unlisted: &'static [Status],
    /// Its name for a task.
    pub(super) handle: fn(&TaskName<'_>) -> String,
    /// The second name of a task next to its directory, see [`Dialect::link`].
    pub(super) link: fn(&TaskName<'_>) -> Option<SecondName>,
    pub(super) exit_code: fn(&Cause) -> Option<i32>,
    /// Whether tasks are numbered per context.
    pub(super) numbers_tasks: bool,
    /// Whether every start and every kill needs approval in mode safe.
    pub(super) asks_first: bool,
    /// Whether a notification is one sentence instead of one element per fact.
    pub(super) notifies_in_a_sentence: bool,
}

impl DialectFacts {
    /// What most dialects have in common.
    pub(super) const DEFAULT: Self = Self {
        name: "",
        profile: "",
        tools: &[],
        words: &[],
        word: |status, _| status.word(),
        unlisted: &[],
        handle: |task| task.id.to_string(),
        link: |_| None,
        exit_code: Cause::exit_code,
        numbers_tasks: false,
        asks_first: false,
        notifies_in_a_sentence: false,
    };
}

/// A second name next to a task's directory, and the file in the directory that it links to; `None` for the directory
/// itself.
pub type SecondName = (String, Option<&'static str>);

/// Lists every dialect with its file, so that the compiler asks for a missing row.
macro_rules! dialects {
    ($($dialect:ident in $file:ident;)+) => {
        impl Dialect {
            /// Every dialect.
            pub const ALL: [Self; [$(stringify!($dialect)),+].len()] = [$(Self::$dialect),+];

            const fn facts(self) -> &'static DialectFacts {
                match self {
                    $(Self::$dialect => &$file::FACTS,)+
                }
            }
        }
    };
}

dialects! {
    Canonical in canonical;
    Zidane in zidane;
    Mycode in mycode;
    BackgroundTask in background_task;
    Opta in opta;
    CoCli in co_cli;
}

impl Dialect {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// Finds a dialect by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// Returns the name of the profile, the settings that go with the dialect.
    #[must_use]
    pub const fn profile(self) -> &'static str {
        self.facts().profile
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
        self.facts().tools
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
        (self.facts().handle)(&task.into())
    }

    /// Returns the second name of a task next to its directory, if the dialect has such names.
    #[must_use]
    pub fn link<'a>(self, task: impl Into<TaskName<'a>>) -> Option<SecondName> {
        (self.facts().link)(&task.into())
    }

    /// Returns the exit code that it shows for an end, if any.
    #[must_use]
    pub fn exit_code(self, cause: &Cause) -> Option<i32> {
        (self.facts().exit_code)(cause)
    }

    /// Returns the words that it may use for states.
    #[must_use]
    pub const fn words(self) -> &'static [&'static str] {
        self.facts().words
    }

    /// Returns its word for a state, or ours if it does not list tasks in that state.
    #[must_use]
    pub fn word(self, status: Status, cause: Option<&Cause>) -> &'static str {
        (self.facts().word)(status, cause)
    }

    /// Returns whether it lists tasks in a state.
    #[must_use]
    pub fn lists(self, status: Status) -> bool {
        !self.facts().unlisted.contains(&status)
    }

    /// Returns whether it numbers the tasks of each context: `bash_1`, `bash_2`.
    #[must_use]
    pub const fn numbers_tasks(self) -> bool {
        self.facts().numbers_tasks
    }

    /// Returns whether every start and every kill needs approval in mode safe, whatever the command.
    #[must_use]
    pub const fn asks_first(self) -> bool {
        self.facts().asks_first
    }

    pub(crate) const fn notifies_in_a_sentence(self) -> bool {
        self.facts().notifies_in_a_sentence
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
                    let is_known = dialect.words().contains(&word);
                    assert_eq!(is_known, dialect.lists(status), "{dialect:?} {status:?} {word:?}");
                }
            }
        }
    }

    #[test]
    fn a_dialect_distinguishes_endings_as_far_as_its_words_allow() {
        let crash = Cause::Signaled { signal: 11, core: false };
        assert_eq!(Dialect::Opta.word(Status::Failed, Some(&crash)), "killed");
        assert_eq!(Dialect::Opta.word(Status::Failed, Some(&Cause::Exited { code: 1 })), "failed");
        assert_eq!(Dialect::Opta.word(Status::TimedOut, None), "timeout");
        assert_eq!(Dialect::Zidane.word(Status::TimedOut, None), "killed");
        assert_eq!(
            Dialect::Zidane.word(Status::Lost, None),
            "lost",
            "a task without a word is not said to run"
        );
        assert_eq!(Dialect::CoCli.word(Status::Cancelling, None), "running");
        assert_eq!(Dialect::BackgroundTask.word(Status::Resumed, None), "resumed");
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
