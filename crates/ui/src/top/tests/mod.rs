//! Tests the task manager's screen without a terminal: drawing, and reactions to events.

mod behaviour;
mod bursts;
mod logs;
mod marks;
mod properties;
mod questions;
mod screens;
mod selection;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use meanwhile::engine::StreamChoice;
use meanwhile::engine::TaskRun;
use meanwhile::model::{Status, Timestamp};
use mw_desk::OpenRequest;
use mw_desk::Sample;
use mw_desk::log_window::{LogChunk, LogTarget};
use mw_desk::query::{Lane, Query, StateCounts, Window};
use mw_desk::rows::{Fact, TaskRow};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::effect::{Effect, Lookup};
use super::event::Event;
use super::state::State;
use super::update::update;
use super::view::view;
use crate::screen::{Input, ThemeChoice};

/// The time in all tests.
pub(super) const NOW: Timestamp = Timestamp::from_micros(1_771_000_000_000_000);

pub(super) fn ago(seconds: i64) -> Timestamp {
    Timestamp::from_micros(NOW.as_micros() - seconds * 1_000_000)
}

pub(super) fn open_request(id: &str, lines: Vec<String>) -> OpenRequest {
    OpenRequest { id: id.to_owned(), what: String::new(), lines, for_session: true }
}

pub(super) fn row(number: usize, status: Status, what: &str) -> TaskRow {
    let is_over = status.is_terminal();
    let (name, about) = what.split_once(": ").map_or((None, what), |(name, about)| (Some(name), about));
    TaskRow {
        id: format!("bash-{number:08}"),
        name: name.map(str::to_owned),
        about: about.to_owned(),
        handle: format!("bash_{number}"),
        after: None,
        position: (status == Status::Pending).then_some(1),
        is_ready: false,
        signal: None,
        changed_at: ago(125),
        status,
        state: match status {
            Status::Failed => "failed (exited 101)".to_owned(),
            Status::Pending => "queued, position 1".to_owned(),
            _ => status.word().to_owned(),
        },
        what: what.to_owned(),
        waits: None,
        session: "default".to_owned(),
        batch: None,
        run: 1,
        alive: !is_over && status != Status::Pending,
        survivors: 0,
        started_at: (status != Status::Pending).then(|| ago(125)),
        duration_ms: (status != Status::Pending).then_some(120_000),
        percent: None,
        exit_code: (status == Status::Failed).then_some(101),
        output_path: format!("/home/me/tasks/bash-{number:08}/output.log"),
        sample: Sample::default(),
    }
}

/// Returns seven tasks, one of each important kind.
pub(super) fn rows() -> Vec<TaskRow> {
    let mut server = row(1, Status::Running, "dev-server: npm run dev");
    server.sample = Sample { cpu: Some(3.4), memory: Some(180 << 20), ports: vec![3000, 9229] };
    (server.state, server.is_ready) = ("running (ready)".to_owned(), true);
    let mut tests = row(2, Status::Running, "cargo test --workspace");
    tests.sample = Sample { cpu: Some(187.0), memory: Some(1_400_000_000), ports: Vec::new() };
    (tests.percent, tests.state, tests.session) = (Some(42.0), "running 42%".to_owned(), "review".to_owned());
    let mut detached = row(6, Status::Completed, "日本語の説明 of a task\nthat has two lines");
    (detached.survivors, detached.alive, detached.state) = (2, true, "completed +2".to_owned());
    vec![
        server,
        tests,
        row(3, Status::Pending, "sleep 60"),
        row(4, Status::Failed, "make check"),
        row(5, Status::Cancelled, "python3 train.py \u{1b}[31m--epochs\u{1b}[0m 10"),
        detached,
        row(7, Status::Lost, "rsync -a /data backup:"),
    ]
}

pub(super) fn window(query: &Query, rows: Vec<TaskRow>) -> Window {
    let live = rows.iter().filter(|row| !row.status.is_terminal()).count();
    let of = |status: Status| rows.iter().filter(|row| row.status == status).count();
    let counts = StateCounts {
        running: of(Status::Running),
        queued: of(Status::Pending),
        failed: of(Status::Failed) + of(Status::Lost),
        completed: of(Status::Completed),
        cancelled: of(Status::Cancelled),
    };
    Window { query: query.clone(), start: 0, total: rows.len(), rows, live, counts, unlisted: None, at: NOW }
}

