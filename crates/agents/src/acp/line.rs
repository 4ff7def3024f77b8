//! A standing line to an agent: one process, one conversation, as many turns as somebody wants.
//!
//! The driver of a task holds one turn and is done; a chat goes on. What comes over the line is plain data, what
//! goes over it are a few orders, and nobody who holds it waits for the agent.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, ClientCapabilities, ContentBlock, LoadSessionRequest, NewSessionRequest,
    PermissionOptionKind, PromptRequest, PromptResponse, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome, SessionNotification, SetSessionModeRequest,
    TextContent,
};
use agent_client_protocol::{Agent, Client as ClientRole, Responder, V1};
use mw_model::chat::{Entry, Reply};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::error::AcpError;
use super::heard;
use super::process::{AgentProcess, Start};
use super::talk::{self, OwnServer};
use super::wire;

/// How long an agent may take to end by itself.
const GOODBYE: Duration = Duration::from_secs(2);

/// What a line is opened with.
pub struct LineOptions {
    /// The agent's program and arguments.
    pub command: Vec<String>,
    /// What is added to its environment.
    pub env: Vec<(String, String)>,
    /// Where it works.
    pub cwd: PathBuf,
    /// The program `mw`, for the server it gets.
    pub mw: PathBuf,
    /// What that server's environment holds: the home, the session.
    pub server_env: Vec<(String, String)>,
    /// The mode its conversation is put into.
    pub mode: Option<String>,
    /// Its name for a conversation that is taken up.
    pub known: Option<String>,
    /// Where what it says on standard error goes.
    pub errors: PathBuf,
}

/// Something that came over the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineEvent {
    /// The agent is there and waits for words.
    Ready {
        /// What it calls itself.
        info: Option<String>,
        /// Its name for the conversation.
        session: String,
        /// Whether it can take the conversation up again.
        can_load: bool,
        /// Whether it knows what was said before.
        remembers: bool,
        /// The mode it is in, if it has any.
        mode: Option<String>,
    },
    /// The conversation goes on.
    Entry(Entry),
    /// It wants to do something and asks.
    Asks {
        /// The question's number.
        number: u64,
        /// In a few words.
        what: String,
        /// Everything there is to read.
        lines: Vec<String>,
    },
    /// The turn is over; why it went no further, unless it came to its end.
    TurnEnded(Option<String>),
    /// It said no to something that was no turn.
    Refused(String),
    /// The agent is gone, and the line is closed.
    Gone(String),
}

enum Order {
    Prompt(String),
    Stop,
    Mode(String),
    Answer(u64, Reply),
    Close,
}

/// A line to an agent. Dropped, it is closed without waiting.
pub struct Line {
    orders: UnboundedSender<Order>,
    thread: Option<JoinHandle<()>>,
}

impl Line {
    /// Starts an agent; everything else is told to `heard`.
    #[must_use]
    pub fn open(options: LineOptions, heard: impl Fn(LineEvent) + Send + Sync + 'static) -> Self {
        let (orders, taken) = unbounded_channel();
        let thread = thread::spawn(move || {
            let heard: Arc<Ears> = Arc::new(heard);
            let end = hold(&options, taken, &heard).err();
            if let Some(error) = end {
                heard(LineEvent::Gone(error.to_string()));
            }
        });
        Self { orders, thread: Some(thread) }
    }

    /// Begins a turn.
    pub fn prompt(&self, text: String) {
        self.send(Order::Prompt(text));
    }

    /// Ends the turn that is under way.
    pub fn stop(&self) {
        self.send(Order::Stop);
    }

    /// Wants another mode.
    pub fn set_mode(&self, mode: String) {
        self.send(Order::Mode(mode));
    }

    /// Answers a question.
    pub fn answer(&self, number: u64, reply: Reply) {
        self.send(Order::Answer(number, reply));
    }

    /// Ends the agent and waits for that.
    pub fn close(mut self) {
        self.send(Order::Close);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    fn send(&self, order: Order) {
        // A line that is closed has said so.
        let _ = self.orders.send(order);
    }
}

type Ears = dyn Fn(LineEvent) + Send + Sync;
type Question = (RequestPermissionRequest, Responder<RequestPermissionResponse, V1>);

/// Questions that were not answered yet.
#[derive(Default)]
struct Questions {
    last: AtomicU64,
    open: Mutex<HashMap<u64, Question>>,
}

impl Questions {
    fn add(&self, question: Question) -> u64 {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(number, question);
        number
    }

    fn answer(&self, number: u64, reply: Reply) {
        let question = self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
        if let Some((request, responder)) = question {
            let _ = responder.respond(RequestPermissionResponse::new(chosen(&request, reply)));
        }
    }

    fn cancel_all(&self) {
        let open = std::mem::take(&mut *self.open.lock().unwrap_or_else(PoisonError::into_inner));
        for (_, responder) in open.into_values() {
            let _ = responder.respond(RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled));
        }
    }
}

fn chosen(request: &RequestPermissionRequest, reply: Reply) -> RequestPermissionOutcome {
    let wanted = match reply {
        Reply::Once => [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways],
        Reply::Session => [PermissionOptionKind::AllowAlways, PermissionOptionKind::AllowOnce],
        Reply::Deny => [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways],
    };
    let option = wanted.iter().find_map(|kind| request.options.iter().find(|option| option.kind == *kind));
    match option {
        Some(option) => {
            RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
        }
        None => RequestPermissionOutcome::Cancelled,
    }
}

