//! The gate: what a model can reach passes here, and a person is asked where policy says so.
//!
//! ```text
//! call ─▶ policy ─ allow ──────────────────────────────▶ approval (auto)
//!            ├──── deny ──▶ recorded, refused
//!            └──── ask ───▶ proposal, stored ─▶ asker (terminal, elicitation, …) ─┐
//!                                  ▲                                              ├▶ approval (user)
//!                                  └── mw approve · mw deny, from anywhere ───────┘   or refused
//! ```
//!
//! Every answer goes through the store, whoever gave it: the first one counts. An approval binds a digest of
//! everything that would run; a start that is different in anything finds no approval. One that comes after the
//! asker has left is kept for a while, for the next call that asks for exactly the same.

mod answer;
mod around;
mod asker;
mod consent;
mod digest;
mod gate;
mod house;
mod local_files;
mod policy;
mod question;

pub use asker::{Asked, Asker, Nobody};
pub use consent::Approval;
pub use gate::Passage;
pub use house::{HouseRules, RuleText};
pub use local_files::{LocalFiles, project_of};
pub use policy::{Patience, Policy};

pub(crate) use consent::Consent;
pub(crate) use digest::{digest_of_request, digest_of_spec};

use crate::base::part;

part! {
    /// What may run, who is asked, and what was answered.
    Approvals
}
