//! Holds a line to an agent: one connection, on which orders, turns and answers pass each other.

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
    CancelNotification, ClientCapabilities, ContentBlock, LoadSessionRequest, NewSessionRequest,
    PromptRequest, PromptResponse, RequestPermissionRequest, SessionNotification, SetSessionModeRequest,
    TextContent,
};
use mw_desk::chat::Entry;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::asking;
use super::asking::{Added, MOST, Questions};
use super::client::{Client, Witness};
use super::error::AcpError;
use super::given::Given;
use super::heard;
use super::line::{Ears, LineEvent, LineOptions, Offer, Order, Services, TurnEnd};
use super::permissions::Answer;
use super::process::{AgentProcess, Start};
use super::quirks::Quirks;
use super::serving::serving;
use super::talk;
use super::talk::OwnServer;
use super::terminals::Terminals;
use super::wire;

/// How long an agent may take to end by itself.
const GOODBYE: Duration = Duration::from_secs(1);
/// How long it may take until the system knows how an agent ended whose output has.
const LAST_WORD: Duration = Duration::from_millis(500);

/// A chat shows what its agent does by itself.
struct Onlooker;

impl Witness for Onlooker {
    fn hears(&self) {}

    fn waits_for(&self, _: Option<String>) {}

    fn decided(&self, _: &str, _: &Answer) {}

    fn opened(&self, _: &str, _: &str) {}
}

/// Serves the agent what it wants done.
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

