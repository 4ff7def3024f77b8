//! Spans to a receiver of the OpenTelemetry protocol, when the standard `OTEL_*` variables name one.
//!
//! No SDK: its processors live in threads of long processes, hide what failed and choose protocols by build
//! features. Here a short process takes what waits in the database, sends it in one request, and sees the answer.

mod environment;
mod export;
mod message;

pub(crate) use environment::{Receiver, trace_settings};
pub(crate) use export::deliver;
