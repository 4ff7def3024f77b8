//! The model: selection, requests and errors.

mod choice;
mod client;
mod failure;

pub use choice::{ModelChoice, ModelError, ModelOptions, Provider};
pub(super) use client::{AnswerPiece, Model, ModelReply, ModelStop, TokenUsage};
pub(super) use failure::Failure;
