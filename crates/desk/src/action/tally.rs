//! Summarises an action on several tasks: counts for each result, and a line for each task that needs one.

use std::cmp::Reverse;

use meanwhile::Error;

use crate::text::{count, error_text};

/// Counts the outcomes of an action on several tasks.
#[derive(Default)]
pub(super) struct Tally {
    /// Outcomes with their counts.
    outcomes: Vec<(&'static str, usize)>,
    notes: Vec<String>,
}

impl Tally {
    /// Counts an outcome without details.
    pub(super) fn add(&mut self, outcome: &'static str) {
        match self.outcomes.iter_mut().find(|(word, _)| *word == outcome) {
            Some((_, count)) => *count += 1,
            None => self.outcomes.push((outcome, 1)),
        }
    }

    /// Counts an outcome with details.
    pub(super) fn note(&mut self, outcome: &'static str, text: String) {
        self.add(outcome);
        self.notes.push(text);
    }

    /// Counts a failure with its reason.
    pub(super) fn failed(&mut self, id: &str, error: &Error) {
        self.note("not done", format!("{id}: {}", error_text(error)));
    }

    /// Returns the lines to show. For a single task, these are its details. For several tasks, the counts come first,
    /// in descending order.
    pub(super) fn lines(mut self) -> Vec<String> {
        self.outcomes.sort_by_key(|(_, count)| Reverse(*count));
        let total = self.outcomes.iter().map(|(_, count)| count).sum::<usize>();
        if total == 1 && !self.notes.is_empty() {
            return self.notes;
        }
        let first = match &*self.outcomes {
            [] => "nothing to do".to_owned(),
            [(outcome, _)] => format!("{} {outcome}", count(total, "task", "tasks")),
            several => {
                let counted = several.iter().map(|(outcome, count)| format!("{count} {outcome}"));
                let counted = counted.collect::<Vec<_>>().join(", ");
                format!("{}: {counted}", count(total, "task", "tasks"))
            }
        };
        std::iter::once(first).chain(self.notes).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_counted_and_failures_are_listed() {
        let mut tally = Tally::default();
        ["completed", "cancelled", "cancelled"].into_iter().for_each(|word| tally.add(word));
        tally.failed("bash-2", &Error::NotFound("bash-2".to_owned()));
        let lines = tally.lines();
        assert_eq!(lines[0], "4 tasks: 2 cancelled, 1 completed, 1 not done");
        assert!(lines[1].starts_with("bash-2: "), "{lines:?}");
    }

    #[test]
    fn a_single_task_is_described_by_its_details() {
        let mut tally = Tally::default();
        tally.note("running again", "bash-1 runs again, run 2".to_owned());
        assert_eq!(tally.lines(), ["bash-1 runs again, run 2"]);
        let mut tally = Tally::default();
        tally.add("removed");
        assert_eq!(tally.lines(), ["1 task removed"]);
        assert_eq!(Tally::default().lines(), ["nothing to do"]);
    }
}
