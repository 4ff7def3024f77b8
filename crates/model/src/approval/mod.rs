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
//! A proposal records the exact operation before a person is asked. Its digest binds the approval to that operation.

mod proposal;
mod state;

pub use proposal::{
    ApprovalRecord, Digest, PROPOSAL_VERSION, Proposal, ProposalId, ProposalIdError, ProposedAction,
};
pub use state::{Answer, ApprovalEvent, ApprovalState, BY_POLICY, Impossible, Remember};
