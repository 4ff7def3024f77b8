//! The thread behind a connection to an agent: it processes requests, turns and answers concurrently.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent_client_protocol::v1::schema::{RequestPermissionRequest, SessionNotification};
use mw_desk::chat::Entry;
use tokio::sync::mpsc::UnboundedReceiver;

use super::entries;
use super::requests::{Added, MAX_REQUESTS, Requests};
use super::session::AgentSession;
use super::{AgentEvent, ConnectionOptions, EventHandler, Order};
use crate::acp::client::{Client, NoObserver};
use crate::acp::error::AcpError;
use crate::acp::handlers::handlers;
use crate::acp::own_agent;
use crate::acp::process::{AgentProcess, Start};
use crate::acp::wire;
use crate::event_loop;

/// How long an agent may take to exit after its input was closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long to wait for the exit status of an agent that has closed its output.
const EXIT_STATUS_TIMEOUT: Duration = Duration::from_millis(500);

/// Runs the connection until it is closed. An error describes why it failed. The client answers the agent's requests.
pub(super) fn run(
    options: &ConnectionOptions,
    client: &Arc<Client<NoObserver>>,
    mut orders: UnboundedReceiver<Order>,
    on_event: &Arc<EventHandler>,
) -> Result<(), AcpError> {
    let failed = |why: String| AcpError::NotStarted { command: options.command.join(" "), why };
    let errors = File::create(&options.errors).map_or_else(|_| Stdio::null(), Stdio::from);
    let start = Start { command: &options.command, env: &options.env, cwd: &options.cwd, stderr: errors };
    let (process, stdin, stdout) = AgentProcess::start(start)?;
    let requests = Arc::new(Requests::default());
    let replays = Arc::new(AtomicBool::new(false));
    let mut outcome = Err(AcpError::Gone { how: String::new() });
    let place = &mut outcome;
    let (on_entry, repeats, shown) = (Arc::clone(on_event), Arc::clone(&replays), Arc::clone(client));
    let update = move |notification: SessionNotification| {
        let is_new = !repeats.load(Ordering::SeqCst);
        let entry = is_new.then(|| entries::entry(&notification.update, &|id| shown.terminals.tail(id)));
        entry.flatten().map(|entry| on_entry(AgentEvent::Entry(entry)))
    };
    let transport = {
        let update = update.clone();
        // Nothing is ever received: this returns when the entry was processed.
        wire::lines_heard(stdin, stdout, move |notification| {
            let _ = update(notification).map(|taken| taken.recv());
        })
    };
    let (on_request, asking) = (Arc::clone(on_event), Arc::clone(&requests));
    // Only the built-in agent may set this, because another agent could hide a request with it.
    let is_own = options.is_own_agent;
    let connected = handlers(client)
        .on_receive_notification(
            async move |notification: SessionNotification, _connection| {
                // Updates that the transport does not recognise arrive here.
                tokio::task::block_in_place(|| update(notification));
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _connection| {
                let (what, lines) = entries::question(&request);
                let proposal = is_own.then(|| own_agent::proposal(&request)).flatten();
                match asking.add((request, responder)) {
                    Added::Number(number) => {
                        on_request(AgentEvent::Asks { number, proposal, what, lines });
                    }
                    Added::FirstRefused => {
                        let text = format!(
                            "more than {MAX_REQUESTS} requests of the agent at once; the rest are refused"
                        );
                        on_request(AgentEvent::Entry(Entry::Note { text }));
                    }
                    Added::Refused => {}
                }
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(transport, async move |connection| {
            let session = AgentSession {
                options,
                connection,
                on_event,
                client,
                requests: &requests,
                replays: &replays,
            };
            *place = tokio::select! {
                done = session.run(&mut orders) => done,
                () = session.connection.incoming_closed() => Err(AcpError::Gone { how: String::new() }),
            };
            Ok(())
        });
    let _ = event_loop::run(connected).map_err(|error| failed(error.to_string()))?;
    if let Err(AcpError::Gone { how }) = &mut outcome {
        *how = process.ended_within(EXIT_STATUS_TIMEOUT).unwrap_or_else(|| "it closed its output".to_owned());
        if let Some(last) = last_line(&options.errors) {
            *how = format!("{how}; last output: {last}");
        }
    }
    process.end(EXIT_TIMEOUT);
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
