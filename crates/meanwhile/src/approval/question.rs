//! An approval request: recorded once, answered by any person.

use std::time::{Duration, Instant};

use mw_model::approval::{ApprovalState, BY_POLICY, Proposal, ProposalId};
use mw_model::clipped;
use mw_policy::Mode;

use super::consent::Consent;
use super::policy::Policy;
use crate::approval::Approvals;
use crate::error::{Error, NoConsent, Result};

/// How often a waiting call checks the database, in case a wake-up was lost.
pub(super) const LOOK_EVERY: Duration = Duration::from_secs(2);

/// How an open approval request was decided.
pub(super) enum Outcome {
    Granted(Consent),
    Refused(Error),
}

impl Approvals<'_> {
    /// Waits until a request of another process is closed or times out. It decides nothing: the requester reads the answer.
    ///
    /// # Errors
    /// When the database fails.
    pub fn await_answer(&self, question: &ProposalId, policy: &Policy) -> Result<()> {
        let ear = self.base.listen()?;
        let until = Instant::now() + patience(policy);
        loop {
            let entry = self.base.store()?.approval(question)?;
            let is_open = entry.is_some_and(|entry| matches!(entry.state, ApprovalState::Open));
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !is_open {
                return Ok(());
            }
            ear.wait(left.min(LOOK_EVERY));
        }
    }

    /// Records an approval request, or finds the same one that is still open or approved.
    pub(super) fn ask_or_join(&self, proposal: &Proposal, policy: &Policy) -> Result<Proposal> {
        self.lapse_approvals(policy.patience.keep)?;
        let joined = self.base.transact(|transaction| {
            let known = transaction.proposed(&proposal.session, &proposal.digest)?;
            let stands = known.filter(|entry| match &entry.state {
                ApprovalState::Open | ApprovalState::Approved { .. } => true,
                // A denial stays valid for a while, so that a person is not asked again at once.
                ApprovalState::Denied { at, by, .. } => {
                    let age = Duration::from_millis(proposal.asked_at.ms_since(*at));
                    by != BY_POLICY && age < policy.patience.keep
                }
                ApprovalState::Used { .. } | ApprovalState::Lapsed { .. } => false,
            });
            if stands.is_none() {
                transaction.propose(proposal, &ApprovalState::Open)?;
            }
            Ok(stands)
        })?;
        if let Some(entry) = joined {
            return Ok(entry.proposal);
        }
        self.base.ring();
        Ok(proposal.clone())
    }

    pub(super) fn enter(&self, proposal: &Proposal, state: &ApprovalState) -> Result<()> {
        self.base.transact(|transaction| Ok(transaction.propose(proposal, state)?))?;
        self.base.ring();
        Ok(())
    }

    pub(super) fn standing(&self, proposal: &Proposal) -> Result<Option<Outcome>> {
        let Some(entry) = self.base.store()?.approval(&proposal.id)? else {
            // The database was removed meanwhile.
            return Ok(Some(Outcome::Refused(refused(proposal, NoConsent::Lost))));
        };
        Ok(match entry.state {
            ApprovalState::Open => None,
            ApprovalState::Approved { at, .. } => Some(Outcome::Granted(Consent {
                proposal: proposal.id.clone(),
                digest: proposal.digest.clone(),
                at,
            })),
            ApprovalState::Denied { why, .. } => {
                Some(Outcome::Refused(refused(proposal, NoConsent::Denied(why))))
            }
            ApprovalState::Used { .. } => Some(Outcome::Refused(refused(proposal, NoConsent::Used))),
            ApprovalState::Lapsed { .. } => Some(Outcome::Refused(refused(proposal, NoConsent::Lapsed))),
        })
    }
}

/// Returns how long a call waits for an answer. In mode ci there is nobody to answer.
pub(super) fn patience(policy: &Policy) -> Duration {
    if policy.mode == Mode::Ci { Duration::ZERO } else { policy.patience.wait }
}

impl Outcome {
    pub(super) fn into_result(self) -> Result<Consent> {
        match self {
            Self::Granted(granted) => Ok(granted),
            Self::Refused(error) => Err(error),
        }
    }
}

fn subject(proposal: &Proposal) -> String {
    const MOST: usize = 200;
    clipped(&proposal.exact(), MOST)
}

/// An approval request that did not lead to an approval.
pub(super) fn refused(proposal: &Proposal, why: NoConsent) -> Error {
    Error::NoConsent { why, what: subject(proposal), proposal: Box::new(proposal.clone()) }
}

/// Why an open approval request has no answer yet.
pub(super) enum Silence {
    /// A person is about to be asked.
    Pending,
    /// Nobody answered within this time.
    Waited(Duration),
    /// It was closed without an answer.
    Dismissed,
}

pub(super) fn unanswered(proposal: &Proposal, silence: &Silence, policy: &Policy) -> Error {
    let waited = match silence {
        Silence::Pending | Silence::Waited(Duration::ZERO) => String::new(),
        Silence::Waited(wait) => format!(", and nobody answered within {} s", wait.as_secs()),
        Silence::Dismissed => ", and the request was closed without an answer".to_owned(),
    };
    Error::NeedsApproval {
        message: format!("approval required{waited}: {}: {}", subject(proposal), proposal.reasons.join("; ")),
        proposal: Box::new(proposal.clone()),
        keep: policy.patience.keep,
    }
}
