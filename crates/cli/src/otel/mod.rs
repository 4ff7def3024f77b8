//! Exports spans over the OpenTelemetry protocol, if the standard `OTEL_*` variables name a receiver.
//!
//! Without the SDK: its processors run in threads of long processes, hide failures, and choose protocols by build features.
//! Here a short process takes waiting spans from the database, sends them in one request, and checks the answer.

mod environment;
mod export;
mod message;

pub(crate) use environment::{Receiver, trace_settings};
pub(crate) use export::deliver;
