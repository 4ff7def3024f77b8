//! Answers to approval requests, and their use.

use std::time::Duration;

use mw_model::approval::{Answer, ApprovalEvent, ApprovalState, ProposalId, ProposedAction};
use mw_model::{CommandSpec, RawText, TaskId, Timestamp};

use super::digest::digest_of_request;
use crate::approval::Approvals;
use crate::disk::store::ApprovalEntry;
use crate::error::{Denial, Error, Invalid, Result};
use crate::redact::Redactor;
use crate::request::Consent;
use crate::request::TaskRequest;

impl Approvals<'_> {
    /// Returns the open approval requests, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn open_approvals(&self, keep: Duration) -> Result<Vec<ApprovalEntry>> {
        self.lapse_approvals(keep)?;
        Ok(self.base.database.store()?.open_approvals()?)
    }

    /// Returns the newest approval requests, newest first, in any state. Secrets are hidden, because this is the
    /// record and not the request that is being approved.
    ///
    /// # Errors
    /// When the database fails.
    pub fn approval_history(&self, most: u32) -> Result<Vec<ApprovalEntry>> {
        let mut entries = self.base.database.store()?.newest_approvals(most)?;
        for entry in &mut entries {
            let mut known = entry.proposal.secrets.clone();
            if let ProposedAction::Start { env, .. } = &entry.proposal.action {
                known.extend(env.iter().cloned());
            }
            let redactor = Redactor::new(&self.base.settings.redact, &known);
            if let ApprovalState::Denied { why, .. } = &mut entry.state {
                *why = redactor.text(why).into_owned();
            }
            match &mut entry.proposal.action {
                ProposedAction::Start { command, steps, env, .. } => {
                    *command = hidden(command, &redactor);
                    *steps = redactor.words(steps);
                    for var in env {
                        let prefix = format!("{}=", var.name.to_lossy());
                        let line = format!("{prefix}{}", var.value.to_lossy());
                        let line = redactor.text(&line);
                        var.value = line.strip_prefix(&prefix).unwrap_or_default().into();
                    }
                }
                ProposedAction::Other { text } => *text = redactor.text(text).into_owned(),
            }
            entry.proposal.reasons = redactor.words(&entry.proposal.reasons);
            entry.proposal.effects = redactor.words(&entry.proposal.effects);
        }
        Ok(entries)
    }

    /// Finds the approval request with this id or id prefix.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn find_approval(&self, handle: &str) -> Result<ApprovalEntry> {
        const LEAST: usize = "ask-abc".len();
        let wanted = if handle.starts_with("ask-") { handle.to_owned() } else { format!("ask-{handle}") };
        if wanted.len() < LEAST {
            return Err(Error::NoProposal(handle.to_owned()));
        }
        let mut found = self.base.database.store()?.approvals_like(&wanted)?;
        match found.len() {
            1 => Ok(found.swap_remove(0)),
            0 => Err(Error::NoProposal(handle.to_owned())),
            _ => Err(Error::Invalid(Invalid::AmbiguousProposal(handle.to_owned()))),
        }
    }

    /// Answers a request on a person's explicit command. The answer can be changed until it is used.
    ///
    /// # Errors
    /// When the request is unknown, used, expired, or was denied by policy.
    pub fn answer(&self, id: &ProposalId, answer: Answer, by: &str) -> Result<ApprovalEntry> {
        let event = ApprovalEvent::Answered { answer, by: by.to_owned(), at: self.base.clock.now() };
        let entry = self.advance(id, &event)?;
        self.base.database.announce();
        Ok(entry)
    }

    /// Records the answer of a person who was asked. If there is an answer already, the first one stands.
    ///
    /// # Errors
    /// When the request is unknown, or the database fails.
    pub fn answer_first(&self, id: &ProposalId, answer: Answer, by: &str) -> Result<()> {
        let event = ApprovalEvent::Answered { answer, by: by.to_owned(), at: self.base.clock.now() };
        self.advance_if(id, &event, |state| matches!(state, ApprovalState::Open))?;
        self.base.database.announce();
        Ok(())
    }

    /// Records an answer by a process that may not answer.
    ///
    /// # Errors
    /// When the database fails.
    pub fn note_forbidden_answer(&self, id: &ProposalId, who: &str) -> Result<()> {
        let attempt = format!("{} {who}", self.base.clock.now());
        self.base.database.transact(|transaction| Ok(transaction.note_attempt(id, &attempt)?))
    }

    /// Uses an approval for a start. The approval must be for exactly this request, and still valid.
    pub(crate) fn use_for(&self, granted: &Consent, request: &TaskRequest, task: &TaskId) -> Result<()> {
        if digest_of_request(request) != granted.digest {
            return Err(Error::Denied(Denial::NotAsApproved));
        }
        self.use_up(granted, Some(task.clone()))
    }

    pub(super) fn use_up(&self, granted: &Consent, task: Option<TaskId>) -> Result<()> {
        self.advance(&granted.proposal, &ApprovalEvent::Used { task, at: self.base.clock.now() }).map(drop)
    }

    /// Closes requests that were not answered in time and approvals that were not used in time.
    pub(crate) fn lapse_approvals(&self, keep: Duration) -> Result<()> {
        let now = self.base.clock.now();
        let keep = mw_model::millis(keep);
        let is_old = |at: Timestamp| now.ms_since(at) > keep;
        for entry in self.base.database.store()?.unfinished_approvals()? {
            let old = match &entry.state {
                ApprovalState::Open => is_old(entry.proposal.asked_at),
                ApprovalState::Approved { at, .. } => is_old(*at) && !entry.is_remembered(),
                ApprovalState::Denied { .. } | ApprovalState::Used { .. } | ApprovalState::Lapsed { .. } => {
                    false
                }
            };
            if old {
                // If another process was faster, its change stands.
                let _ = self.advance(&entry.proposal.id, &ApprovalEvent::Lapsed { at: now });
            }
        }
        Ok(())
    }

    fn advance(&self, id: &ProposalId, event: &ApprovalEvent) -> Result<ApprovalEntry> {
        self.advance_if(id, event, |_| true)
    }

    /// Applies an event if it is allowed in the current state. Otherwise nothing changes.
    fn advance_if(
        &self,
        id: &ProposalId,
        event: &ApprovalEvent,
        applies: impl FnOnce(&ApprovalState) -> bool,
    ) -> Result<ApprovalEntry> {
        self.base.database.transact(|transaction| {
            let mut entry = transaction.approval(id)?.ok_or_else(|| Error::NoProposal(id.to_string()))?;
            if !applies(&entry.state) {
                return Ok(entry);
            }
            entry.state = entry.state.next(event).map_err(|impossible| {
                Error::Denied(Denial::Closed { id: id.clone(), why: impossible.to_string() })
            })?;
            transaction.set_approval(id, &entry.state)?;
            Ok(entry)
        })
    }
}

fn hidden(command: &CommandSpec, redactor: &Redactor) -> CommandSpec {
    match command {
        CommandSpec::Shell { program, script } => CommandSpec::Shell {
            program: program.clone(),
            script: redactor.text(&script.to_lossy()).as_ref().into(),
        },
        CommandSpec::Argv(words) => {
            let words: Vec<_> = words.iter().map(RawText::to_lossy).collect();
            CommandSpec::Argv(redactor.words(&words).iter().map(|word| word.as_str().into()).collect())
        }
    }
}