/// Holds the line until somebody closes it; an error is why it broke.
pub(super) fn hold(
    options: &LineOptions,
    mut orders: UnboundedReceiver<Order>,
    heard: &Arc<Ears>,
) -> Result<(), AcpError> {
    let failed = |why: String| AcpError::NotStarted { command: options.command.join(" "), why };
    let errors = File::create(&options.errors).map_or_else(|_| Stdio::null(), Stdio::from);
    let start = Start { command: &options.command, env: &options.env, cwd: &options.cwd, stderr: errors };
    let (process, stdin, stdout) = AgentProcess::start(start)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| failed(error.to_string()))?;
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
        entry.flatten().map(|entry| ears(LineEvent::Entry(entry)))
    };
    let transport = {
        let update = update.clone();
        // Nothing is ever sent: it ends when the entry was taken in.
        wire::lines_heard(stdin, stdout, move |notification| {
            let _ = update(notification).map(|taken| taken.recv());
        })
    };
    let (asking_ears, asking) = (Arc::clone(heard), Arc::clone(&questions));
    // Another's word counts for nothing there: it could hide a question.
    let is_own = options.offer == Offer::Nothing;
    let connected = serving(&client)
        .on_receive_notification(
            async move |notification: SessionNotification, _connection| {
                // One that is written in another way than most.
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
                        asking_ears(LineEvent::Asks { number, proposal, what, lines });
                    }
                    Added::FirstRefused => {
                        let text =
                            format!("the agent asks more than {MOST} things at once; the rest is refused");
                        asking_ears(LineEvent::Entry(Entry::Note { text }));
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
    let _ = runtime.block_on(connected);
    runtime.shutdown_background();
    if let Err(AcpError::Gone { how }) = &mut outcome {
        *how = process.ended_within(LAST_WORD).unwrap_or_else(|| "it closed its output".to_owned());
        if let Some(last) = last_line(&options.errors) {
            *how = format!("{how}; it said last: {last}");
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
    options: &'a LineOptions,
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
        // Not before: an order that comes while the line is being made is lost.
        (self.heard)(ready);
        let mut turns = JoinSet::new();
        // Beside the orders: an agent may leave a wish open for as long as it waits for an answer of ours.
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
                    // Before it is said: what is told next must know that these are news.
                    let _ = tokio::task::spawn_blocking(move || client.terminals.leave_all()).await;
                    (self.heard)(LineEvent::TurnEnded(turn_end(ended)?));
                }
                Some(Ok(event)) = wishes.join_next() => {
                    (self.heard)(event);
                }
                () = stopping.overdue() => {
                    stopping = Stopping::Overdue;
                    (self.heard)(LineEvent::Unstopped(self.options.cancel_after));
                }
            }
        }
    }

    /// Greets the agent, and begins a conversation or takes one up; returns its name, and what to say of it.
    async fn begin(&self) -> Result<(String, LineEvent), AcpError> {
        let options = self.options;
        let greeted = match options.offer {
            Offer::Nothing => talk::greet_as(&self.connection, ClientCapabilities::new()).await?,
            Offer::Services => talk::greet(&self.connection, Quirks::of(&options.command)).await?,
        };
        let can_load = greeted.agent_capabilities.load_session;
        let servers = vec![
            OwnServer { mw: &options.mw, dialect: options.dialect, env: &options.server_env }.described(),
        ];
        let mut taken_up = None;
        if let Some(known) = options.known.as_ref().filter(|_| can_load) {
            let request = LoadSessionRequest::new(known.clone(), options.cwd.clone());
            self.replays.store(true, Ordering::SeqCst);
            let request = self.connection.send_request(request.mcp_servers(servers.clone()));
            let loaded = talk::in_time("session/load", request.block_task()).await;
            self.replays.store(false, Ordering::SeqCst);
            match loaded {
                Ok(loaded) => {
                    let mode = loaded.modes.map(|modes| modes.current_mode_id.0.to_string());
                    taken_up = Some((known.clone(), mode));
                }
                // It has forgotten; the person is told, and it begins anew.
                Err(AcpError::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let remembers = taken_up.is_some();
        let (session, mode) = match taken_up {
            Some(known) => known,
            None => {
                let request = NewSessionRequest::new(options.cwd.clone()).mcp_servers(servers);
                let request = self.connection.send_request(request).block_task();
                let made = talk::in_time("session/new", request).await?;
                let mode = made.modes.map(|modes| modes.current_mode_id.0.to_string());
                (made.session_id.0.to_string(), mode)
            }
        };
        let info = greeted.agent_info.as_ref().map(talk::title);
        if let Some(mode) = &options.mode {
            (self.heard)(set_mode(&self.connection, &session, mode.clone()).await);
        }
        let ready = LineEvent::Ready { info, session: session.clone(), can_load, remembers, mode };
        Ok((session, ready))
    }
}

/// Whether the turn was asked to stop.
#[derive(Clone, Copy)]
enum Stopping {
    No,
    /// It was, and has until then.
    Until(Instant),
    /// It has not; asked once more, the agent is ended.
    Overdue,
}

impl Stopping {
    /// Returns when the turn has had its time to stop.
    async fn overdue(self) {
        match self {
            Self::Until(then) => tokio::time::sleep_until(then).await,
            Self::No | Self::Overdue => std::future::pending().await,
        }
    }
}

/// Wants another mode of the agent, in the order of the calls; returns what came of it.
fn set_mode(
    connection: &ConnectionTo<Agent>,
    session: &str,
    mode: String,
) -> impl Future<Output = LineEvent> + Send + 'static {
    let request = SetSessionModeRequest::new(session.to_owned(), mode.clone());
    let set = connection.send_request(request).block_task();
    async move {
        match talk::in_time("session/set_mode", set).await {
            Ok(_) => LineEvent::Entry(Entry::Mode { mode }),
            Err(error) => LineEvent::ModeRefused { mode, why: error.to_string() },
        }
    }
}

/// Returns when the line is to be closed before it stands; words that come too early wait with whoever has them.
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
        Ok(Err(error)) if talk::is_hang_up(&error) => Err(AcpError::Gone { how: String::new() }),
        Ok(Err(error)) => {
            // Our own agent says whether it has kept what was said before it failed.
            let heard = error.data.as_ref().and_then(|data| data.get(asking::HEARD)?.as_bool());
            let why = talk::in_words(&error);
            Ok(if heard == Some(true) { TurnEnd::Early(why) } else { TurnEnd::Refused(why) })
        }
        Err(_) => Ok(TurnEnd::Refused("the turn broke down".to_owned())),
    }
}
