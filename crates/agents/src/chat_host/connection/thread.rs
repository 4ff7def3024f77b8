//! The thread behind a connection to an agent: it starts the process and ends it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedReceiver;

use super::session::ChatSession;
use super::{AgentOrder, ChatObserver, ConnectionOptions};
use crate::acp::client::Client;
use crate::acp::converse::converse;
use crate::acp::error::AcpError;
use crate::acp::process::{AgentProcess, GOODBYE, Start};

/// Runs the connection until it is closed. An error describes why it failed.
pub(super) fn run(
    options: &ConnectionOptions,
    client: &Arc<Client<ChatObserver>>,
    orders: &mut UnboundedReceiver<AgentOrder>,
) -> Result<(), AcpError> {
    let stderr = File::create(&options.errors).map_or_else(|_| Stdio::null(), Stdio::from);
    let cwd = &client.permissions.cwd;
    let start = Start { command: &options.command, env: &options.env, cwd, stderr };
    let (process, stdin, stdout) = AgentProcess::start(start)?;
    let mut outcome = converse(client, (Box::new(stdin), Box::new(stdout)), async |connection| {
        let chat = ChatSession { options, client };
        tokio::select! {
            done = chat.run(connection.clone(), orders) => done,
            () = connection.incoming_closed() => Err(AcpError::gone()),
        }
    });
    if let Err(AcpError::Gone { how }) = &mut outcome {
        *how = process.how_it_ended();
        if let Some(last) = last_line(&options.errors) {
            *how = format!("{how}; last output: {last}");
        }
    }
    process.end(GOODBYE);
    outcome
}

/// Returns the last line that an agent wrote to standard error.
fn last_line(path: &Path) -> Option<String> {
    const MAX_CHARS: usize = 300;
    const TAIL: u64 = 4096;
    let mut file = File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(TAIL))).ok()?;
    let mut text = Vec::new();
    file.take(TAIL).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(line.trim().chars().take(MAX_CHARS).collect())
}
