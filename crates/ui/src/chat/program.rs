//! Connects the chat to the screen's loop: input goes to the state, effects go to the process behind the screen.

use std::io;

use meanwhile::engine::{Clock, SystemClock};
use mw_desk::chat::{ChatNews, ChatOrder};
use ratatui::Frame;

use super::state::{Effect, Event, State};
use super::update::update;
use super::view::view;
use super::window::{Door, Sent};
use crate::screen::{self, App, Ending, Input, Link, Outside, Request, ThemeChoice};

/// What the screen is given.
pub struct Options {
    /// Colours.
    pub theme: ThemeChoice,
    /// The chat's session.
    pub session: String,
    /// The agent's name.
    pub agent: String,
    /// What opens a log.
    pub editor: String,
    /// Panics when something was drawn, to show that the terminal is given back.
    pub panics: bool,
}

/// Shows the chat until the user quits. Requests go to `order`.
///
/// # Errors
/// When the terminal fails.
pub fn run(options: &Options, door: Door, order: impl FnMut(ChatOrder)) -> io::Result<Ending> {
    screen::run(door, |size| {
        let state = State::new(size, options.theme, &options.session, &options.agent, SystemClock.now());
        Chat { options, order, state }
    })
}

struct Chat<'a, O> {
    options: &'a Options,
    order: O,
    state: State,
}

impl<O: FnMut(ChatOrder)> App for Chat<'_, O> {
    type News = Sent;

    fn take(&mut self, input: Input<Sent>) -> Vec<Request> {
        let now = SystemClock.now();
        let event = match input {
            Input::Key(key) => Event::Key(key),
            Input::Mouse(mouse) => Event::Mouse(mouse),
            Input::Paste(text) => Event::Paste(text),
            Input::Resized(width, height) => Event::Resized(width, height),
            Input::Tick => Event::Tick(now),
            Input::News(sent) => Event::News(sent.news),
            Input::Back(Err(problem)) => Event::News(ChatNews::Failed(problem)),
            Input::Back(Ok(())) => return Vec::new(),
        };
        self.state.now = now;
        let mut requests = Vec::new();
        for effect in update(&mut self.state, event) {
            match effect {
                Effect::Order(order) => (self.order)(order),
                Effect::Open(path) => {
                    let editor = Outside::on_file("the editor", &self.options.editor, &path);
                    requests.push(Request::Run(editor));
                }
                Effect::Redraw => requests.push(Request::Redraw),
                Effect::Suspend => requests.push(Request::Suspend),
                Effect::Quit => requests.push(Request::Quit),
            }
        }
        requests
    }

    fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.state.is_changed)
    }

    fn wants_ticks(&self) -> bool {
        self.state.wants_ticks()
    }

    fn draw(&mut self, frame: &mut Frame<'_>) -> Vec<Link> {
        self.state.lay_out_stale();
        let links = view(&self.state, frame);
        assert!(!self.options.panics, "asked to panic");
        links
    }
}
