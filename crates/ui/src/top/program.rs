//! The task manager as the loop runs it: what happens goes to the state, what is wanted to whoever does it.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use meanwhile::{Scope, Settings};
use ratatui::Frame;

use super::deeds;
use super::effect;
use super::effect::{Deed, Effect};
use super::event::Event;
use super::outside::{commands, outside};
use super::reader::Reader;
use super::state::State;
use super::update::update;
use super::view::view;
use super::watch;
use super::worker::Worker;
use crate::screen::{self, App, Ending, Input, Link, Request, ThemeChoice};

/// What the task manager is given.
pub struct Options {
    /// How to open the home.
    pub settings: Settings,
    /// The only session to be seen, if there is one.
    pub session: Option<String>,
    /// The session to be shown at first; others may be chosen.
    pub shown: Option<String>,
    /// Who asks, for the record.
    pub requester: String,
    /// Colours.
    pub theme: ThemeChoice,
    /// The command line of `mw`, for what asks or joins the terminal to a task.
    pub mw: OsString,
    /// Whether kills, restarts and input must go through the gate: by the command line, which asks.
    pub gated: bool,
    /// The task that this runs in, if it does: what an agent runs cannot answer for a person.
    pub inside: Option<String>,
    /// How long a question may be answered.
    pub keep: Duration,
    /// The editor, as a shell would take it.
    pub editor: String,
    /// The pager, as a shell would take it.
    pub pager: String,
    /// Panics when something was drawn, to show that the terminal is given back.
    pub panics: bool,
}

impl Options {
    pub(super) fn scope(&self) -> Scope {
        self.session.clone().map_or(Scope::All, Scope::Session)
    }
}

/// The way to the screen.
pub(super) type Post = screen::Post<Event>;

/// Shows the tasks until somebody leaves.
///
/// # Errors
/// When the terminal fails.
pub fn run(options: Options) -> io::Result<Ending> {
    let (post, door) = screen::door()?;
    screen::run(door, |size| Manager::new(Arc::new(options), post, size))
}

struct Manager {
    options: Arc<Options>,
    post: Post,
    state: State,
    worker: Worker,
    reader: Reader,
}

impl Manager {
    fn new(options: Arc<Options>, post: Post, size: (u16, u16)) -> Self {
        let mut state = State::new(size, options.theme, options.session.clone());
        if let Some(session) = &options.shown {
            state.show_session(session);
        }
        let worker = Worker::start(Arc::clone(&options), &post);
        let reader = Reader::new(Arc::clone(&options), post.clone());
        watch::news(Arc::clone(&options), &post);
        Self { options, post, state, worker, reader }
    }

    /// Has something done, and says what is wanted of the terminal for it.
    fn act(&self, effect: Effect) -> Vec<Request> {
        let request = match effect {
            Effect::Find(lookup) => {
                self.worker.ask(lookup);
                return Vec::new();
            }
            Effect::Follow(target) => {
                self.reader.follow(target);
                return Vec::new();
            }
            Effect::Do(deed) => return self.do_it(deed),
            Effect::Run(program) => Request::Run(outside(&self.options, program)),
            Effect::Copy(text) => Request::Copy(text),
            Effect::Mouse(mouse) => Request::Mouse(mouse),
            Effect::Redraw => Request::Redraw,
            Effect::Suspend => Request::Suspend,
            Effect::Quit => Request::Quit,
        };
        vec![request]
    }

    /// Does something to tasks in a thread of its own; or has commands do it that ask, where that is the way.
    fn do_it(&self, deed: Deed) -> Vec<Request> {
        let commands = if self.options.gated { commands(&deed) } else { Vec::new() };
        if commands.is_empty() {
            let options = Arc::clone(&self.options);
            self.post.spawn(move |post| post.tell(deeds::act(&options, deed)));
        }
        let run = |words| Request::Run(outside(&self.options, effect::Program::Command(words)));
        commands.into_iter().map(run).collect()
    }
}

impl App for Manager {
    type News = Event;

    fn take(&mut self, input: Input<Event>) -> Vec<Request> {
        let event = match input {
            Input::Key(key) => Event::Key(key),
            Input::Mouse(mouse) => Event::Mouse(mouse),
            Input::Paste(text) => Event::Paste(text),
            Input::Resized(width, height) => Event::Resized(width, height),
            Input::Tick => Event::Tick,
            Input::News(event) => event,
            Input::Back(Err(problem)) => Event::Failed(problem),
            // Whatever ran may have done something to tasks.
            Input::Back(Ok(())) => Event::News,
        };
        let effects = update(&mut self.state, event);
        effects.into_iter().flat_map(|effect| self.act(effect)).collect()
    }

    fn take_changed(&mut self) -> bool {
        self.state.take_changed()
    }

    fn wants_ticks(&self) -> bool {
        self.state.wants_ticks()
    }

    fn draw(&mut self, frame: &mut Frame<'_>) -> Vec<Link> {
        view(&self.state, frame);
        assert!(!self.options.panics, "asked to panic");
        Vec::new()
    }
}
