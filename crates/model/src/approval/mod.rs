//! Questions to a person: what is proposed, what may become of it, and what an approval is good for.
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
//! A proposal freezes what would happen before anybody is asked; its digest binds the approval to exactly that.

mod proposal;
mod state;

pub use proposal::{ApprovalRecord, Deed, Digest, PROPOSAL_VERSION, Proposal, ProposalId, ProposalIdError};
pub use state::{Answer, ApprovalEvent, ApprovalState, BY_POLICY, Impossible, Remember};
