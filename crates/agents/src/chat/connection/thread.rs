//! The thread behind a connection to an agent: it processes requests, turns and answers concurrently.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_client_protocol::v1::schema::{RequestPermissionRequest, SessionNotification};
use mw_desk::chat::Entry;
use tokio::sync::mpsc::UnboundedReceiver;

use super::conversation::Conversation;
use super::entries;
use super::requests::{Added, MOST, Requests};
use super::{AgentEvent, ConnectionOptions, Ears, Offer, Order, Services};
use crate::acp::approved::Approved;
use crate::acp::client::{Client, Observer};
use crate::acp::error::AcpError;
use crate::acp::handlers::handlers;
use crate::acp::own_agent;
use crate::acp::permissions::Answer;
use crate::acp::process::{AgentProcess, Start};
use crate::acp::quirks::Quirks;
use crate::acp::terminals::Terminals;
use crate::acp::wire;
use crate::event_loop;

/// How long an agent may take to exit by itself.
const GOODBYE: Duration = Duration::from_secs(1);
/// How long to wait for the exit status of an agent whose output has ended.
const LAST_WORD: Duration = Duration::from_millis(500);

/// The chat shows what its agent does, so the operations need no record.
pub(super) struct NoObserver;

impl Observer for NoObserver {
    fn hears(&self) {}

    fn waits_for(&self, _: Option<String>) {}

    fn decided(&self, _: &str, _: &Answer) {}

    fn opened(&self, _: &str, _: &str) {}
}

/// Serves the requests of the agent.
fn client(services: Services, cwd: PathBuf, quirks: Quirks) -> Client<NoObserver> {
    Client {
        observer: NoObserver,
        terminals: Terminals {
            settings: services.settings,
            session: services.session,
            shell: services.shell,
            cwd,
            env: services.env,
            limits: services.limits,
            teller: Some(services.teller),
            known: Mutex::default(),
        },
        permissions: services.permissions,
        approved: Approved::default(),
        quirks,
        root: services.root,
    }
}

/// Runs the connection until it is closed; an error says why it failed.
pub(super) fn run(
    options: &ConnectionOptions,
    mut orders: UnboundedReceiver<Order>,
    heard: &Arc<Ears>,
) -> Result<(), AcpError> {
    let failed = |why: String| AcpError::NotStarted { command: options.command.join(" "), why };
    let errors = File::create(&options.errors).map_or_else(|_| Stdio::null(), Stdio::from);
    let start = Start { command: &options.command, env: &options.env, cwd: &options.cwd, stderr: errors };
    let (process, stdin, stdout) = AgentProcess::start(start)?;
    let client =
        Arc::new(client(options.services.clone(), options.cwd.clone(), Quirks::of(&options.command)));
    let requests = Arc::new(Requests::default());
    let replays = Arc::new(AtomicBool::new(false));
    let mut outcome = Err(AcpError::Gone { how: String::new() });
    let place = &mut outcome;
    let (ears, repeats, shown) = (Arc::clone(heard), Arc::clone(&replays), Arc::clone(&client));
    let update = move |notification: SessionNotification| {
        let is_new = !repeats.load(Ordering::SeqCst);
        let entry = is_new.then(|| entries::entry(&notification.update, &|id| shown.terminals.tail(id)));
        entry.flatten().map(|entry| ears(AgentEvent::Entry(entry)))
    };
    let transport = {
        let update = update.clone();
        // Nothing is ever received: this returns when the entry was processed.
        wire::lines_heard(stdin, stdout, move |notification| {
            let _ = update(notification).map(|taken| taken.recv());
        })
    };
    let (asking_ears, asking) = (Arc::clone(heard), Arc::clone(&requests));
    // Only our own agent may set this, because another agent could hide a request with it.
    let is_own = options.offer == Offer::Nothing;
    let connected = handlers(&client)
        .on_receive_notification(
            async move |notification: SessionNotification, _connection| {
                // Updates of another form than the transport knows arrive here.
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
                        asking_ears(AgentEvent::Asks { number, proposal, what, lines });
                    }
                    Added::FirstRefused => {
                        let text =
                            format!("more than {MOST} requests of the agent at once; the rest are refused");
                        asking_ears(AgentEvent::Entry(Entry::Note { text }));
                    }
                    Added::Refused => {}
                }
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(transport, async move |connection| {
            let conversation = Conversation {
                options,
                connection,
                heard,
                client: &client,
                requests: &requests,
                replays: &replays,
            };
            *place = tokio::select! {
                done = conversation.run(&mut orders) => done,
                () = conversation.connection.incoming_closed() => Err(AcpError::Gone { how: String::new() }),
            };
            Ok(())
        });
    let _ = event_loop::run(connected).map_err(|error| failed(error.to_string()))?;
    if let Err(AcpError::Gone { how }) = &mut outcome {
        *how = process.ended_within(LAST_WORD).unwrap_or_else(|| "it closed its output".to_owned());
        if let Some(last) = last_line(&options.errors) {
            *how = format!("{how}; last output: {last}");
        }
    }
    process.end(GOODBYE);
    outcome
}

/// Returns the last line that an agent wrote to standard error.
fn last_line(path: &Path) -> Option<String> {
    const MOST: usize = 300;
    const TAIL: u64 = 4096;
    let mut file = File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(TAIL))).ok()?;
    let mut text = Vec::new();
    file.take(TAIL).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(line.trim().chars().take(MOST).collect())
}