pub(super) fn key(code: KeyCode) -> Input<Event> {
    Input::Key(KeyEvent::new(code, KeyModifiers::NONE))
}

impl From<Event> for Input<Event> {
    fn from(event: Event) -> Self {
        Self::Event(event)
    }
}

/// A screen for tests, with the effects that it has requested.
pub(super) struct Desk {
    pub(super) state: State,
    pub(super) effects: Vec<Effect>,
}

impl Desk {
    pub(super) fn new(width: u16, height: u16) -> Self {
        let state = State::new((width, height), ThemeChoice::Plain, None);
        let mut desk = Self { state, effects: Vec::new() };
        desk.take(Input::Resized(width, height));
        desk
    }

    pub(super) fn with_tasks(width: u16, height: u16) -> Self {
        let mut desk = Self::new(width, height);
        desk.list(rows());
        desk
    }

    pub(super) fn list(&mut self, rows: Vec<TaskRow>) {
        let query = self.state.list.query.clone();
        self.take(Event::Listed(window(&query, rows)));
    }

    pub(super) fn take(&mut self, input: impl Into<Input<Event>>) {
        self.effects = update(&mut self.state, input.into());
    }

    /// Returns whether the screen is out of date, and resets the flag.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.state.is_changed)
    }

    /// Presses letters one after the other.
    pub(super) fn press(&mut self, keys: &str) {
        for c in keys.chars() {
            self.take(key(KeyCode::Char(c)));
        }
    }

    pub(super) fn print(&mut self, text: &str) {
        let target = self.state.log.target.clone().unwrap();
        let end = text.len() as u64;
        let chunk = LogChunk::of_text(text, 0, end);
        self.take(Event::Read(target, chunk));
    }

    pub(super) fn drawn(&self) -> String {
        let (width, height) = self.state.size;
        self.drawn_on(width, height)
    }

    /// Draws the screen on a terminal that may have another size.
    pub(super) fn drawn_on(&self, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| view(&self.state, frame)).unwrap();
        let text = terminal.backend().to_string();
        // Cells that a wide character covers are not part of the picture.
        let lines = text.lines().map(|line| {
            let line = line.split("\" Hidden by").next().unwrap_or(line);
            line.trim_matches('"').trim_end().to_owned()
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

pub(super) fn facts() -> Vec<Fact> {
    let fact = |name, value: &str| Fact { name, value: value.to_owned() };
    vec![
        fact("task", "bash-00000001"),
        fact("status", "running (ready)"),
        fact(
            "command",
            "npm run dev -- --port 3000 --host 127.0.0.1 --open false --strict --mode development",
        ),
        fact("directory", "/home/me/project"),
        fact("limits", "memory 2 GiB (sampled)"),
    ]
}

pub(super) fn lanes() -> Vec<Lane> {
    let lane = |number: usize, status: Status, what: &str, runs: &[(i64, Option<i64>, Status)]| Lane {
        id: format!("bash-{number:08}"),
        what: what.to_owned(),
        status,
        runs: runs
            .iter()
            .zip(1..)
            .map(|((from, to, status), number)| TaskRun {
                number,
                started_at: ago(*from),
                ended_at: to.map(ago),
                status: *status,
                signals: Vec::new(),
                left_behind: Vec::new(),
            })
            .collect(),
    };
    vec![
        lane(1, Status::Running, "dev-server: npm run dev", &[(100, None, Status::Running)]),
        lane(
            2,
            Status::Running,
            "cargo test",
            &[(90, Some(70), Status::Failed), (60, Some(30), Status::Completed), (20, None, Status::Running)],
        ),
        lane(4, Status::Cancelled, "make check", &[(50, Some(45), Status::Cancelled)]),
    ]
}

pub(super) fn target(id: &str) -> LogTarget {
    LogTarget { id: id.to_owned(), run: 1, stream: StreamChoice::Both }
}

fn selected(desk: &Desk) -> Option<&str> {
    desk.state.list.selected_id.as_deref()
}

fn listed(effects: &[Effect]) -> Option<(&Query, usize)> {
    effects.iter().find_map(|effect| match effect {
        Effect::Find(Lookup::List(query, range)) => Some((query, range.start)),
        _ => None,
    })
}
