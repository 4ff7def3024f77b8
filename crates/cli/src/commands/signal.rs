//! `mw signal`: sends a signal to all processes of a task, and nothing else.

use clap::Args;
use meanwhile::engine::KillRequest;
use meanwhile::engine::model::signal_name;

use super::kill;
use crate::context::Context;
use crate::error::CommandResult;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The signal: a name such as HUP or USR1, or a number
    #[arg(value_name = "SIGNAL", value_parser = kill::parse_signal)]
    signal: i32,
    /// The tasks
    #[arg(required = true)]
    ids: Vec<String>,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        send(context, &self.ids, self.signal)
    }
}

/// Sends a signal to tasks, which go on unless it ends them.
pub(super) fn send(context: &Context, handles: &[String], signal: i32) -> CommandResult {
    let runtime = context.runtime()?;
    let ids = handles.iter().map(|handle| runtime.lookup().resolve_to_act(handle, &context.scope()));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    let named: Vec<_> = ids.iter().map(ToString::to_string).collect();
    let action = format!("send {} to {}", signal_name(signal), named.join(", "));
    context.pass_action(&runtime, "kill", &action)?;
    let request = KillRequest::only_send(context.requester(), signal);
    let sent = runtime.live().kill_all(&ids, &request);
    kill::show(context.json, runtime.directories(), sent, handles.len() == 1)
}
