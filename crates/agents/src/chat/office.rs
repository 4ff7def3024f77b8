//! The one thread of a chat that decides: what is said to the agent and when, what is shown, what is kept.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use meanwhile::{DeliveryPolicy, Error, Host, Moment, Runtime};
use mw_model::chat::{AgentState, ChatNews, ChatOrder, ChatQuestion, ChatTask, Entry};
use mw_model::policy::Mode;
use mw_model::{Notice, Turn};

use super::agent_line::open_line;
use super::questions::{Open, Source};
use super::slash::{Desktop, HELP, Slash};
use super::{ChatOptions, Tell, Wake, watch};
use crate::acp::{Line, LineEvent};

/// What the office is told.
pub(super) enum Message {
    /// By the screen.
    Order(ChatOrder),
    /// By the agent, on this line.
    Line(u64, LineEvent),
    /// Something happened to tasks.
    Happened,
    /// Nothing did, for a while.
    Quiet,
    /// These questions are open in the store.
    Proposed(Vec<ChatQuestion>),
    /// By a command that was carried out.
    Printed(String),
    /// Something failed.
    Failed(String),
    /// It is over.
    Close,
}

pub(super) struct Office<'r> {
    pub(super) options: ChatOptions,
    pub(super) runtime: &'r Runtime,
    pub(super) host: Host<'r>,
    pub(super) desktop: Arc<Desktop>,
    pub(super) messages: Sender<Message>,
    pub(super) tell: &'r Arc<Tell>,
    pub(super) line: Line,
    /// How many lines there have been; what comes over an earlier one is not heard.
    pub(super) lines: u64,
    pub(super) state: AgentState,
    /// The agent's name for the conversation, if it can take that up again.
    pub(super) known: Option<String>,
    /// Whether anything was said that an agent could remember.
    pub(super) has_talked: bool,
    pub(super) mode: Option<String>,
    /// What the person said while a turn was under way, or no agent was there.
    pub(super) waiting: VecDeque<String>,
    /// Notices that were shown, and those that went to the agent.
    pub(super) shown: HashSet<i64>,
    pub(super) told: HashSet<i64>,
    /// Questions that a person has to answer, oldest first.
    pub(super) questions: Vec<(String, Open)>,
    pub(super) tasks: Vec<ChatTask>,
}

