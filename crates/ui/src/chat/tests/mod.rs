//! Tests the chat screen without a terminal: events in, pictures out.

mod behaviour;
mod entries;
mod questions;
mod screens;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use meanwhile::model::{Notice, Status, Timestamp};
use mw_desk::OpenRequest;
use mw_desk::chat_protocol::{
    AgentCommand, AgentState, ApprovalReply, ChatEntry, ChatOrder, ChatTask, ChatUpdate, ToolContent,
    ToolState, ToolUpdate,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;

use super::state::{Effect, State};
use super::update::update;
use super::view::view;
use crate::screen::{Input, TerminalRequest, ThemeChoice};

const NOW: i64 = 1_800_000_000_000_000;

fn state(width: u16, height: u16) -> State {
    let now = Timestamp::from_micros(NOW);
    let mut state = State::new((width, height), ThemeChoice::Plain, "chat-0a1b2c3d", "mw", now);
    tell(&mut state, ChatUpdate::Agent(AgentState::Idle));
    state
}

fn tell(state: &mut State, news: ChatUpdate) {
    assert_eq!(update(state, Input::Event(news.into())), []);
    state.lay_out_stale();
}

fn entry(state: &mut State, entry: ChatEntry) {
    tell(state, ChatUpdate::Entry(entry));
}

fn press(state: &mut State, code: KeyCode) -> Vec<Effect> {
    update(state, Input::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

fn ctrl(state: &mut State, c: char) -> Vec<Effect> {
    update(state, Input::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL)))
}

/// Advances the clock.
fn later(state: &mut State, ms: i64) {
    let now = Timestamp::from_micros(state.now.as_micros() + ms * 1000);
    state.now = now;
    update(state, Input::Tick);
}

/// Adds a question, and waits until it accepts an answer.
fn ask(state: &mut State, question: OpenRequest) {
    tell(state, ChatUpdate::Asked(question));
    later(state, 500);
}

fn write(state: &mut State, text: &str) {
    text.chars().for_each(|c| _ = press(state, KeyCode::Char(c)));
}

fn picture(state: &State) -> String {
    let (width, height) = state.size;
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| _ = view(state, frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let rows = (0..height).map(|y| {
        let mut row = String::new();
        let mut skip = 0;
        for x in 0..width {
            let symbol = buffer[(x, y)].symbol();
            if skip > 0 {
                skip -= 1;
            } else {
                row.push_str(symbol);
                skip = unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1);
            }
        }
        row.trim_end().to_owned()
    });
    rows.collect::<Vec<_>>().join("\n")
}

fn notice(number: i64, code: i32) -> ChatEntry {
    let notice: Notice = serde_json::from_value(json!({
        "number": number, "task": "bash-k3f9x2ab", "handle": "bash_1", "run": 1, "at": "2027-01-15T08:00:00Z",
        "news": "ended", "cause": {"cause": "exited", "code": code},
        "command": "cargo test", "output_path": "/state/tasks/bash-k3f9x2ab/output.log", "duration_ms": 4240
    }))
    .unwrap();
    ChatEntry::Notice { notice: Box::new(notice) }
}

fn task(handle: &str, what: &str, awaited: bool) -> ChatTask {
    ChatTask {
        id: format!("bash-{handle}"),
        handle: handle.to_owned(),
        what: what.to_owned(),
        status: Status::Running,
        since: Some(Timestamp::from_micros(NOW - 65_000_000)),
        log: format!("/state/tasks/{handle}/output.log"),
        awaited,
        tail: None,
    }
}

fn tool(id: &str, title: &str, state: ToolState, content: Vec<ToolContent>) -> ChatEntry {
    ChatEntry::Tool(ToolUpdate {
        id: id.to_owned(),
        title: Some(title.to_owned()),
        state: Some(state),
        content: Some(content),
    })
}

/// Returns a conversation with one entry of each kind.
fn talk() -> Vec<ChatEntry> {
    let text = |text: &str| text.to_owned();
    vec![
        ChatEntry::Opened { agent: text("mw"), cwd: text("/work") },
        ChatEntry::Mode { mode: text("safe") },
        ChatEntry::User { text: text("run the tests\nand fix what fails") },
        ChatEntry::Thought { text: text("First the tests.\nThen the rest.") },
        ChatEntry::Said { text: text("I start the **tests** in the back") },
        ChatEntry::Said { text: text("ground:\n- `cargo test`\n") },
        tool(
            "call-1",
            "cargo test",
            ToolState::Done,
            vec![ToolContent::Text { text: text("started bash_1") }],
        ),
        ChatEntry::TurnEnded { early: None },
        notice(7, 101),
        ChatEntry::Delivered { numbers: vec![7] },
        tool(
            "call-2",
            "edit src/money.rs",
            ToolState::Done,
            vec![ToolContent::Diff {
                path: text("src/money.rs"),
                old: text("a\nb\nc"),
                new: text("a\nB\nc"),
            }],
        ),
        ChatEntry::Said { text: text("Fixed: `rounds_to_cents`.") },
        ChatEntry::TurnEnded { early: None },
        ChatEntry::Command { text: text("/tasks") },
        ChatEntry::Printed { text: text("No background tasks.") },
    ]
}

fn question() -> OpenRequest {
    question_of("ask-1")
}

fn question_of(id: &str) -> OpenRequest {
    OpenRequest {
        id: id.to_owned(),
        what: "rm -rf build".to_owned(),
        lines: ["Command requires approval:", "  rm -rf build", "", "deletes build and everything in it"]
            .map(str::to_owned)
            .to_vec(),
        for_session: true,
    }
}

fn answer(reply: ApprovalReply) -> Vec<Effect> {
    vec![Effect::Order(ChatOrder::Answer("ask-1".to_owned(), reply))]
}
