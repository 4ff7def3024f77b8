//! What the kernel must prevent for a task with a grant, as concrete paths.
//!
//! ```text
//! grant · project · home of the user · home of meanwhile ─▶ directories that may be changed   (places)
//!                                                         ─▶ files in them that may not        (protected)
//!                                                         ─▶ files that nobody may read        (secrets, services)
//! ```
//!
//! The result only says what exists now. The supervisor enforces it, see `docs/design/confinement.md`.

mod grant;
pub(crate) mod kernel;
mod list;
mod places;
mod plan;
mod protected;
mod refused;
mod repository;
mod secrets;
mod services;

pub(crate) use grant::grant_of;
pub(crate) use plan::{confinement, keeps_variable};
pub(crate) use refused::refused_in;