/// Holds the line until somebody closes it; an error is why it broke.
fn hold(
    options: &LineOptions,
    mut orders: UnboundedReceiver<Order>,
    heard: &Arc<Ears>,
) -> Result<(), AcpError> {
    let failed = |why: String| AcpError::NotStarted { command: options.command.join(" "), why };
    let errors = File::create(&options.errors).map_or_else(|_| Stdio::null(), Stdio::from);
    let start = Start { command: &options.command, env: &options.env, cwd: &options.cwd, stderr: errors };
    let (mut process, stdin, stdout) = AgentProcess::start(start)?;
    let (transport, _) = wire::lines(stdin, stdout);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| failed(error.to_string()))?;
    let questions = Arc::new(Questions::default());
    let replays = Arc::new(AtomicBool::new(false));
    let mut outcome = Err(AcpError::Gone { how: String::new() });
    let place = &mut outcome;
    let (ears, asking, repeats) = (Arc::clone(heard), Arc::clone(&questions), Arc::clone(&replays));
    let asking_ears = Arc::clone(heard);
    let connected = ClientRole
        .v1()
        .name("meanwhile")
        .on_receive_notification(
            async move |notification: SessionNotification, _connection| {
                if !repeats.load(Ordering::SeqCst)
                    && let Some(entry) = heard::entry(&notification.update)
                {
                    ears(LineEvent::Entry(entry));
                }
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _connection| {
                let (what, lines) = heard::question(&request);
                let number = asking.add((request, responder));
                asking_ears(LineEvent::Asks { number, what, lines });
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(transport, async move |connection| {
            let talk = Talk { options, connection, heard, questions: &questions, replays: &replays };
            *place = tokio::select! {
                done = talk.go(&mut orders) => done,
                () = talk.connection.incoming_closed() => Err(AcpError::Gone { how: String::new() }),
            };
            Ok(())
        });
    let _ = runtime.block_on(connected);
    runtime.shutdown_background();
    if let Err(AcpError::Gone { how }) = &mut outcome {
        thread::sleep(Duration::from_millis(20));
        *how = process.ended().unwrap_or_else(|| "it closed its output".to_owned());
        if let Some(last) = last_line(&options.errors) {
            *how = format!("{how}; it said last: {last}");
        }
    }
    process.end(GOODBYE);
    outcome
}

/// Returns the last line that an agent wrote to standard error.
fn last_line(path: &std::path::Path) -> Option<String> {
    const MOST: usize = 300;
    let text = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(line.trim().chars().take(MOST).collect())
}

struct Talk<'a> {
    options: &'a LineOptions,
    connection: ConnectionTo<Agent>,
    heard: &'a Arc<Ears>,
    questions: &'a Questions,
    replays: &'a AtomicBool,
}

impl Talk<'_> {
    async fn go(&self, orders: &mut UnboundedReceiver<Order>) -> Result<(), AcpError> {
        let begun = tokio::select! {
            begun = self.begin() => begun?,
            () = closed(orders) => return Ok(()),
        };
        let mut turns = tokio::task::JoinSet::new();
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    None | Some(Order::Close) => return Ok(()),
                    Some(Order::Prompt(text)) => {
                        let text = ContentBlock::Text(TextContent::new(text));
                        let request = PromptRequest::new(begun.clone(), vec![text]);
                        turns.spawn(self.connection.send_request(request).block_task());
                    }
                    Some(Order::Stop) => {
                        self.questions.cancel_all();
                        let _ = self.connection.send_notification(CancelNotification::new(begun.clone()));
                    }
                    Some(Order::Mode(mode)) => self.set_mode(&begun, mode).await,
                    Some(Order::Answer(number, reply)) => self.questions.answer(number, reply),
                },
                Some(ended) = turns.join_next() => (self.heard)(LineEvent::TurnEnded(turn_end(ended))),
            }
        }
    }

    /// Greets the agent, and begins a conversation or takes one up; returns its name.
    async fn begin(&self) -> Result<String, AcpError> {
        let options = self.options;
        // Files are on the disk and commands are tasks of the server's: a chat has no better ones to offer.
        let greeted = talk::greet_as(&self.connection, ClientCapabilities::new()).await?;
        let can_load = greeted.agent_capabilities.load_session;
        let servers = vec![OwnServer { mw: &options.mw, env: &options.server_env }.described()];
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
        (self.heard)(LineEvent::Ready { info, session: session.clone(), can_load, remembers, mode });
        if let Some(mode) = &options.mode {
            self.set_mode(&session, mode.clone()).await;
        }
        Ok(session)
    }

    async fn set_mode(&self, session: &str, mode: String) {
        let request = SetSessionModeRequest::new(session.to_owned(), mode.clone());
        let set = talk::in_time("session/set_mode", self.connection.send_request(request).block_task()).await;
        (self.heard)(match set {
            Ok(_) => LineEvent::Entry(Entry::Mode { mode }),
            Err(error) => LineEvent::Refused(error.to_string()),
        });
    }
}

/// Returns when the line is to be closed before it stands; words that come too early wait with whoever has them.
async fn closed(orders: &mut UnboundedReceiver<Order>) {
    while !matches!(orders.recv().await, None | Some(Order::Close)) {}
}

type TurnResult = Result<Result<PromptResponse, agent_client_protocol::Error>, tokio::task::JoinError>;

fn turn_end(ended: TurnResult) -> Option<String> {
    match ended {
        Ok(Ok(response)) => match talk::stopped(response.stop_reason) {
            Ok(_) => None,
            Err(AcpError::Stopped { reason }) => Some(reason),
            Err(error) => Some(error.to_string()),
        },
        Ok(Err(error)) => Some(talk::in_words(&error)),
        Err(_) => Some("the turn broke down".to_owned()),
    }
}
