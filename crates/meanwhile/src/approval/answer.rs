//! Answering questions, and using up answers.

use std::time::Duration;

use mw_model::approval::{Answer, ApprovalEvent, ApprovalState, Deed, ProposalId};
use mw_model::{CommandSpec, RawText, TaskId, Timestamp};

use super::consent::Consent;
use super::digest::digest_of_request;
use crate::approval::Approvals;
use crate::disk::store::ApprovalEntry;
use crate::error::{Denial, Error, Invalid, Result};
use crate::redact::Redactor;
use crate::request::TaskRequest;

impl Approvals<'_> {
    /// Returns the questions that stand open, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn open_approvals(&self, keep: Duration) -> Result<Vec<ApprovalEntry>> {
        self.lapse_approvals(keep)?;
        Ok(self.base.store()?.open_approvals()?)
    }

    /// Returns the newest questions, newest first, whatever became of them. Secrets are hidden: this is the record,
    /// not what is being approved.
    ///
    /// # Errors
    /// When the database fails.
    pub fn approval_history(&self, most: u32) -> Result<Vec<ApprovalEntry>> {
        let mut entries = self.base.store()?.newest_approvals(most)?;
        for entry in &mut entries {
            let mut known = entry.proposal.secrets.clone();
            if let Deed::Start { env, .. } = &entry.proposal.deed {
                known.extend(env.iter().cloned());
            }
            let redactor = Redactor::new(&self.base.settings.redact, &known);
            if let ApprovalState::Denied { why, .. } = &mut entry.state {
                *why = redactor.text(why).into_owned();
            }
            match &mut entry.proposal.deed {
                Deed::Start { command, steps, env, .. } => {
                    *command = hidden(command, &redactor);
                    *steps = redactor.words(steps);
                    for var in env {
                        let prefix = format!("{}=", var.name.to_lossy());
                        let line = format!("{prefix}{}", var.value.to_lossy());
                        let line = redactor.text(&line);
                        var.value = line.strip_prefix(&prefix).unwrap_or_default().into();
                    }
                }
                Deed::Other { text } => *text = redactor.text(text).into_owned(),
            }
            entry.proposal.reasons = redactor.words(&entry.proposal.reasons);
            entry.proposal.effects = redactor.words(&entry.proposal.effects);
        }
        Ok(entries)
    }

    /// Finds the one proposal that an id or its beginning means.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn find_approval(&self, handle: &str) -> Result<ApprovalEntry> {
        const LEAST: usize = "ask-abc".len();
        let wanted = if handle.starts_with("ask-") { handle.to_owned() } else { format!("ask-{handle}") };
        if wanted.len() < LEAST {
            return Err(Error::NoProposal(handle.to_owned()));
        }
        let mut found = self.base.store()?.approvals_like(&wanted)?;
        match found.len() {
            1 => Ok(found.swap_remove(0)),
            0 => Err(Error::NoProposal(handle.to_owned())),
            _ => Err(Error::Invalid(Invalid::AmbiguousProposal(handle.to_owned()))),
        }
    }

    /// Answers a question, as a person who chose to. They may change their mind until it is done.
    ///
    /// # Errors
    /// When it is done, has lapsed, or was denied by policy; or it is unknown.
    pub fn answer(&self, id: &ProposalId, answer: Answer, by: &str) -> Result<ApprovalEntry> {
        let event = ApprovalEvent::Answered { answer, by: by.to_owned(), at: self.base.clock.now() };
        let entry = self.advance(id, &event)?;
        self.base.ring();
        Ok(entry)
    }

    /// Passes on what somebody said who was asked. Where another was faster, that answer stands.
    ///
    /// # Errors
    /// When the question is unknown, or the database fails.
    pub fn answer_first(&self, id: &ProposalId, answer: Answer, by: &str) -> Result<()> {
        let event = ApprovalEvent::Answered { answer, by: by.to_owned(), at: self.base.clock.now() };
        self.advance_if(id, &event, |state| matches!(state, ApprovalState::Open))?;
        self.base.ring();
        Ok(())
    }

    /// Records that somebody tried to answer who may not.
    ///
    /// # Errors
    /// When the database fails.
    pub fn note_forbidden_answer(&self, id: &ProposalId, who: &str) -> Result<()> {
        let attempt = format!("{} {who}", self.base.clock.now());
        self.base.transact(|transaction| Ok(transaction.note_attempt(id, &attempt)?))
    }

    /// Uses an approval for a start. It must be for exactly this, and still hold.
    pub(crate) fn use_for(&self, granted: &Consent, request: &TaskRequest, task: &TaskId) -> Result<()> {
        if digest_of_request(request) != granted.digest {
            return Err(Error::Denied(Denial::NotAsApproved));
        }
        self.use_up(granted, Some(task.clone()))
    }

    pub(super) fn use_up(&self, granted: &Consent, task: Option<TaskId>) -> Result<()> {
        self.advance(&granted.proposal, &ApprovalEvent::Used { task, at: self.base.clock.now() }).map(drop)
    }

    /// Closes questions that nobody answered and approvals that nobody used.
    pub(crate) fn lapse_approvals(&self, keep: Duration) -> Result<()> {
        let now = self.base.clock.now();
        let keep = u64::try_from(keep.as_millis()).unwrap_or(u64::MAX);
        let is_old = |at: Timestamp| now.ms_since(at) > keep;
        for entry in self.base.store()?.unfinished_approvals()? {
            let old = match &entry.state {
                ApprovalState::Open => is_old(entry.proposal.asked_at),
                ApprovalState::Approved { at, .. } => is_old(*at) && !entry.is_remembered(),
                ApprovalState::Denied { .. } | ApprovalState::Used { .. } | ApprovalState::Lapsed { .. } => {
                    false
                }
            };
            if old {
                // Whoever was faster is right.
                let _ = self.advance(&entry.proposal.id, &ApprovalEvent::Lapsed { at: now });
            }
        }
        Ok(())
    }

    fn advance(&self, id: &ProposalId, event: &ApprovalEvent) -> Result<ApprovalEntry> {
        self.advance_if(id, event, |_| true)
    }

    /// Applies an event where the present state allows it to be tried; else nothing changes.
    fn advance_if(
        &self,
        id: &ProposalId,
        event: &ApprovalEvent,
        applies: impl FnOnce(&ApprovalState) -> bool,
    ) -> Result<ApprovalEntry> {
        self.base.transact(|transaction| {
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
