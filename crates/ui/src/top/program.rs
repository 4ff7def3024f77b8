//! Connects the task manager to the screen's loop: input goes to the state, effects go to the threads that perform
//! them.

use std::ffi::OsString;
use std::io;

use mw_desk::action::TaskAction;
use mw_desk::text::error_text;
use mw_desk::{Access, Desk};
use ratatui::Frame;

use super::effect::{self, Effect};
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
    /// The home, who asks, and what they may see.
    pub access: Access,
    /// The session to be shown at first; others may be chosen.
    pub shown: Option<String>,
    /// Colours.
    pub theme: ThemeChoice,
    /// The command line of `mw`, for what asks or joins the terminal to a task.
    pub mw: OsString,
    /// Whether kills, restarts and input must go through the gate: by the command line, which asks.
    pub gated: bool,
    /// The editor, as a shell would take it.
    pub editor: String,
    /// The pager, as a shell would take it.
    pub pager: String,
    /// Panics when something was drawn, to show that the terminal is given back.
    pub panics: bool,
}

/// The way to the screen.
pub(super) type Post = screen::Post<Event>;

/// Shows the tasks until the user quits.
///
/// # Errors
/// When the terminal fails.
pub fn run(options: Options) -> io::Result<Ending> {
    let (post, door) = screen::door()?;
    screen::run(door, |size| Manager::new(options, post, size))
}

struct Manager {
    options: Options,
    desk: Desk,
    post: Post,
    state: State,
    worker: Worker,
    reader: Reader,
}

impl Manager {
    fn new(options: Options, post: Post, size: (u16, u16)) -> Self {
        let mut state = State::new(size, options.theme, options.access.session.clone());
        if let Some(session) = &options.shown {
            state.show_session(session);
        }
        let desk = Desk::new(options.access.clone());
        let worker = Worker::start(&desk, &post);
        let reader = Reader::new(desk.clone(), post.clone());
        watch::news(desk.clone(), &post);
        Self { options, desk, post, state, worker, reader }
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
            Effect::Do(action) => return self.do_it(action),
            Effect::Run(program) => Request::Run(outside(&self.options, program)),
            Effect::Copy(text) => Request::Copy(text),
            Effect::Mouse(mouse) => Request::Mouse(mouse),
            Effect::Redraw => Request::Redraw,
            Effect::Suspend => Request::Suspend,
            Effect::Quit => Request::Quit,
        };
        vec![request]
    }

    /// Performs an action in a separate thread, or by a command if it needs approval.
    fn do_it(&self, action: TaskAction) -> Vec<Request> {
        let commands = if self.options.gated { commands(&action) } else { Vec::new() };
        if commands.is_empty() {
            let desk = self.desk.clone();
            self.post.spawn(move |post| {
                let done = desk.act(&action).map(|outcome| Event::Done(outcome.lines()));
                post.tell(done.unwrap_or_else(|error| Event::Failed(error_text(&error))));
            });
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
