//! Tests of `mw chat`: the real program on a real terminal, the built-in agent, and a scripted model behind it.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "helpers run in tests only, where a broken assumption ends the test")]

mod dialect;
mod foreign;
mod resume;
mod screen;
mod settings;
mod slash;
mod surface;
mod talk;
mod trouble;

use std::time::Instant;

use mw_testkit::model_endpoint::ModelEndpoint;
use mw_testkit::{Home, SOON, Screen, Terminal, wait_until};

const ESC: &str = "\u{1b}";
const CTRL_B: &str = "\u{2}";
const CTRL_C: &str = "\u{3}";
const CTRL_K: &str = "\u{b}";
const CTRL_O: &str = "\u{f}";
const CTRL_Y: &str = "\u{19}";

/// Returns a sealed home for the `mw` under test, whose agent asks this endpoint.
fn home(endpoint: &ModelEndpoint) -> Home {
    Home::new(env!("CARGO_BIN_EXE_mw"))
        .with_env("OPENAI_BASE_URL", endpoint.openai_url())
        .with_env("OPENAI_API_KEY", "sk-test-0123456789")
        .with_env("MEANWHILE_AGENT_MODEL", "openai/scripted")
}

/// Opens a chat and waits for its agent.
fn chat(home: &Home) -> Terminal {
    chat_with(home, &["chat"])
}

fn chat_with(home: &Home, words: &[&str]) -> Terminal {
    let terminal = home.command(words.iter().copied()).on_terminal();
    until_shown(&terminal, "· ready");
    terminal
}

fn until(terminal: &Terminal, what: &str, is: impl Fn(&Screen) -> bool) -> Screen {
    // The message of a failed wait contains the screen.
    let begun = Instant::now();
    wait_until(SOON, what, || {
        let screen = terminal.screen();
        let is = is(&screen);
        assert!(is || begun.elapsed() < SOON, "still not: {what}\n{}", screen.text);
        is.then_some(screen)
    })
}

fn until_shown(terminal: &Terminal, text: &str) -> Screen {
    until(terminal, &format!("{text:?} is on the screen"), |screen| screen.text.contains(text))
}

fn until_gone(terminal: &Terminal, text: &str) -> Screen {
    until(terminal, &format!("{text:?} is not on the screen"), |screen| !screen.text.contains(text))
}

/// Types a line and sends it.
fn say(terminal: &mut Terminal, text: &str) {
    terminal.press(text);
    terminal.press("\r");
}

/// Leaves a chat in which nothing runs.
fn leave(mut terminal: Terminal) {
    terminal.press(CTRL_C);
    assert_eq!(terminal.ended(), Some(0));
    until(&terminal, "the terminal is given back", Screen::is_given_back);
}
