//! The thread of a chat that makes all decisions: what is sent to the agent, shown on the screen and recorded.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use meanwhile::Error;
use meanwhile::engine::{DeliveryPolicy, Runtime, SessionHolder};
use mw_desk::chat_protocol::{AgentCommand, AgentState, ChatEntry, ChatOrder, ChatTask, ChatUpdate};
use mw_desk::text::error_text;
use mw_desk::{Access, Desk, OpenRequest};

use super::announcing::{Announcement, Announcing};
use super::command_runner::{CommandRunner, Queue};
use super::connection::{AgentConnection, AgentEvent, AgentOrder};
use super::ledger::Ledger;
use super::questions::Open;
use super::unwritten::Unwritten;
use super::{ChatOptions, Tell, TranscriptError, watch};

/// A message to the core.
pub(super) enum Message {
    /// An order from the screen.
    AgentOrder(ChatOrder),
    /// An event from the agent, over the connection with this number. The agent waits until the last field is dropped.
    Agent(u64, AgentEvent, Sender<()>),
    /// Tasks have changed.
    Happened,
    /// No task has changed for a while.
    Quiet,
    /// The list of approval requests that are open in the store.
    Proposed(Vec<OpenRequest>),
    /// This request was just added to the store.
    Asked(OpenRequest),
    /// The output of a slash command. Notifications may have waited for it.
    Printed(String, Option<Announcement>),
    /// Something failed.
    Failed(String),
    /// The chat ends.
    Close,
}

pub(super) struct ChatCore<'r> {
    pub(super) options: ChatOptions,
    pub(super) runtime: &'r Runtime,
    pub(super) host: Rc<SessionHolder<'r>>,
    pub(super) desk: Desk,
    pub(super) runner: Arc<CommandRunner>,
    pub(super) messages: Sender<Message>,
    pub(super) tell: &'r Arc<Tell>,
    pub(super) connection: AgentConnection,
    /// The number of the current connection. Events from earlier ones are ignored.
    pub(super) connections: u64,
    pub(super) state: AgentState,
    /// Whether this connection has had no turn yet.
    pub(super) is_fresh: bool,
    /// Updates of tool calls that are not in the transcript yet.
    pub(super) unwritten: Unwritten,
    /// Which messages and notifications have reached the agent.
    pub(super) ledger: Ledger,
    /// The agent's mode, and a chosen mode that is not set yet.
    pub(super) mode: Option<String>,
    pub(super) wanted: Option<String>,
    /// Messages that were written during a turn or while no agent was running.
    pub(super) waiting: VecDeque<String>,
    /// A message after which an agent has exited. It is sent once more, but not repeatedly.
    pub(super) fatal: Option<String>,
    /// The slash commands of the agent.
    pub(super) commands: Vec<AgentCommand>,
    /// Open approval requests, oldest first.
    pub(super) questions: Vec<(String, Open)>,
    /// The open requests of the store when it was last read.
    pub(super) stored: Vec<OpenRequest>,
    pub(super) tasks: Vec<ChatTask>,
}

