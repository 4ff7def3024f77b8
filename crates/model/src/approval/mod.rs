//! Approval requests: what is proposed, the states of a proposal, and what an approval covers.
//!
//! ```text
//! open ──approve──▶ approved ──use──▶ used
//!  │ ╲                ▲ │ ╲
//!  │  ╲          approve│ │deny ╲
//!  │   ╲               │ ▼      ╲
//!  │    ╲────deny───▶ denied     ╲
//!  └───────── lapse ──────────────▶ lapsed
//! ```
//!
//! A `proposal` records the exact operation before a person is asked, and `question` shows it. Its digest binds the approval to that
//! operation. `state` decides the next state of a proposal.

mod proposal;
mod proposal_id;
mod question;
mod state;

pub use proposal::{ApprovalRecord, Digest, PROPOSAL_VERSION, Proposal, ProposedAction};
pub use proposal_id::{ProposalId, ProposalIdError};
pub use state::{Answer, ApprovalEvent, ApprovalState, BY_POLICY, Impossible, Remember};
