//! The model: which one, asking it, and what can go wrong.

mod choice;
mod client;
mod failure;

pub use choice::{ModelChoice, ModelError, ModelWishes, Provider};
pub(super) use client::{Model, Reply, Said, Stop, Usage};
pub(super) use failure::Failure;
