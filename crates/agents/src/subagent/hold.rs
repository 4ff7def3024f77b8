//! The thread behind a connection to an agent: it processes requests, turns and answers concurrently.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_client_protocol::Agent;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, ClientCapabilities, ContentBlock, PromptRequest, PromptResponse,
    RequestPermissionRequest, SessionNotification, TextContent,
};
use mw_desk::chat::Entry;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::asking;
use super::asking::{Added, MOST, Questions};
use super::client::{Client, Witness};
use super::connection::{AgentEvent, ConnectionOptions, Ears, Offer, Order, Services, TurnEnd};
use super::error::AcpError;
use super::given::Given;
use super::heard;
use super::opening;
use super::opening::{Opened, Opening, OwnServer};
use super::permissions::Answer;
use super::process::{AgentProcess, Start};
use super::quirks::Quirks;
use super::serving::serving;
use super::talk;
use super::terminals::Terminals;
use super::wire;
use crate::event_loop;

/// How long an agent may take to exit by itself.
const GOODBYE: Duration = Duration::from_secs(1);
/// How long to wait for the exit status of an agent whose output has ended.
const LAST_WORD: Duration = Duration::from_millis(500);

/// A chat already shows what its agent does.
struct Onlooker;

impl Witness for Onlooker {
    fn hears(&self) {}

    fn waits_for(&self, _: Option<String>) {}

    fn decided(&self, _: &str, _: &Answer) {}

    fn opened(&self, _: &str, _: &str) {}
}

/// Serves the requests of the agent.
fn client(services: Services, cwd: PathBuf, quirks: Quirks) -> Client<Onlooker> {
    Client {
        witness: Onlooker,
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
        given: Given::default(),
        quirks,
        root: services.root,
    }
}

/// Runs the connection until it is closed; an error says why it failed.
pub(super) fn hold(
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
    let questions = Arc::new(Questions::default());
    let replays = Arc::new(AtomicBool::new(false));
    let mut outcome = Err(AcpError::Gone { how: String::new() });
    let place = &mut outcome;
    let (ears, repeats, shown) = (Arc::clone(heard), Arc::clone(&replays), Arc::clone(&client));
    let update = move |notification: SessionNotification| {
        let is_new = !repeats.load(Ordering::SeqCst);
        let entry = is_new.then(|| heard::entry(&notification.update, &|id| shown.terminals.tail(id)));
        entry.flatten().map(|entry| ears(AgentEvent::Entry(entry)))
    };
    let transport = {
        let update = update.clone();
        // Nothing is ever sent: this returns when the entry was processed.
        wire::lines_heard(stdin, stdout, move |notification| {
            let _ = update(notification).map(|taken| taken.recv());
        })
    };
    let (asking_ears, asking) = (Arc::clone(heard), Arc::clone(&questions));
    // Only our own agent may set this: another could hide a request with it.
    let is_own = options.offer == Offer::Nothing;
    let connected = serving(&client)
        .on_receive_notification(
            async move |notification: SessionNotification, _connection| {
                // Some agents use another form.
                tokio::task::block_in_place(|| update(notification));
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _connection| {
                let (what, lines) = heard::question(&request);
                let proposal = is_own.then(|| asking::proposal(&request)).flatten();
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
            let talk = Talk {
                options,
                connection,
                heard,
                client: &client,
                questions: &questions,
                replays: &replays,
            };
            *place = tokio::select! {
                done = talk.go(&mut orders) => done,
                () = talk.connection.incoming_closed() => Err(AcpError::Gone { how: String::new() }),
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

struct Talk<'a> {
    options: &'a ConnectionOptions,
    connection: ConnectionTo<Agent>,
    heard: &'a Arc<Ears>,
    client: &'a Arc<Client<Onlooker>>,
    questions: &'a Questions,
    replays: &'a AtomicBool,
}

impl Talk<'_> {
    async fn go(&self, orders: &mut UnboundedReceiver<Order>) -> Result<(), AcpError> {
        let (begun, ready) = tokio::select! {
            begun = self.begin() => begun?,
            () = closed(orders) => return Ok(()),
        };
        // Not before: a request that arrives during the set-up would be lost.
        (self.heard)(ready);
        let mut turns = JoinSet::new();
        // Concurrently with the requests: an agent may not answer one while it waits for an answer from us.
        let mut wishes = JoinSet::new();
        let mut stopping = Stopping::No;
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    None | Some(Order::Close) => return Ok(()),
                    Some(Order::Prompt(text)) => {
                        self.questions.begin_turn();
                        let text = ContentBlock::Text(TextContent::new(text));
                        let request = PromptRequest::new(begun.clone(), vec![text]);
                        turns.spawn(self.connection.send_request(request).block_task());
                    }
                    Some(Order::Stop) => {
                        self.questions.cancel_all();
                        let _ = self.connection.send_notification(CancelNotification::new(begun.clone()));
                        stopping = match stopping {
                            Stopping::No if turns.is_empty() => Stopping::No,
                            Stopping::No => Stopping::Until(Instant::now() + self.options.cancel_after),
                            Stopping::Until(then) => Stopping::Until(then),
                            Stopping::Overdue => return Err(AcpError::Unstopped),
                        };
                    }
                    Some(Order::Mode(mode)) => _ = wishes.spawn(set_mode(&self.connection, &begun, mode)),
                    Some(Order::Answer(number, reply)) => {
                        let (given, cwd) = (&self.client.given, &self.client.terminals.cwd);
                        self.questions.answer(number, reply, |request| given.give(request, cwd));
                    }
                },
                Some(ended) = turns.join_next() => {
                    stopping = Stopping::No;
                    self.client.given.forget();
                    let client = Arc::clone(self.client);
                    // Before the event is sent, because the next turn depends on it.
                    let _ = tokio::task::spawn_blocking(move || client.terminals.leave_all()).await;
                    (self.heard)(AgentEvent::TurnEnded(turn_end(ended)?));
                }
                Some(Ok(event)) = wishes.join_next() => {
                    (self.heard)(event);
                }
                () = stopping.overdue() => {
                    stopping = Stopping::Overdue;
                    (self.heard)(AgentEvent::Unstopped(self.options.cancel_after));
                }
            }
        }
    }

    /// Initialises the agent and creates or loads a session. Returns the session's id and the event to send.
    async fn begin(&self) -> Result<(String, AgentEvent), AcpError> {
        let options = self.options;
        let greeted = match options.offer {
            Offer::Nothing => opening::greet_as(&self.connection, ClientCapabilities::new()).await?,
            Offer::Services => opening::greet(&self.connection, Quirks::of(&options.command)).await?,
        };
        let can_load = greeted.agent_capabilities.load_session;
        let server = OwnServer { mw: &options.mw, dialect: options.dialect, env: &options.server_env };
        let opening = Opening { connection: &self.connection, cwd: &options.cwd, server: server.described() };
        let mut taken_up = None;
        if let Some(known) = options.known.as_ref().filter(|_| can_load) {
            let replays = |replays| self.replays.store(replays, Ordering::SeqCst);
            taken_up = match opening.take_up(known, replays).await {
                // The person is informed, and a new session is created.
                Err(AcpError::Expired { .. }) => None,
                opened => Some(opened?),
            };
        }
        let remembers = taken_up.is_some();
        let Opened { session, mode } = match taken_up {
            Some(opened) => opened,
            None => opening.begin().await?,
        };
        let info = greeted.agent_info.as_ref().map(opening::title);
        if let Some(mode) = &options.mode {
            (self.heard)(set_mode(&self.connection, &session, mode.clone()).await);
        }
        let ready = AgentEvent::Ready { info, session: session.clone(), can_load, remembers, mode };
        Ok((session, ready))
    }
}

