//! The one thread of a chat that decides: what is said to the agent and when, what is shown, what is kept.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use meanwhile::{DeliveryPolicy, Error, Filter, Host, KillRequest, Moment, Runtime, Scope, Task};
use mw_model::approval::{Answer, ProposalId, Remember};
use mw_model::chat::{AgentState, ChatNews, ChatOrder, ChatQuestion, ChatTask, Entry, Reply};
use mw_model::policy::Mode;
use mw_model::{Notice, Turn, short_handle};

use super::slash::{Answered, Desktop, HELP, Slash};
use super::{ChatOptions, Tell, Wake, watch};
use crate::acp::{Line, LineEvent, LineOptions};

const BY: &str = "the chat";
const SIGTERM: i32 = 15;

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

/// Who asked.
enum Source {
    Agent(u64),
    Store(ProposalId),
}

/// What is asked, and by whom.
struct Open {
    source: Source,
    what: String,
    lines: Vec<String>,
}

impl Open {
    /// Tells whether this question of the agent's is about the same as one of the store. Our own agent puts what it
    /// asks into the store first, and a person is asked once.
    fn is_about(&self, what: &str) -> bool {
        matches!(self.source, Source::Agent(_)) && self.lines.iter().any(|line| line.trim() == what.trim())
    }
}

