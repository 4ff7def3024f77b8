//! Requests that several kinds of load make.

use super::Stage;
use crate::lab::actions::{Answer, Receipt, Start};
use crate::lab::client::Outcome;

impl Stage<'_> {
    /// Notes a request before it is made: the client may be killed before it answers.
    pub(super) fn note_start(&self, key: &str, start: Start) {
        self.book.actions().starts.insert(key.to_owned(), start);
    }

    /// Notes what a start has answered.
    pub(super) fn note_answer(&self, key: &str, answer: Answer) {
        if let Some(start) = self.book.actions().starts.get_mut(key) {
            start.answer = answer;
        }
    }

    /// Returns the keys and ids of the tasks that a session has started.
    pub(super) fn started(&self, session: &str) -> Vec<(String, String)> {
        let actions = self.book.actions();
        let of_session = actions.starts.iter().filter(|(_, start)| start.session == session);
        of_session
            .filter_map(|(key, start)| match &start.answer {
                Answer::Started(id) => Some((key.clone(), id.clone())),
                Answer::Refused(_) | Answer::Unknown => None,
            })
            .collect()
    }
}

/// Returns the answer of a command that starts a task.
pub(super) fn answer_of(outcome: &Outcome) -> Answer {
    let id = outcome.json()["id"].text().map(str::to_owned);
    match id {
        Some(id) => Answer::Started(id),
        None if outcome.was_killed() => Answer::Unknown,
        None => Answer::Refused(outcome.stderr.clone() + &outcome.stdout),
    }
}

/// Takes the notifications of a session, as its owner.
pub(in crate::lab) fn take_notices(stage: &Stage<'_>, session: &str, limits: &[&str]) -> Outcome {
    let before = stage.book.actions().database_faults;
    let words = ["notices", "--session", session, "--json"];
    let outcome = if limits.is_empty() { stage.mw(None, &words) } else { limited(stage, limits, &words) };
    let is_certain = outcome.is_success();
    let is_in_doubt = stage.book.actions().database_faults > before;
    let json = outcome.json();
    for notice in json["notices"].items() {
        let receipt = Receipt {
            id: notice["task"].text().unwrap_or_default().to_owned(),
            run: notice["run"].number(),
            status: notice["status"].text().unwrap_or_default().to_owned(),
            is_certain,
            is_in_doubt,
        };
        stage
            .book
            .log(&format!("notice {session} {} run {:?} certain {is_certain}", receipt.id, receipt.run));
        stage.book.actions().receipts.push(receipt);
    }
    outcome
}

/// Runs `mw` under the limits of `prlimit`.
pub(super) fn limited(stage: &Stage<'_>, limits: &[&str], words: &[&str]) -> Outcome {
    let mut command = stage.world.command("prlimit".as_ref(), None);
    command.args(limits).arg(stage.world.mw()).args(words);
    stage.run(command)
}