/// Whether the turn was asked to stop.
#[derive(Clone, Copy)]
enum Stopping {
    No,
    /// It was, and has time until then.
    Until(Instant),
    /// The time is over. If it is asked again, the agent is killed.
    Overdue,
}

impl Stopping {
    /// Returns when the turn has had enough time to stop.
    async fn overdue(self) {
        match self {
            Self::Until(then) => tokio::time::sleep_until(then).await,
            Self::No | Self::Overdue => std::future::pending().await,
        }
    }
}

/// Sets the agent's mode, in the order of the calls. Returns the result as an event.
fn set_mode(
    connection: &ConnectionTo<Agent>,
    session: &str,
    mode: String,
) -> impl Future<Output = AgentEvent> + Send + 'static {
    let set = opening::set_mode(connection, session, &mode);
    async move {
        match set.await {
            Ok(()) => AgentEvent::Entry(Entry::Mode { mode }),
            Err(error) => AgentEvent::ModeRefused { mode, why: error.to_string() },
        }
    }
}

/// Returns when the connection is closed during set-up. Messages that come too early are kept by their sender.
async fn closed(orders: &mut UnboundedReceiver<Order>) {
    while !matches!(orders.recv().await, None | Some(Order::Close)) {}
}

type TurnResult = Result<Result<PromptResponse, agent_client_protocol::Error>, tokio::task::JoinError>;

fn turn_end(ended: TurnResult) -> Result<TurnEnd, AcpError> {
    match ended {
        Ok(Ok(response)) => Ok(match talk::stopped(response.stop_reason) {
            Ok(_) => TurnEnd::Done,
            Err(AcpError::Stopped { reason }) => TurnEnd::Early(reason),
            Err(error) => TurnEnd::Early(error.to_string()),
        }),
        Ok(Err(error)) if opening::is_hang_up(&error) => Err(AcpError::Gone { how: String::new() }),
        Ok(Err(error)) => {
            // Our own agent reports whether it recorded the message before it failed.
            let heard = error.data.as_ref().and_then(|data| data.get(asking::HEARD)?.as_bool());
            let why = opening::in_words(&error);
            Ok(if heard == Some(true) { TurnEnd::Early(why) } else { TurnEnd::Refused(why) })
        }
        Err(_) => Ok(TurnEnd::Refused("the turn failed unexpectedly".to_owned())),
    }
}
