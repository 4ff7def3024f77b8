//! An approval request: recorded once, answered by any person.

use std::time::{Duration, Instant};

use mw_model::approval::{ApprovalState, BY_POLICY, Proposal, ProposalId};
use mw_model::clipped;
use mw_policy::Mode;

use super::policy::Policy;
use crate::approval::Approvals;
use crate::error::{Error, NoConsent, Result};
use crate::request::Consent;

/// How often a waiting call checks the database, in case a wake-up was lost.
pub(super) const POLL_INTERVAL: Duration = Duration::from_secs(2);

impl Approvals<'_> {
    /// Waits until a request of another process is closed or times out. It decides nothing: the requester reads the answer.
    ///
    /// # Errors
    /// When the database fails.
    pub fn await_answer(&self, question: &ProposalId, policy: &Policy) -> Result<()> {
        let listener = self.base.listen()?;
        let until = Instant::now() + answer_timeout(policy);
        loop {
            let entry = self.base.database.store()?.approval(question)?;
            let is_open = entry.is_some_and(|entry| matches!(entry.state, ApprovalState::Open));
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !is_open {
                return Ok(());
            }
            listener.wait(left.min(POLL_INTERVAL));
        }
    }

    /// Records an approval request, or finds the same one that is still open or approved.
    pub(super) fn ask_or_join(&self, proposal: &Proposal, policy: &Policy) -> Result<Proposal> {
        self.lapse_approvals(policy.timeouts.keep)?;
        let joined = self.base.database.transact(|transaction| {
            let known = transaction.proposed(proposal)?;
            let open = known.filter(|entry| match &entry.state {
                ApprovalState::Open | ApprovalState::Approved { .. } => true,
                // A denial stays valid for a while, so that a person is not asked again at once.
                ApprovalState::Denied { at, by, .. } => {
                    let age = Duration::from_millis(proposal.asked_at.ms_since(*at));
                    by != BY_POLICY && age < policy.timeouts.keep
                }
                ApprovalState::Used { .. } | ApprovalState::Lapsed { .. } => false,
            });
            if open.is_none() {
                transaction.propose(proposal, &ApprovalState::Open)?;
            }
            Ok(open)
        })?;
        if let Some(entry) = joined {
            return Ok(entry.proposal);
        }
        self.base.database.announce();
        Ok(proposal.clone())
    }

    pub(super) fn enter(&self, proposal: &Proposal, state: &ApprovalState) -> Result<()> {
        self.base.database.transact(|transaction| Ok(transaction.propose(proposal, state)?))?;
        self.base.database.announce();
        Ok(())
    }

    /// Returns how an approval request was decided; `None` while it is open.
    pub(super) fn standing(&self, proposal: &Proposal) -> Result<Option<Result<Consent>>> {
        let entry = self.base.database.store()?.approval(&proposal.id)?;
        let why = match entry.map(|entry| entry.state) {
            Some(ApprovalState::Open) => return Ok(None),
            Some(ApprovalState::Approved { at, .. }) => {
                let (id, digest) = (proposal.id.clone(), proposal.digest.clone());
                return Ok(Some(Ok(Consent { proposal: id, digest, at })));
            }
            Some(ApprovalState::Denied { why, .. }) => NoConsent::Denied(why),
            Some(ApprovalState::Used { .. }) => NoConsent::Used,
            Some(ApprovalState::Lapsed { .. }) => NoConsent::Lapsed,
            // The database was removed meanwhile.
            None => NoConsent::Lost,
        };
        let (what, proposal) = (subject(proposal), Box::new(proposal.clone()));
        Ok(Some(Err(Error::NoConsent { why, what, proposal })))
    }
}

/// Returns how long a call waits for an answer. In mode ci there is nobody to answer.
pub(super) fn answer_timeout(policy: &Policy) -> Duration {
    if policy.mode == Mode::Ci { Duration::ZERO } else { policy.timeouts.wait }
}

fn subject(proposal: &Proposal) -> String {
    const MAX: usize = 200;
    clipped(&proposal.exact(), MAX)
}

/// Why an open approval request has no answer yet.
pub(super) enum NoAnswer {
    /// A person is about to be asked.
    Pending,
    /// Nobody answered within this time.
    Waited(Duration),
    /// It was closed without an answer.
    Dismissed,
}

pub(super) fn unanswered(proposal: &Proposal, no_answer: &NoAnswer, policy: &Policy) -> Error {
    let waited = match no_answer {
        NoAnswer::Pending | NoAnswer::Waited(Duration::ZERO) => String::new(),
        NoAnswer::Waited(wait) => format!(", and nobody answered within {} s", wait.as_secs()),
        NoAnswer::Dismissed => ", and the request was closed without an answer".to_owned(),
    };
    Error::NeedsApproval {
        message: format!("approval required{waited}: {}: {}", subject(proposal), proposal.reasons.join("; ")),
        proposal: Box::new(proposal.clone()),
        keep: policy.timeouts.keep,
    }
}
