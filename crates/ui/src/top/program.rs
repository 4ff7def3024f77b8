//! Connects the task manager to the main loop: input goes to the state, effects go to the threads that perform them.

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use meanwhile::engine::{Clock, SystemClock};
use mw_desk::action::TaskAction;
use mw_desk::text::error_text;
use mw_desk::{Access, Desk};
use ratatui::Frame;

use super::effect::Effect;
use super::event::Event;
use super::hunt::Hunter;
use super::outside::{commands, outside};
use super::reader::Reader;
use super::state::State;
use super::update::update;
use super::view::view;
use super::worker::{self, Worker};
use crate::screen::{self, App, Ending, Input, Link, TerminalRequest, ThemeChoice};

/// The options of the task manager.
pub struct Options {
    /// The home directory, the actor, and the tasks that the actor may see.
    pub access: Access,
    /// The session that is shown first. The user can select others.
    pub shown: Option<String>,
    /// The colour scheme.
    pub theme: ThemeChoice,
    /// The `mw` program, for actions that need approval and for `mw attach`.
    pub mw: OsString,
    /// Whether kills, restarts and input need approval. They are then performed by commands that ask for it.
    pub gated: bool,
    /// The editor as a shell command.
    pub editor: String,
    /// The pager as a shell command.
    pub pager: String,
    /// Panics after the first draw, to test that the terminal is restored.
    pub panics: bool,
}

/// The sender of events to the main loop.
pub(super) type EventSender = screen::EventSender<Event>;

/// Runs the task manager until the user quits.
///
/// # Errors
/// Fails if the terminal fails.
pub fn run(options: Options) -> io::Result<Ending> {
    let (events, receiver) = screen::channel()?;
    screen::run(receiver, |size| Manager::new(options, events, size))
}

struct Manager {
    options: Options,
    desk: Desk,
    events: EventSender,
    state: State,
    worker: Worker,
    reader: Reader,
    hunter: Hunter,
}

impl Manager {
    fn new(options: Options, events: EventSender, size: (u16, u16)) -> Self {
        let mut state = State::new(size, options.theme, options.access.session.clone());
        if let Some(session) = &options.shown {
            state.show_session(session);
        }
        let desk = Desk::new(options.access.clone());
        let worker = Worker::start(&desk, &events);
        let reader = Reader::new(desk.clone(), events.clone());
        let hunter = Hunter::new(desk.clone(), events.clone());
        worker::watch(desk.clone(), &events);
        Self { options, desk, events, state, worker, reader, hunter }
    }

    /// Performs an effect. Returns the requests to the terminal that it needs.
    fn act(&self, effect: Effect) -> Vec<TerminalRequest> {
        match effect {
            Effect::Find(lookup) => self.worker.ask(lookup),
            Effect::Follow(target) => self.reader.follow(target),
            Effect::Search(hunt) => self.hunter.start(hunt),
            Effect::EndSearch => self.hunter.stop(),
            Effect::Do(action) => return self.do_it(action),
            Effect::Run(program) => return vec![TerminalRequest::Run(outside(&self.options, program))],
            Effect::Screen(request) => return vec![request],
        }
        Vec::new()
    }

    /// Performs an action in a separate thread, or by a command if it needs approval.
    fn do_it(&self, action: TaskAction) -> Vec<TerminalRequest> {
        let commands = if self.options.gated { commands(&self.options, &action) } else { Vec::new() };
        if commands.is_empty() {
            let desk = self.desk.clone();
            self.events.spawn(move |events| {
                let done = desk.act(&action).map(Event::Done);
                events.send(done.unwrap_or_else(|error| Event::Failed(error_text(&error))));
            });
        }
        commands.into_iter().map(TerminalRequest::Run).collect()
    }
}

impl App for Manager {
    type Event = Event;

    fn take(&mut self, input: Input<Event>) -> Vec<TerminalRequest> {
        self.state.clock = SystemClock.now();
        let effects = update(&mut self.state, input);
        effects.into_iter().flat_map(|effect| self.act(effect)).collect()
    }

    fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.state.is_changed)
    }

    fn ticks(&self) -> Option<Duration> {
        self.state.ticks()
    }

    fn draw(&mut self, frame: &mut Frame<'_>) -> Vec<Link> {
        view(&self.state, frame);
        assert!(!self.options.panics, "asked to panic");
        Vec::new()
    }
}
