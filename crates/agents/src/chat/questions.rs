//! What a person has to answer: questions of the agent, and of the store.

use std::collections::HashSet;

use meanwhile::Error;
use mw_model::approval::{Answer, ProposalId, Remember};
use mw_model::chat::{ChatNews, ChatQuestion, Entry, Reply};

use super::office::Office;
use super::slash::Answered;

/// Who answered, for the record.
const BY: &str = "the chat";

/// Who asked.
pub(super) enum Source {
    Agent(u64),
    Store(ProposalId),
}

/// What is asked, and by whom.
pub(super) struct Open {
    pub(super) source: Source,
    pub(super) what: String,
    pub(super) lines: Vec<String>,
}

impl Open {
    /// Tells whether this question of the agent's is about the same as one of the store. Our own agent puts what it
    /// asks into the store first, and a person is asked once.
    pub(super) fn is_about(&self, what: &str) -> bool {
        matches!(self.source, Source::Agent(_)) && self.lines.iter().any(|line| line.trim() == what.trim())
    }
}

impl Office<'_> {
    pub(super) fn answer_by_command(&mut self, id: Option<String>, yes: Answered) {
        let open = match &id {
            Some(id) => self.questions.iter().find(|(known, _)| known == id),
            None => self.questions.first(),
        };
        let Some(id) = open.map(|(id, _)| id.clone()) else {
            let text = id.map_or_else(
                || "Nothing is asked.".to_owned(),
                |id| format!("There is no question {id} in this chat."),
            );
            return self.add(Entry::Printed { text });
        };
        let reply = match yes {
            Answered::Yes => Reply::Once,
            Answered::No => Reply::Deny,
        };
        if let Err(error) = self.answer(&id, reply) {
            self.add(Entry::Printed { text: format!("{error}. {}", error.hint()) });
        }
    }

    /// Takes note of what is asked in the store. What is not in the list any more was answered elsewhere, unless it
    /// has just been asked by a command of this chat.
    pub(super) fn proposed(&mut self, asked: Vec<ChatQuestion>) {
        let known: HashSet<_> = asked.iter().map(|question| question.id.clone()).collect();
        let is_over = |id: &String, open: &Open| {
            matches!(&open.source, Source::Store(proposal)
                if !known.contains(id) && self.runtime.find_approval(proposal.as_str()).is_ok_and(|entry| entry.state.word() != "asked"))
        };
        let over: Vec<_> =
            self.questions.iter().filter(|(id, open)| is_over(id, open)).map(|(id, _)| id.clone()).collect();
        for id in over {
            self.settle(&id);
        }
        for question in asked {
            let Ok(proposal) = question.id.parse() else { continue };
            let is_asked = |(id, open): &(String, Open)| *id == question.id || open.is_about(&question.what);
            if !self.questions.iter().any(is_asked) {
                let (what, lines) = (question.what.clone(), question.lines.clone());
                let open = Open { source: Source::Store(proposal), what, lines };
                self.questions.push((question.id.clone(), open));
                (self.tell)(ChatNews::Asked(question));
            }
        }
    }

    pub(super) fn settle(&mut self, id: &str) -> Option<Open> {
        let at = self.questions.iter().position(|(known, _)| known == id)?;
        (self.tell)(ChatNews::Settled(id.to_owned()));
        Some(self.questions.remove(at).1)
    }

    /// Questions of a turn that is over have no answer any more.
    pub(super) fn forget_questions_of_agent(&mut self) {
        let of_agent = self.questions.iter().filter(|(_, open)| matches!(open.source, Source::Agent(_)));
        let ids: Vec<_> = of_agent.map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.settle(&id);
        }
    }

    /// Answers a question; one whose answer could not be given stays open.
    pub(super) fn answer(&mut self, id: &str, reply: Reply) -> Result<(), Error> {
        let Some((_, open)) = self.questions.iter().find(|(known, _)| known == id) else { return Ok(()) };
        match &open.source {
            Source::Agent(number) => self.line.answer(*number, reply),
            Source::Store(proposal) => {
                let answer = match reply {
                    Reply::Once => Answer::Approve(Remember::Once),
                    Reply::Session => Answer::Approve(Remember::Session),
                    Reply::Deny => Answer::Deny(String::new()),
                };
                let answered = self.runtime.answer(proposal, answer, BY);
                if let Err(error) = answered {
                    // Answered elsewhere or run out meanwhile: nobody has to answer it any more.
                    let found = self.runtime.find_approval(proposal.as_str());
                    if found.is_ok_and(|entry| entry.state.word() != "asked") {
                        self.settle(id);
                    }
                    return Err(error);
                }
            }
        }
        if let Some(open) = self.settle(id) {
            self.add(Entry::Answered { what: open.what, reply });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_by_two_ways_is_known_as_the_same() {
        let open = |source| Open {
            source,
            what: "rm".to_owned(),
            lines: vec!["shell".to_owned(), "  rm -rf build".to_owned()],
        };
        assert!(open(Source::Agent(1)).is_about("rm -rf build"));
        assert!(!open(Source::Agent(1)).is_about("rm -rf"));
        let stored = open(Source::Store(ProposalId::from_random(1)));
        assert!(!stored.is_about("rm -rf build"), "two proposals are two questions");
    }
}
