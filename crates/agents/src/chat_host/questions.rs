//! Approval requests, from the agent and from the store.

use std::collections::HashSet;

use meanwhile::Error;
use mw_desk::OpenRequest;
use mw_desk::chat_protocol::{ApprovalReply, ChatEntry, ChatUpdate};
use mw_desk::text::error_text;
use mw_model::approval::{ApprovalState, ProposalId};

use super::connection::AgentOrder;
use super::core::ChatCore;

/// The source of an approval request.
pub(super) enum Source {
    /// The agent. The built-in agent also adds its request to the store, and the user is asked only once.
    Agent {
        number: u64,
        proposal: Option<ProposalId>,
    },
    Store(ProposalId),
}

/// An open request.
pub(super) struct Open {
    pub(super) source: Source,
    pub(super) what: String,
}

impl Open {
    /// Returns whether this is the agent's copy of the request with that id in the store.
    fn stands_for(&self, id: &str) -> bool {
        matches!(&self.source, Source::Agent { proposal: Some(proposal), .. } if proposal.as_str() == id)
    }
}

impl ChatCore<'_> {
    pub(super) fn answer_by_command(&mut self, id: Option<String>, reply: ApprovalReply) {
        let open = match &id {
            Some(id) => self.questions.iter().find(|(known, _)| known == id),
            None => self.questions.first(),
        };
        let Some(id) = open.map(|(id, _)| id.clone()) else {
            let text = id.map_or_else(
                || "No open approval requests.".to_owned(),
                |id| format!("No approval request {id} in this chat."),
            );
            return self.add(ChatEntry::Printed { text });
        };
        if let Err(error) = self.answer(&id, reply) {
            self.add(ChatEntry::Printed { text: error_text(&error) });
        }
    }

    /// Updates the open requests of the store. A request that is no longer open was answered elsewhere, unless a
    /// command of this chat has just added it.
    pub(super) fn proposed(&mut self, asked: Vec<OpenRequest>) {
        let known: HashSet<_> = asked.iter().map(|question| question.id.as_str()).collect();
        let is_over = |(id, open): &&(String, Open)| match &open.source {
            Source::Store(_) => !known.contains(id.as_str()) && !self.is_open(id),
            Source::Agent { .. } => false,
        };
        let over: Vec<_> = self.questions.iter().filter(is_over).map(|(id, _)| id.clone()).collect();
        for id in over {
            self.settle(&id);
        }
        for question in &asked {
            self.is_asked(question.clone());
        }
        self.stored = asked;
    }

    /// Returns whether a request was open when the store was last read.
    fn is_open(&self, id: &str) -> bool {
        let found = self.runtime.approvals().find_approval(id);
        found.map_or(true, |entry| matches!(entry.state, ApprovalState::Open))
    }

    /// Shows a request of the store, if it is not shown yet.
    pub(super) fn is_asked(&mut self, question: OpenRequest) {
        let Ok(proposal) = question.id.parse() else { return };
        if !self.questions.iter().any(|(id, open)| *id == question.id || open.stands_for(&question.id)) {
            let open = Open { source: Source::Store(proposal), what: question.what.clone() };
            self.questions.push((question.id.clone(), open));
            (self.tell)(ChatUpdate::Asked(question));
        }
    }

    /// Shows a request of the agent.
    pub(super) fn agent_asks(
        &mut self,
        number: u64,
        proposal: Option<ProposalId>,
        for_session: bool,
        what: String,
        mut lines: Vec<String>,
    ) {
        if let Some(stored) = &proposal {
            self.settle(stored.as_str());
            // Only the built-in agent makes the same request here and in the store.
            if self.is_own_agent()
                && let Ok(entry) = self.runtime.approvals().find_approval(stored.as_str())
            {
                lines = OpenRequest::of(&entry.proposal).lines;
            }
        }
        let id = format!("ask-{number}");
        let question = OpenRequest { id: id.clone(), what: what.clone(), lines, for_session };
        self.questions.push((id, Open { source: Source::Agent { number, proposal }, what }));
        (self.tell)(ChatUpdate::Asked(question));
    }

    pub(super) fn settle(&mut self, id: &str) -> Option<Open> {
        let at = self.questions.iter().position(|(known, _)| known == id)?;
        (self.tell)(ChatUpdate::Settled(id.to_owned()));
        Some(self.questions.remove(at).1)
    }

    /// Removes the requests of a turn that has ended. Their entries in the store may still be open.
    pub(super) fn forget_questions_of_agent(&mut self) {
        let of_agent = |open: &Open| matches!(open.source, Source::Agent { .. });
        let ids: Vec<_> =
            self.questions.iter().filter(|(_, open)| of_agent(open)).map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.settle(&id);
        }
        for question in self.stored.clone() {
            if self.is_open(&question.id) {
                self.is_asked(question);
            }
        }
    }

    /// Answers a request. If this fails, the request stays open.
    pub(super) fn answer(&mut self, id: &str, reply: ApprovalReply) -> Result<(), Error> {
        let Some((_, open)) = self.questions.iter().find(|(known, _)| known == id) else { return Ok(()) };
        match &open.source {
            Source::Agent { number, .. } => self.connection.send(AgentOrder::Answer(*number, reply)),
            Source::Store(proposal) => {
                let answered = self.desk.answer(proposal.as_str(), reply);
                if let Err(error) = answered {
                    // The request was answered elsewhere or has expired meanwhile.
                    if !self.is_open(id) {
                        self.settle(id);
                    }
                    return Err(error);
                }
            }
        }
        if let Some(open) = self.settle(id) {
            self.add(ChatEntry::Answered { what: open.what, reply });
        }
        Ok(())
    }
}
