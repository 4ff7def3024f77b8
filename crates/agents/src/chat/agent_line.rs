//! The chat's line to its agent, with everything the agent is given.

use std::sync::mpsc::Sender;

use super::ChatOptions;
use super::office::Message;
use crate::acp::{Line, LineOptions};

/// Starts the agent; what comes over its line has this number.
pub(super) fn open_line(
    options: &ChatOptions,
    known: Option<String>,
    mode: Option<String>,
    number: u64,
    messages: &Sender<Message>,
) -> Line {
    let home = options.settings.home.to_string_lossy().into_owned();
    let keep = options.premises.policy.patience.keep.as_secs();
    // The host tells; and somebody is there to be asked.
    let own = [
        ("MEANWHILE_HOME", home),
        ("MEANWHILE_SESSION", options.transcript.session.clone()),
        ("MEANWHILE_TOOLS_NOTICES", "false".to_owned()),
        ("MEANWHILE_APPROVAL_WAIT", format!("{keep}s")),
    ];
    let own: Vec<_> = own.map(|(name, value)| (name.to_owned(), value)).to_vec();
    let mut env = options.agent.env.clone();
    env.extend(own.iter().cloned());
    let line = LineOptions {
        command: options.agent.command.clone(),
        env,
        cwd: options.premises.cwd.clone(),
        mw: options.mw.clone(),
        server_env: own,
        mode: mode.or_else(|| options.agent.mode.clone()),
        known,
        errors: options.transcript.agent_errors(),
        cancel_after: options.cancel_after,
    };
    let messages = messages.clone();
    Line::open(line, move |event| _ = messages.send(Message::Line(number, event)))
}
