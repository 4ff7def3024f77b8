//! The one thread of a chat that decides: what is said to the agent and when, what is shown, what is kept.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use meanwhile::{DeliveryPolicy, Error, Host, Runtime};
use mw_desk::chat::{AgentState, ChatNews, ChatOrder, ChatQuestion, ChatTask, Entry};
use mw_desk::{Access, Desk};

use super::announcing::{Announcement, Announcing};
use super::ledger::Ledger;
use super::questions::{Open, Source};
use super::slash::{Desktop, HELP, Queue, Slash};
use super::unwritten::Unwritten;
use super::{ChatOptions, Tell, TranscriptError, watch};
use crate::subagent::{Line, LineEvent};

/// What the office is told.
pub(super) enum Message {
    /// By the screen.
    Order(ChatOrder),
    /// By the agent, on this line; whoever waits until it was taken in waits until the last of it is dropped.
    Line(u64, LineEvent, Sender<()>),
    /// Something happened to tasks.
    Happened,
    /// Nothing did, for a while.
    Quiet,
    /// These questions are open in the store, and no others.
    Proposed(Vec<ChatQuestion>),
    /// This question was just put there.
    Asked(ChatQuestion),
    /// By a command that was carried out; banners may have waited for this line.
    Printed(String, Option<Announcement>),
    /// Something failed.
    Failed(String),
    /// It is over.
    Close,
}

pub(super) struct Office<'r> {
    pub(super) options: ChatOptions,
    pub(super) runtime: &'r Runtime,
    pub(super) host: Rc<Host<'r>>,
    pub(super) desk: Desk,
    pub(super) desktop: Arc<Desktop>,
    pub(super) messages: Sender<Message>,
    pub(super) tell: &'r Arc<Tell>,
    pub(super) line: Line,
    /// How many lines there have been; what comes over an earlier one is not heard.
    pub(super) lines: u64,
    pub(super) state: AgentState,
    /// Whether this line has not carried a turn yet.
    pub(super) is_fresh: bool,
    /// What tool calls have come to and the transcript does not have.
    pub(super) unwritten: Unwritten,
    /// What of the conversation has reached the agent.
    pub(super) ledger: Ledger,
    /// The agent's mode, and one that was chosen and is not set yet.
    pub(super) mode: Option<String>,
    pub(super) wanted: Option<String>,
    /// What the person said while a turn was under way, or no agent was there.
    pub(super) waiting: VecDeque<String>,
    /// Words over which an agent has gone already: they are said once more, not for ever.
    pub(super) fatal: Option<String>,
    /// Questions that a person has to answer, oldest first.
    pub(super) questions: Vec<(String, Open)>,
    /// Those of the store, as they were when they were last looked at.
    pub(super) stored: Vec<ChatQuestion>,
    pub(super) tasks: Vec<ChatTask>,
}

