//! The gate: every call of a model passes it, and a person is asked where policy requires it.
//!
//! ```text
//! call ─▶ policy ─ allow ──────────────────────────────▶ approval (auto)
//!            ├──── deny ──▶ recorded, refused
//!            └──── ask ───▶ proposal, stored ─▶ asker (terminal, elicitation, …) ─┐
//!                                  ▲                                              ├▶ approval (user)
//!                                  └── mw approve · mw deny, from anywhere ───────┘   or refused
//! ```
//!
//! Every answer goes through the store, and the first one counts. An approval binds a digest of everything that would
//! run, so a start that differs in any way has no approval. An approval that arrives after the caller has left is
//! kept for a while, for the next call with exactly the same request.

mod answer;
mod asker;
mod digest;
mod enclosing;
mod gate;
mod local_files;
mod policy;
mod question;
mod session_policy;
mod temporary;

pub use asker::{AskOutcome, Asker, Nobody};
pub use gate::GatedCall;
pub use local_files::{LocalFiles, project_of};
pub use policy::{ApprovalTimeouts, Policy};
pub use session_policy::{RuleText, SessionPolicy};

pub(crate) use digest::{digest_of_request, digest_of_spec};
pub(crate) use temporary::{TEMPORARY, is_temporary};

use crate::base::part;

part! {
    /// Decides what may run, asks for approval, and records the answers.
    pub struct Approvals;
}
