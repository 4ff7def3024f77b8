//! The checker: compares what the product says with what the witnesses did. It uses no code of the product.

mod endings;
mod limits;
mod merge;
mod notices;
mod once;
mod output;
#[cfg(test)]
mod tests;

use super::actions::Actions;
use super::claims::Task;
use super::facts::{Facts, Run};

/// Everything that is known about a round.
pub(super) struct Evidence<'a> {
    pub(super) facts: &'a Facts,
    pub(super) actions: &'a Actions,
    pub(super) tasks: &'a [Task],
}

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Violation {
    pub(super) promise: Promise,
    pub(super) text: String,
}

/// What is promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Promise {
    Ending,
    Output,
    Notification,
    Limit,
    Once,
    Forgotten,
    Process,
    Command,
}

impl Promise {
    pub(super) const ALL: [Self; 8] = [
        Self::Ending,
        Self::Output,
        Self::Notification,
        Self::Limit,
        Self::Once,
        Self::Forgotten,
        Self::Process,
        Self::Command,
    ];

    pub(super) fn in_words(self) -> &'static str {
        match self {
            Self::Ending => "every exit code is recorded or honestly lost",
            Self::Output => "every byte is there in order or counted as missing",
            Self::Notification => "every end is notified once",
            Self::Limit => "no limit is exceeded",
            Self::Once => "nothing runs twice",
            Self::Forgotten => "no task is forgotten",
            Self::Process => "no process is left",
            Self::Command => "every command returns and none panics",
        }
    }
}

/// Checks all promises that concern tasks.
pub(super) fn all(evidence: &Evidence<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    endings::check(evidence, &mut found);
    output::check(evidence, &mut found);
    notices::check(evidence, &mut found);
    limits::check(evidence, &mut found);
    once::check(evidence, &mut found);
    found
}

impl Evidence<'_> {
    /// Returns how often a supervisor or guardian of a task was killed.
    fn supervisor_kills(&self, id: &str) -> u64 {
        self.actions.supervisor_kills.get(id).copied().unwrap_or_default()
    }

    /// Returns the run whose process a task or an output names. The process of a task on a back-end is its driver, which may not be
    /// known when the end is.
    fn run_of(&self, task: &Task, pid: Option<u32>) -> Option<&Run> {
        let mut runs = self.facts.of(&task.key);
        if task.is_far() { runs.next_back() } else { pid.and_then(|pid| runs.rfind(|run| run.pid == pid)) }
    }

    fn session_has_ended(&self, session: &str) -> bool {
        self.actions.ended_sessions.contains(session)
    }
}
