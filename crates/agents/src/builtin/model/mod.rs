//! The model: selection, requests and errors.

mod choice;
mod client;
mod failure;

pub use choice::{ModelChoice, ModelError, ModelWishes, Provider};
pub(super) use client::{Model, Reply, Said, Stop, Usage};
pub(super) use failure::Failure;