impl ChatCore<'_> {
    /// Runs until the chat is closed.
    pub(super) fn work(
        options: ChatOptions,
        messages: Sender<Message>,
        inbox: &Receiver<Message>,
        tell: &Arc<Tell>,
    ) -> Result<(), TranscriptError> {
        let mut kept = Ok(());
        let worked = options.home.clone().with(|runtime| {
            let session = options.transcript.session.clone();
            let host = runtime.notifications().host(&session, DeliveryPolicy::Immediate)?;
            let keep = options.call_settings.policy.timeouts.keep;
            watch::start(options.home.settings().clone(), session, keep, messages.clone());
            let mut core = ChatCore::new(options, runtime, host, messages, tell);
            core.begin();
            core.connection = core.connect();
            for message in inbox {
                if matches!(message, Message::Close) {
                    break;
                }
                if let Err(error) = core.take(message) {
                    core.note(error_text(&error));
                }
            }
            let ended;
            (kept, ended) = core.close();
            ended
        });
        if let Err(error) = worked {
            tell(ChatUpdate::Failed(format!("the chat cannot continue: {}", error_text(&error))));
        }
        kept
    }

    fn new<'r>(
        options: ChatOptions,
        runtime: &'r Runtime,
        host: SessionHolder<'r>,
        messages: Sender<Message>,
        tell: &'r Arc<Tell>,
    ) -> ChatCore<'r> {
        let mut call_settings = options.call_settings.clone();
        // A person is present, so a request waits as long as it can be answered.
        call_settings.policy.timeouts.wait = call_settings.policy.timeouts.keep;
        let (home, layout) = (options.home.clone(), options.layout);
        let runner = Arc::new(CommandRunner {
            home,
            call_settings,
            layout,
            dialect: options.dialect,
            messages: messages.clone(),
            queue: Queue::default(),
            announcing: Announcing::default(),
        });
        let desk = Desk::new(Access {
            settings: options.home.settings().clone(),
            session: Some(host.session().to_owned()),
            requester: "the user, in the chat".to_owned(),
            screen: "the chat".to_owned(),
            inside: None,
            keep: options.call_settings.policy.timeouts.keep,
        });
        let ledger = Ledger::of(&options.transcript.entries);
        let (connections, mode) = (1, options.mode.clone());
        ChatCore {
            options,
            runtime,
            host: Rc::new(host),
            desk,
            runner,
            messages,
            tell,
            connection: AgentConnection::closed(),
            connections,
            state: AgentState::Starting,
            is_fresh: true,
            unwritten: Unwritten::default(),
            ledger,
            mode,
            wanted: None,
            waiting: VecDeque::new(),
            fatal: None,
            commands: Vec::new(),
            questions: Vec::new(),
            stored: Vec::new(),
            tasks: Vec::new(),
        }
    }

    /// Shows the earlier entries.
    fn begin(&mut self) {
        let before = std::mem::take(&mut self.options.transcript.entries);
        let unsent = std::mem::take(&mut self.ledger.unsent);
        let lost = self.ledger.in_flight.take();
        let was_cut_off = self.ledger.is_under_way;
        let resumed = !before.is_empty();
        before.into_iter().for_each(|entry| (self.tell)(ChatUpdate::Entry(entry)));
        let damaged = self.options.transcript.damaged;
        let cwd = self.options.call_settings.cwd.to_string_lossy().into_owned();
        self.add(ChatEntry::Opened { agent: self.options.agent.name.clone(), cwd });
        if let Some(remark) = self.options.remark.take() {
            self.note(remark);
        }
        if damaged > 0 {
            let lines = mw_model::count(damaged, "line", "lines");
            self.note(format!("{lines} of the transcript could not be read; not shown"));
        }
        if was_cut_off {
            self.add(ChatEntry::TurnEnded { early: Some("the chat ended during this call".to_owned()) });
        }
        if let Some(lost) = lost {
            // The user sees the unsent messages and can send them again.
            self.record_unreceived(lost.numbers);
        }
        for text in unsent {
            self.note(format!("not sent, because the chat ended: {text}"));
        }
        if resumed {
            (self.tell)(ChatUpdate::Replayed);
        }
        self.set_state(AgentState::Starting);
    }

    fn take(&mut self, message: Message) -> Result<(), Error> {
        match message {
            Message::AgentOrder(order) => self.obey(order)?,
            Message::Agent(line, event, taken) => {
                if line == self.connections {
                    self.hear(event)?;
                }
                drop(taken);
            }
            Message::Close => {}
            Message::Happened => {
                self.look_at_tasks()?;
                self.look_at_notices()?;
            }
            Message::Quiet => {
                // A request may be answered, or a call moved to the background, without a task event.
                if !self.tasks.is_empty() {
                    self.look_at_tasks()?;
                }
            }
            Message::Proposed(questions) => self.proposed(questions),
            Message::Asked(question) => self.is_asked(question),
            Message::Printed(text, announcement) => {
                self.add(ChatEntry::Printed { text });
                drop(announcement);
                self.look_at_tasks()?;
                self.look_at_notices()?;
            }
            Message::Failed(text) => self.note(text),
        }
        Ok(())
    }

    /// Shows an entry and adds it to the transcript.
    pub(super) fn add(&mut self, entry: ChatEntry) {
        self.ledger.take(&entry);
        for due in self.unwritten.add(&entry) {
            if let Err(error) = self.options.transcript.add(&due) {
                let text = format!(
                    "cannot write the transcript; messages are kept in memory until it works: {error}"
                );
                (self.tell)(ChatUpdate::Failed(text));
            }
        }
        (self.tell)(ChatUpdate::Entry(entry));
    }

    pub(super) fn note(&mut self, text: String) {
        self.add(ChatEntry::Note { text });
    }

    pub(super) fn set_state(&mut self, state: AgentState) {
        self.state = state.clone();
        (self.tell)(ChatUpdate::Agent(state));
    }

    /// Ends the tasks first and waits for them, then the agent, then tasks that it may have started in between.
    fn close(mut self) -> (Result<(), TranscriptError>, Result<(), Error>) {
        for due in self.unwritten.rest() {
            // A write error is reported at the end.
            let _ = self.options.transcript.add(&due);
        }
        let end = || self.host.end_tasks("the end of the chat");
        self.connection.send(AgentOrder::Stop);
        let ended = end();
        self.connection.close();
        let ended = ended.and(end()).and_then(|kills| kills.all_done().map(drop));
        (self.options.transcript.close(), ended)
    }
}
