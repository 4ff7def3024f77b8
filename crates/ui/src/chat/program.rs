//! Connects the chat to the main loop: input goes to the state, effects go to the process behind the screen.

use std::io;
use std::time::Duration;

use meanwhile::engine::{Clock, SystemClock};
use mw_desk::chat_protocol::ChatOrder;
use ratatui::Frame;

use super::state::{Effect, State};
use super::update::update;
use super::view::view;
use super::window::{EventReceiver, Sent};
use crate::screen::{self, App, Ending, Input, Link, Outside, TerminalRequest, ThemeChoice};

/// The options of the chat screen.
pub struct Options {
    /// The colour scheme.
    pub theme: ThemeChoice,
    /// The chat's session.
    pub session: String,
    /// The agent's name.
    pub agent: String,
    /// The agent's model, if it is known.
    pub model: Option<String>,
    /// The editor that opens logs, as a shell command.
    pub editor: String,
    /// Panics after the first draw, to test that the terminal is restored.
    pub panics: bool,
}

/// Runs the chat screen until the user quits. Orders of the user go to `order`.
///
/// # Errors
/// Fails if the terminal fails.
pub fn run(options: &Options, receiver: EventReceiver, order: impl FnMut(ChatOrder)) -> io::Result<Ending> {
    screen::run(receiver, |size| {
        let mut state = State::new(size, options.theme, &options.session, &options.agent, SystemClock.now());
        state.model.clone_from(&options.model);
        Chat { options, order, state }
    })
}

struct Chat<'a, O> {
    options: &'a Options,
    order: O,
    state: State,
}

impl<O: FnMut(ChatOrder)> App for Chat<'_, O> {
    type Event = Sent;

    fn take(&mut self, input: Input<Sent>) -> Vec<TerminalRequest> {
        self.state.now = SystemClock.now();
        let mut requests = Vec::new();
        for effect in update(&mut self.state, input) {
            match effect {
                Effect::Order(order) => (self.order)(order),
                Effect::Open(path) => {
                    let editor = Outside::on_file("the editor", &self.options.editor, &path);
                    requests.push(TerminalRequest::Run(editor));
                }
                Effect::Screen(request) => requests.push(request),
            }
        }
        requests
    }

    fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.state.is_changed)
    }

    fn ticks(&self) -> Option<Duration> {
        self.state.ticks()
    }

    fn draw(&mut self, frame: &mut Frame<'_>) -> Vec<Link> {
        self.state.lay_out_stale();
        let links = view(&self.state, frame);
        assert!(!self.options.panics, "asked to panic");
        links
    }
}