impl Office<'_> {
    /// Works until the chat is closed.
    pub(super) fn work(
        options: ChatOptions,
        messages: Sender<Message>,
        inbox: &Receiver<Message>,
        tell: &Arc<Tell>,
    ) -> Result<(), TranscriptError> {
        let mut kept = Ok(());
        let worked = Runtime::open(options.settings.clone()).and_then(|runtime| {
            let session = options.transcript.session.clone();
            let host = runtime.host(&session, DeliveryPolicy::Immediate)?;
            let keep = options.premises.policy.patience.keep;
            watch::start(options.settings.clone(), session, keep, messages.clone());
            let mut office = Office::new(options, &runtime, host, messages, tell);
            office.begin();
            office.line = office.open_line();
            for message in inbox {
                if matches!(message, Message::Close) {
                    break;
                }
                if let Err(error) = office.take(message) {
                    office.note(format!("{error}. {}", error.hint()));
                }
            }
            let ended;
            (kept, ended) = office.close();
            ended
        });
        if let Err(error) = worked {
            tell(ChatNews::Failed(format!("the chat cannot go on: {error}. {}", error.hint())));
        }
        kept
    }

    fn new<'r>(
        options: ChatOptions,
        runtime: &'r Runtime,
        host: Host<'r>,
        messages: Sender<Message>,
        tell: &'r Arc<Tell>,
    ) -> Office<'r> {
        let mut premises = options.premises.clone();
        // Somebody is there to answer, so a question waits as long as it may be answered.
        premises.policy.patience.wait = premises.policy.patience.keep;
        let (settings, layout) = (options.settings.clone(), options.layout);
        let desktop = Arc::new(Desktop {
            settings,
            premises,
            layout,
            dialect: options.dialect,
            messages: messages.clone(),
            queue: Queue::default(),
            announcing: Announcing::default(),
        });
        let desk = Desk::new(Access {
            settings: options.settings.clone(),
            session: Some(host.session().to_owned()),
            requester: "the user, in the chat".to_owned(),
            screen: "the chat".to_owned(),
            inside: None,
            keep: options.premises.policy.patience.keep,
        });
        let ledger = Ledger::of(&options.transcript.entries);
        let (lines, mode) = (1, options.mode.clone());
        Office {
            options,
            runtime,
            host: Rc::new(host),
            desk,
            desktop,
            messages,
            tell,
            line: Line::closed(),
            lines,
            state: AgentState::Starting,
            is_fresh: true,
            unwritten: Unwritten::default(),
            ledger,
            mode,
            wanted: None,
            waiting: VecDeque::new(),
            fatal: None,
            questions: Vec::new(),
            stored: Vec::new(),
            tasks: Vec::new(),
        }
    }

    /// Shows what was there before.
    fn begin(&mut self) {
        let before = std::mem::take(&mut self.options.transcript.entries);
        let unsent = std::mem::take(&mut self.ledger.unsent);
        let lost = self.ledger.flight.take();
        let was_cut_off = self.ledger.is_under_way;
        let resumed = !before.is_empty();
        before.into_iter().for_each(|entry| (self.tell)(ChatNews::Entry(entry)));
        let damaged = self.options.transcript.damaged;
        let cwd = self.options.premises.cwd.to_string_lossy().into_owned();
        self.add(Entry::Opened { agent: self.options.agent.name.clone(), cwd });
        if let Some(remark) = self.options.remark.take() {
            self.note(remark);
        }
        if damaged > 0 {
            self.note(format!("{damaged} lines of the transcript could not be read and are not shown"));
        }
        if was_cut_off {
            self.add(Entry::TurnEnded { early: Some("the chat ended in the middle of it".to_owned()) });
        }
        if let Some(lost) = lost {
            // The person sees their own words above and decides; nobody else would tell what they did not write.
            self.not_heard(lost.numbers);
        }
        for text in unsent {
            self.note(format!("not sent before the chat ended: {text}"));
        }
        if resumed {
            (self.tell)(ChatNews::Replayed);
        }
        self.set_state(AgentState::Starting);
    }

    fn take(&mut self, message: Message) -> Result<(), Error> {
        match message {
            Message::Order(order) => self.obey(order)?,
            Message::Line(line, event, taken) => {
                if line == self.lines {
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
                // What was asked, or moved, may be over without any event of a task.
                if !self.tasks.is_empty() {
                    self.look_at_tasks()?;
                }
            }
            Message::Proposed(questions) => self.proposed(questions),
            Message::Asked(question) => self.is_asked(question),
            Message::Printed(text, announcement) => {
                self.add(Entry::Printed { text });
                drop(announcement);
                self.look_at_tasks()?;
                self.look_at_notices()?;
            }
            Message::Failed(text) => self.note(text),
        }
        Ok(())
    }

    /// Shows an entry and keeps it.
    pub(super) fn add(&mut self, entry: Entry) {
        self.ledger.take(&entry);
        for due in self.unwritten.before(&entry) {
            if let Err(error) = self.options.transcript.add(&due) {
                let text =
                    format!("the transcript cannot be written, what is said waits until it can: {error}");
                (self.tell)(ChatNews::Failed(text));
            }
        }
        (self.tell)(ChatNews::Entry(entry));
    }

    pub(super) fn note(&mut self, text: String) {
        self.add(Entry::Note { text });
    }

    pub(super) fn set_state(&mut self, state: AgentState) {
        self.state = state.clone();
        (self.tell)(ChatNews::Agent(state));
    }

    fn obey(&mut self, order: ChatOrder) -> Result<(), Error> {
        match order {
            ChatOrder::Say(text) if text.starts_with('/') => self.command(text),
            ChatOrder::Say(text) => {
                if self.state != AgentState::Idle {
                    self.add(Entry::Waits { text: text.clone() });
                }
                self.waiting.push_back(text);
                self.tell_waiting();
                if self.state == AgentState::Gone {
                    self.call_again();
                }
                self.go_on()?;
            }
            ChatOrder::Stop => self.line.stop(),
            ChatOrder::Kill(id) => self.kill(id),
            ChatOrder::MoveToBackground => self.move_to_background()?,
            ChatOrder::Answer(id, reply) => self.answer(&id, reply)?,
            ChatOrder::Leave => {
                let looked = self.look_at_tasks().map_err(|error| error.to_string());
                (self.tell)(ChatNews::Leaving(looked.map(|()| self.tasks.clone())));
            }
        }
        Ok(())
    }

    fn command(&mut self, text: String) {
        let parsed = Slash::parse(text.trim_end());
        self.add(Entry::Command { text });
        match parsed {
            Ok(Slash::Help) => self.add(Entry::Printed { text: HELP.to_owned() }),
            Ok(Slash::Mode(mode)) => self.choose_mode(mode),
            Ok(Slash::Answer { id, yes }) => self.answer_by_command(id, yes),
            Ok(command) => self.desktop.run(command),
            Err(text) => self.add(Entry::Printed { text }),
        }
    }

    fn hear(&mut self, event: LineEvent) -> Result<(), Error> {
        match event {
            LineEvent::Ready { info, session, can_load, remembers, mode } => {
                if self.ledger.has_talked && !remembers {
                    self.note("the agent does not remember this conversation; it begins anew".to_owned());
                }
                self.add(Entry::Joined { info, session, can_load });
                if let Some(mode) = mode.filter(|_| self.mode.is_none()) {
                    self.mode = Some(mode.clone());
                    self.add(Entry::Mode { mode });
                }
                // It was chosen while nobody was there to take it.
                if let Some(mode) = self.wanted.clone() {
                    self.line.set_mode(mode);
                }
                self.set_state(AgentState::Idle);
                self.look_at_tasks()?;
                self.look_at_notices()?;
                self.go_on()?;
            }
            LineEvent::Entry(entry) => {
                if let Entry::Mode { mode } = &entry {
                    self.mode = Some(mode.clone());
                    self.wanted.take_if(|wanted| wanted == mode);
                }
                self.add(entry);
            }
            LineEvent::Asks { number, proposal, what, lines } => {
                self.agent_asks(Source::Agent { number, proposal }, what, lines);
            }
            LineEvent::TurnEnded(end) => self.turn_ended(end)?,
            LineEvent::Unstopped(after) => {
                let seconds = after.as_secs_f32();
                self.note(format!("the agent has not stopped for {seconds} s; Esc once more ends it"));
            }
            LineEvent::ModeRefused { mode, why } => self.mode_refused(&mode, &why),
            LineEvent::Gone(how) => {
                self.gone(&how);
                self.look_at_tasks()?;
            }
        }
        Ok(())
    }

    /// Ends the tasks first and waits for them, then the agent, then what it may have started in between.
    fn close(mut self) -> (Result<(), TranscriptError>, Result<(), Error>) {
        for due in self.unwritten.rest() {
            // What cannot be written is said at the end.
            let _ = self.options.transcript.add(&due);
        }
        let end = || self.host.end_tasks("the end of the chat");
        self.line.stop();
        let ended = end();
        self.line.close();
        let ended = ended.and(end()).and_then(|kills| kills.all_done().map(drop));
        (self.options.transcript.close(), ended)
    }
}