pub(super) struct Office<'r> {
    options: ChatOptions,
    runtime: &'r Runtime,
    host: Host<'r>,
    desktop: Arc<Desktop>,
    messages: Sender<Message>,
    tell: &'r Arc<Tell>,
    line: Line,
    /// How many lines there have been; what comes over an earlier one is not heard.
    lines: u64,
    state: AgentState,
    /// The agent's name for the conversation.
    known: Option<String>,
    mode: Option<String>,
    /// What the person said while a turn was under way, or no agent was there.
    waiting: VecDeque<String>,
    /// Notices that were shown, and those that went to the agent.
    shown: HashSet<i64>,
    told: HashSet<i64>,
    /// Questions that a person has to answer, oldest first.
    questions: Vec<(String, Open)>,
    tasks: Vec<ChatTask>,
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
                Entry::User { .. } => under_way = true,
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
    fn add(&mut self, entry: Entry) {
        if let Err(error) = self.options.transcript.add(&entry) {
            (self.tell)(ChatNews::Failed(format!("the transcript cannot be written: {error}")));
        }
        (self.tell)(ChatNews::Entry(entry));
    }

    fn note(&mut self, text: String) {
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

    fn answer_by_command(&mut self, id: Option<String>, yes: Answered) {
        let open = match &id {
            Some(id) => self.questions.iter().find(|(known, _)| known == id),
            None => self.questions.first(),
        };
        let Some(id) = open.map(|(id, _)| id.clone()) else {
            let text = id.map_or_else(
                || "Nothing is asked.".to_owned(),
                |id| format!("There is no question {id} in this chat."),
            );
            return self.add(Entry::Printed { text });
        };
        let reply = match yes {
            Answered::Yes => Reply::Once,
            Answered::No => Reply::Deny,
        };
        if let Err(error) = self.answer(&id, reply) {
            self.add(Entry::Printed { text: format!("{error}. {}", error.hint()) });
        }
    }

    fn hear(&mut self, event: LineEvent) -> Result<(), Error> {
        match event {
            LineEvent::Ready { info, session, can_load, remembers, mode } => {
                if self.known.is_some() && !remembers {
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
            Some(text) => self.turn(Some(text)),
            None if self.options.wake == Wake::Idle && self.anything_to_tell()? => self.turn(None),
            None => Ok(()),
        }
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

    fn look_at_tasks(&mut self) -> Result<(), Error> {
        const MOST: u32 = 200;
        let session = self.host.session().to_owned();
        let awaited = self.runtime.awaited(&session)?;
        let page = self.runtime.list(&Filter { limit: MOST, ..Filter::new(Scope::Session(session)) })?;
        let live = page.tasks.iter().filter(|task| !task.status.is_terminal());
        let row = |task: &Task| ChatTask {
            id: task.id.to_string(),
            handle: short_handle(task.kind, task.number),
            what: task.description.clone().unwrap_or_else(|| task.command.clone()),
            status: task.status,
            since: task.started_at,
            log: task.output_path.clone(),
            awaited: awaited.contains(&task.id) && !self.runtime.is_moved_to_background(&task.id),
        };
        let tasks: Vec<_> = live.map(row).collect();
        if tasks != self.tasks {
            self.tasks.clone_from(&tasks);
            (self.tell)(ChatNews::Tasks(tasks));
        }
        Ok(())
    }

    /// Ends a task on a thread of its own: that may take some seconds. Its end is news to the agent.
    fn kill(&self, id: String) {
        let (settings, messages) = (self.options.settings.clone(), self.messages.clone());
        let scope = Scope::Session(self.host.session().to_owned());
        std::thread::spawn(move || {
            let request =
                KillRequest { by: "the user, in the chat".to_owned(), signal: SIGTERM, grace_ms: None };
            let killed =
                Runtime::open(settings).and_then(|runtime| runtime.kill(&id, &scope, &request).map(drop));
            if let Err(error) = killed {
                let _ = messages.send(Message::Failed(format!("{id}: {error}. {}", error.hint())));
            }
            let _ = messages.send(Message::Happened);
        });
    }

    fn move_to_background(&mut self) -> Result<(), Error> {
        for id in self.runtime.awaited(self.host.session())? {
            self.runtime.move_to_background(&id)?;
        }
        self.look_at_tasks()
    }

    /// Takes note of what is asked in the store. What is not in the list any more was answered elsewhere, unless it
    /// has just been asked by a command of this chat.
    fn proposed(&mut self, asked: Vec<ChatQuestion>) {
        let known: HashMap<_, _> = asked.iter().map(|question| (question.id.clone(), ())).collect();
        let is_over = |id: &String, open: &Open| {
            matches!(&open.source, Source::Store(proposal)
                if !known.contains_key(id) && self.runtime.find_approval(proposal.as_str()).is_ok_and(|entry| entry.state.word() != "asked"))
        };
        let over: Vec<_> =
            self.questions.iter().filter(|(id, open)| is_over(id, open)).map(|(id, _)| id.clone()).collect();
        for id in over {
            self.settle(&id);
        }
        for question in asked {
            let Ok(proposal) = question.id.parse() else { continue };
            let is_asked = |(id, open): &(String, Open)| *id == question.id || open.is_about(&question.what);
            if !self.questions.iter().any(is_asked) {
                let (what, lines) = (question.what.clone(), question.lines.clone());
                let open = Open { source: Source::Store(proposal), what, lines };
                self.questions.push((question.id.clone(), open));
                (self.tell)(ChatNews::Asked(question));
            }
        }
    }

    fn settle(&mut self, id: &str) -> Option<Open> {
        let at = self.questions.iter().position(|(known, _)| known == id)?;
        (self.tell)(ChatNews::Settled(id.to_owned()));
        Some(self.questions.remove(at).1)
    }

    /// Questions of a turn that is over have no answer any more.
    fn forget_questions_of_agent(&mut self) {
        let of_agent = self.questions.iter().filter(|(_, open)| matches!(open.source, Source::Agent(_)));
        let ids: Vec<_> = of_agent.map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.settle(&id);
        }
    }

    fn answer(&mut self, id: &str, reply: Reply) -> Result<(), Error> {
        let Some(open) = self.settle(id) else { return Ok(()) };
        match open.source {
            Source::Agent(number) => self.line.answer(number, reply),
            Source::Store(proposal) => {
                let answer = match reply {
                    Reply::Once => Answer::Approve(Remember::Once),
                    Reply::Session => Answer::Approve(Remember::Session),
                    Reply::Deny => Answer::Deny(String::new()),
                };
                self.runtime.answer(&proposal, answer, BY)?;
            }
        }
        self.add(Entry::Answered { what: open.what, reply });
        Ok(())
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

fn open_line(
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
    };
    let messages = messages.clone();
    Line::open(line, move |event| _ = messages.send(Message::Line(number, event)))
}