impl Office<'_> {
    /// Works until the chat is closed.
    pub(super) fn work(
        options: ChatOptions,
        messages: Sender<Message>,
        inbox: &Receiver<Message>,
        tell: &Arc<Tell>,
    ) {
        let worked = Runtime::open(options.settings.clone()).and_then(|runtime| {
            let session = options.transcript.session.clone();
            let host = runtime.host(&session, DeliveryPolicy::Immediate)?;
            let keep = options.premises.policy.patience.keep;
            watch::start(options.settings.clone(), session, keep, messages.clone());
            let mut office = Office::new(options, &runtime, host, messages, tell);
            office.begin();
            for message in inbox {
                if matches!(message, Message::Close) {
                    break;
                }
                if let Err(error) = office.take(message) {
                    office.note(format!("{error}. {}", error.hint()));
                }
            }
            office.close()
        });
        if let Err(error) = worked {
            tell(ChatNews::Failed(format!("the chat cannot go on: {error}. {}", error.hint())));
        }
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
        let desktop = Arc::new(Desktop { settings, premises, layout, messages: messages.clone() });
        let known = options.transcript.entries.iter().rev().find_map(|entry| match entry {
            Entry::Joined { session, can_load: true, .. } => Some(session.clone()),
            _ => None,
        });
        let (lines, mode) = (1, options.mode.clone());
        let line = open_line(&options, known.clone(), mode.clone(), lines, &messages);
        Office {
            options,
            runtime,
            host,
            desktop,
            messages,
            tell,
            line,
            lines,
            state: AgentState::Starting,
            known,
            has_talked: false,
            mode,
            waiting: VecDeque::new(),
            shown: HashSet::new(),
            told: HashSet::new(),
            questions: Vec::new(),
            tasks: Vec::new(),
        }
    }

    /// Shows what was there before.
    fn begin(&mut self) {
        let before = std::mem::take(&mut self.options.transcript.entries);
        let mut under_way = false;
        for entry in &before {
            match entry {
                Entry::Notice { notice } => _ = self.shown.insert(notice.number),
                Entry::Told { numbers } => self.told.extend(numbers),
                Entry::User { .. } => (self.has_talked, under_way) = (true, true),
                Entry::TurnEnded { .. } => under_way = false,
                _ => {}
            }
        }
        let resumed = !before.is_empty();
        before.into_iter().for_each(|entry| (self.tell)(ChatNews::Entry(entry)));
        let damaged = self.options.transcript.damaged;
        let cwd = self.options.premises.cwd.to_string_lossy().into_owned();
        self.add(Entry::Opened { agent: self.options.agent.name.clone(), cwd });
        if damaged > 0 {
            self.note(format!("{damaged} lines of the transcript could not be read and are not shown"));
        }
        if under_way {
            self.add(Entry::TurnEnded { early: Some("the chat ended in the middle of it".to_owned()) });
        }
        if resumed {
            (self.tell)(ChatNews::Replayed);
        }
        self.set_state(AgentState::Starting);
    }

    fn take(&mut self, message: Message) -> Result<(), Error> {
        match message {
            Message::Order(order) => self.obey(order)?,
            Message::Line(line, event) if line == self.lines => self.hear(event)?,
            Message::Line(..) | Message::Close => {}
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
            Message::Printed(text) => self.add(Entry::Printed { text }),
            Message::Failed(text) => self.note(text),
        }
        Ok(())
    }

    /// Shows an entry and keeps it.
    pub(super) fn add(&mut self, entry: Entry) {
        if let Err(error) = self.options.transcript.add(&entry) {
            (self.tell)(ChatNews::Failed(format!("the transcript cannot be written: {error}")));
        }
        (self.tell)(ChatNews::Entry(entry));
    }

    pub(super) fn note(&mut self, text: String) {
        self.add(Entry::Note { text });
    }

    fn set_state(&mut self, state: AgentState) {
        self.state = state.clone();
        (self.tell)(ChatNews::Agent(state));
    }

    fn obey(&mut self, order: ChatOrder) -> Result<(), Error> {
        match order {
            ChatOrder::Say(text) if text.starts_with('/') => self.command(text),
            ChatOrder::Say(text) => {
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

    fn choose_mode(&mut self, mode: Option<String>) {
        let Some(mode) = mode else {
            let now = self.mode.clone().unwrap_or_else(|| "the agent's own".to_owned());
            return self.add(Entry::Printed { text: format!("The mode is {now}.") });
        };
        if let Some(named) = Mode::named(&mode) {
            let mut desktop =
                Desktop { premises: self.desktop.premises.clone(), ..copy_of(&self.desktop, &self.messages) };
            desktop.premises.policy.mode = named;
            self.desktop = Arc::new(desktop);
        }
        self.line.set_mode(mode);
    }

    fn hear(&mut self, event: LineEvent) -> Result<(), Error> {
        match event {
            LineEvent::Ready { info, session, can_load, remembers, mode } => {
                if self.has_talked && !remembers {
                    self.note("the agent does not remember this conversation; it begins anew".to_owned());
                }
                self.known = can_load.then(|| session.clone());
                self.add(Entry::Joined { info, session, can_load });
                if let Some(mode) = mode.filter(|_| self.mode.is_none()) {
                    self.mode = Some(mode.clone());
                    self.add(Entry::Mode { mode });
                }
                self.set_state(AgentState::Idle);
                self.look_at_tasks()?;
                self.look_at_notices()?;
                self.go_on()?;
            }
            LineEvent::Entry(entry) => {
                if let Entry::Mode { mode } = &entry {
                    self.mode = Some(mode.clone());
                }
                self.add(entry);
            }
            LineEvent::Asks { number, what, lines } => {
                let id = format!("ask-{number}");
                let question = ChatQuestion { id: id.clone(), what: what.clone(), lines, for_session: false };
                let open = Open { source: Source::Agent(number), what, lines: question.lines.clone() };
                let same = self.questions.iter().find(|(_, other)| open.is_about(&other.what));
                if let Some(same) = same.map(|(id, _)| id.clone()) {
                    self.settle(&same);
                }
                self.questions.push((id, open));
                (self.tell)(ChatNews::Asked(question));
            }
            LineEvent::TurnEnded(early) => {
                self.forget_questions_of_agent();
                self.add(Entry::TurnEnded { early });
                self.set_state(AgentState::Idle);
                self.look_at_tasks()?;
                self.look_at_notices()?;
                self.go_on()?;
            }
            LineEvent::Refused(why) => self.note(why),
            LineEvent::Gone(how) => {
                self.forget_questions_of_agent();
                if self.state == AgentState::Busy {
                    self.add(Entry::TurnEnded { early: Some("the agent is gone".to_owned()) });
                }
                self.note(format!("{how}. What you say next starts it again."));
                self.set_state(AgentState::Gone);
            }
        }
        Ok(())
    }

    /// Starts the agent once more.
    fn call_again(&mut self) {
        self.lines += 1;
        let (known, mode) = (self.known.clone(), self.mode.clone());
        self.line = open_line(&self.options, known, mode, self.lines, &self.messages);
        self.set_state(AgentState::Starting);
    }

    /// Begins the next turn, if there is anything to say and somebody to hear it.
    fn go_on(&mut self) -> Result<(), Error> {
        if self.state != AgentState::Idle {
            return Ok(());
        }
        match self.waiting.pop_front() {
            Some(text) => {
                self.tell_waiting();
                self.turn(Some(text))
            }
            None if self.options.wake == Wake::Idle && self.anything_to_tell()? => self.turn(None),
            None => Ok(()),
        }
    }

    fn tell_waiting(&self) {
        (self.tell)(ChatNews::Waiting(self.waiting.iter().cloned().collect()));
    }

    fn anything_to_tell(&self) -> Result<bool, Error> {
        let delivery = self.host.drain(Moment::Idle)?;
        Ok(delivery.notices().iter().any(|notice| !self.told.contains(&notice.number)))
    }

    /// Says something to the agent, with what it has not been told in front.
    fn turn(&mut self, text: Option<String>) -> Result<(), Error> {
        let delivery = self.host.drain(Moment::RunStart)?;
        // After a crash the same comes again; what is in the transcript was told.
        let (told, shown) = (&self.told, &self.shown);
        let news: Vec<Notice> =
            delivery.notices().iter().filter(|one| !told.contains(&one.number)).cloned().collect();
        let unseen: Vec<_> = news.iter().filter(|one| !shown.contains(&one.number)).cloned().collect();
        let numbers: Vec<_> = news.iter().map(|notice| notice.number).collect();
        let message = Turn::with_notices(&news, text.as_deref().unwrap_or_default()).to_text();
        let mut entries: Vec<_> =
            unseen.into_iter().map(|notice| Entry::Notice { notice: Box::new(notice) }).collect();
        if !numbers.is_empty() {
            entries.push(Entry::Told { numbers: numbers.clone() });
        }
        entries.extend(text.map(|text| Entry::User { text }));
        for entry in &entries {
            let kept = self.options.transcript.add(entry);
            if let Err(error) = kept {
                (self.tell)(ChatNews::Failed(format!("the transcript cannot be written: {error}")));
            }
        }
        if !numbers.is_empty() {
            // What cannot be kept is told once more after a crash, never not at all.
            if self.options.transcript.sync().is_ok() {
                delivery.acknowledge()?;
            } else {
                drop(delivery);
            }
        } else {
            drop(delivery);
        }
        self.shown.extend(&numbers);
        self.told.extend(&numbers);
        entries.into_iter().for_each(|entry| (self.tell)(ChatNews::Entry(entry)));
        if message.is_empty() {
            return Ok(());
        }
        self.has_talked = true;
        self.set_state(AgentState::Busy);
        self.line.prompt(message);
        Ok(())
    }

    /// Shows what has happened since the last look, and wakes the agent if it wants that.
    fn look_at_notices(&mut self) -> Result<(), Error> {
        let delivery = self.host.drain(Moment::Idle)?;
        let news: Vec<_> =
            delivery.notices().iter().filter(|one| !self.shown.contains(&one.number)).cloned().collect();
        // They are only looked at; the next turn takes them.
        drop(delivery);
        for notice in news {
            self.shown.insert(notice.number);
            self.add(Entry::Notice { notice: Box::new(notice) });
        }
        self.go_on()
    }

    /// Ends the tasks first and waits for them, then the agent.
    fn close(self) -> Result<(), Error> {
        let ended = self.runtime.end_session(self.host.session(), "the end of the chat");
        self.line.close();
        ended.map(drop)
    }
}

fn copy_of(desktop: &Desktop, messages: &Sender<Message>) -> Desktop {
    Desktop {
        settings: desktop.settings.clone(),
        premises: desktop.premises.clone(),
        layout: desktop.layout,
        messages: messages.clone(),
    }
}
