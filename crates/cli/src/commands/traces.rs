//! `mw traces`: shows spans as trees, and the state of their export.

use clap::Args;
use meanwhile::engine::{Clock, ExportState, SystemClock, Trace, Urgency};
use serde::Serialize;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::otel::{self, Receiver};
use crate::render::tree;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Show the trace that contains this span; takes the id of a span, a trace or a task
    #[arg(long, value_name = "ID", conflicts_with = "limit")]
    span: Option<String>,
    /// Maximum number of traces to list
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
    /// Send waiting spans now to the receiver in OTEL_EXPORTER_OTLP_ENDPOINT
    #[arg(long, conflicts_with_all = ["span", "limit"])]
    export: bool,
}

#[derive(Serialize)]
struct ListReply<'a> {
    traces: &'a [Trace],
    export: &'a ExportState,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = context.runtime()?;
        if self.export {
            return export(context, &runtime);
        }
        if let Some(name) = &self.span {
            let trace = runtime.traces().trace(name, &context.scope())?;
            return context.show(&trace, || tree::trace(&trace, SystemClock.now(), context.colour()));
        }
        let traces = runtime.traces().list(&context.scope(), self.limit)?;
        let state = runtime.traces().export_state()?;
        let reply = ListReply { traces: &traces, export: &state };
        let now = SystemClock.now();
        context
            .show(&reply, || tree::traces(&traces, now, context.colour()) + &tree::export_state(&state, now))
    }
}

/// Fails if spans were not delivered, because the user asked for it.
fn export(context: &Context, runtime: &meanwhile::engine::Runtime) -> CommandResult {
    let receiver = Receiver::own().ok_or_else(|| {
        CommandError::usage(
            "no receiver for spans is set",
            "set OTEL_EXPORTER_OTLP_ENDPOINT, such as http://localhost:4318",
        )
    })?;
    let state = otel::deliver(runtime, &receiver, Urgency::Now)?;
    context.show(&state, || match tree::export_state(&state, SystemClock.now()) {
        text if text.is_empty() => "No spans are waiting for export.\n".to_owned(),
        text => text,
    })?;
    Ok(if state.waiting > 0 { crate::exit_code::FAILURE } else { 0 })
}
