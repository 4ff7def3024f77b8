//! Tests bursts of keys with delayed replies: an action applies to the task that the screen shows as selected.

use crossterm::event::KeyCode;
use meanwhile::model::Status;
use mw_desk::action::TaskAction;
use mw_desk::query::{Query, RowRange, StateCounts, Window};
use mw_desk::rows::TaskRow;
use proptest::prelude::*;

use super::{Desk, NOW, key, row};
use crate::screen::{Input, TerminalRequest};
use crate::top::effect::{Effect, Lookup};
use crate::top::event::Event;
use crate::top::question::Question;
use crate::top::state::{Mode, Purpose};

/// The tasks, and the lookups that are not answered yet.
struct World {
    desk: Desk,
    tasks: Vec<TaskRow>,
    asked: Vec<(Query, RowRange)>,
    done: Vec<TaskAction>,
}

impl World {
    fn new(names: &[&str]) -> Self {
        let tasks = names.iter().enumerate().map(|(at, name)| row(at, Status::Running, name)).collect();
        let desk = Desk::new(80, 24);
        let mut world = Self { desk, tasks, asked: Vec::new(), done: Vec::new() };
        world.note();
        world
    }

    /// Records the effects of the screen.
    fn note(&mut self) {
        for effect in std::mem::take(&mut self.desk.effects) {
            match effect {
                Effect::Find(Lookup::List(query, range)) => self.asked.push((query, range)),
                Effect::Do(action) => self.done.push(action),
                _ => {}
            }
        }
    }

    fn take(&mut self, input: impl Into<Input<Event>>) {
        self.desk.take(input);
        self.note();
    }

    fn keys(&mut self, keys: &str) {
        for c in keys.chars() {
            let code = match c {
                '⏎' => KeyCode::Enter,
                '⎋' => KeyCode::Esc,
                c => KeyCode::Char(c),
            };
            self.take(key(code));
        }
    }

    fn listed(&self, query: &Query) -> Vec<TaskRow> {
        self.tasks.iter().filter(|task| task.what.contains(&query.text)).cloned().collect()
    }

    /// Answers the oldest lookup correctly.
    fn answer(&mut self) {
        if self.asked.is_empty() {
            return;
        }
        let (query, RowRange { start, count, keep, .. }) = self.asked.remove(0);
        let all = self.listed(&query);
        let start = match keep.and_then(|id| all.iter().position(|task| task.id == id)) {
            Some(place) if place < start || place >= start + count => place.saturating_sub(count / 2),
            Some(_) | None => start.min(all.len()),
        };
        let total = all.len();
        let rows = all.into_iter().skip(start).take(count).collect();
        self.take(Event::Listed(Window {
            query,
            start,
            rows,
            total,
            live: total,
            counts: StateCounts::default(),
            unlisted: None,
            at: NOW,
        }));
    }

    fn answer_all(&mut self) {
        while !self.asked.is_empty() {
            self.answer();
        }
    }

    fn killed(&self) -> Vec<String> {
        let ids = self.done.iter().filter_map(|action| match action {
            TaskAction::Kill(ids, _) => Some(ids.clone()),
            _ => None,
        });
        let names =
            ids.flatten().map(|id| self.tasks.iter().find(|task| task.id == id).unwrap().what.clone());
        names.collect()
    }
}

#[test]
fn keys_in_a_burst_apply_to_the_task_they_selected() {
    for names in [&["other", "victim", "wanted"][..], &["victim", "other", "wanted"], &["wanted", "victim"]] {
        let mut world = World::new(names);
        world.answer_all();
        world.keys("gj/victim");
        world.answer_all();
        world.keys("⎋");
        world.answer_all();
        world.keys("/wanted⏎xy");
        assert_eq!(world.killed(), Vec::<String>::new(), "the selection is not known yet");
        world.answer_all();
        assert_eq!(world.killed(), ["wanted"], "{names:?}");
    }
}

#[test]
fn keys_typed_before_a_failed_reply_are_dropped_and_reported() {
    let mut world = World::new(&["victim", "wanted"]);
    world.answer_all();
    world.keys("/wanted⏎xy");
    world.take(Event::ListFailed("it is locked".to_owned()));
    assert_eq!(world.killed(), Vec::<String>::new());
    assert!(world.desk.drawn().contains("keys typed meanwhile were dropped"), "{}", world.desk.drawn());
    world.keys("x");
    let drawn = world.desk.drawn();
    assert!(drawn.contains("Kill bash-00000000"), "the task that is shown as selected: {drawn}");
}

#[test]
fn ctrl_c_quits_while_a_reply_is_pending() {
    let mut world = World::new(&["victim", "wanted"]);
    world.answer_all();
    world.keys("/wanted⏎xy");
    let interrupt =
        crossterm::event::KeyEvent::new(KeyCode::Char('c'), crossterm::event::KeyModifiers::CONTROL);
    world.desk.take(Input::Key(interrupt));
    assert!(world.desk.effects.contains(&Effect::Screen(TerminalRequest::Quit)));
    world.answer_all();
    assert_eq!(world.killed(), Vec::<String>::new());
}

#[derive(Clone, Debug)]
enum Step {
    Keys(String),
    Answer,
    Fail,
    /// A new task is added at the top of the list.
    Begin(usize),
    /// Another process removes a task.
    Remove(usize),
    TasksChanged,
}

fn steps() -> impl Strategy<Value = Step> {
    let words = prop::sample::select(vec!["victim", "wanted", "other", "nobody", "e"]);
    let moves =
        prop::sample::select(vec!["j", "k", "g", "G", "jj", "⎋", "x", "xy", "xn", "x9", "jxy", "Gxy"]);
    prop_oneof![
        4 => (words, any::<bool>())
            .prop_map(|(word, kills)| Step::Keys(format!("/{word}⏎{}", if kills { "xy" } else { "" }))),
        4 => moves.prop_map(|keys| Step::Keys(keys.to_owned())),
        5 => Just(Step::Answer),
        1 => Just(Step::Fail),
        1 => (0..3_usize).prop_map(Step::Begin),
        1 => any::<usize>().prop_map(Step::Remove),
        1 => Just(Step::TasksChanged),
    ]
}

const NAMES: [&str; 3] = ["victim", "wanted", "other"];

/// Returns the task that is drawn as selected. The theme without colours draws it in reverse.
fn selected_on_screen(desk: &Desk) -> Option<String> {
    use ratatui::style::Modifier;
    let (width, height) = desk.state.size;
    let mut terminal = ratatui::Terminal::new(ratatui::backend::TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| crate::top::view::view(&desk.state, frame)).unwrap();
    let list = crate::top::layout::Areas::of(&desk.state).list;
    if list.height == 0 {
        // The log of the selected task fills the screen.
        return desk.state.list.selected_row().map(|row| row.id.clone());
    }
    let buffer = terminal.backend().buffer();
    let is_reversed = |y: &u16| buffer[(list.x + 2, *y)].modifier.contains(Modifier::REVERSED);
    let y = (list.y..list.y + list.height).find(is_reversed)?;
    let line: String = (list.x..list.x + list.width).map(|x| buffer[(x, y)].symbol()).collect();
    let number =
        line.split_whitespace().find_map(|word| word.strip_prefix("bash_")?.parse::<usize>().ok())?;
    Some(format!("bash-{number:08}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_action_applies_to_the_task_shown_as_selected(
        first in prop::collection::vec(0..3_usize, 1..90),
        steps in prop::collection::vec(steps(), 1..40),
    ) {
        let names: Vec<_> = first.iter().map(|at| NAMES[*at]).collect();
        let mut world = World::new(&names);
        world.answer_all();
        let mut count = names.len();
        for step in steps {
            let inputs: Vec<Input<Event>> = match step {
                Step::Keys(keys) => keys.chars().map(|c| key(match c {
                    '⏎' => KeyCode::Enter,
                    '⎋' => KeyCode::Esc,
                    c => KeyCode::Char(c),
                })).collect(),
                Step::Answer => {
                    world.answer();
                    Vec::new()
                }
                Step::Fail if world.asked.is_empty() => Vec::new(),
                Step::Fail => {
                    world.asked.remove(0);
                    vec![Event::ListFailed("it is locked".to_owned()).into()]
                }
                Step::Begin(name) => {
                    world.tasks.insert(0, row(count, Status::Running, NAMES[name]));
                    count += 1;
                    vec![Event::TasksChanged.into()]
                }
                Step::Remove(at) => {
                    // Removed tasks are identified by name in this test.
                    let at = at % world.tasks.len().max(1);
                    if at < world.tasks.len() && world.tasks.len() > 1 { world.tasks.remove(at); }
                    vec![Event::TasksChanged.into()]
                }
                Step::TasksChanged => vec![Event::TasksChanged.into()],
            };
            for input in inputs {
                let shown = selected_on_screen(&world.desk);
                let was_asking = matches!(world.desk.state.mode, Mode::Asking(_));
                world.take(input);
                // A question that a key has opened is about the task that was drawn as selected.
                if let Mode::Asking(asking) = &world.desk.state.mode
                    && let Question::Kill(tasks) = &asking.question
                    && !was_asking
                {
                    prop_assert_eq!(tasks.len(), 1);
                    prop_assert_eq!(Some(&tasks[0].id), shown.as_ref());
                }
                for action in std::mem::take(&mut world.done) {
                    let TaskAction::Kill(ids, _) = action else { continue };
                    prop_assert!(was_asking, "killed without a question: {ids:?}");
                }
            }
            // Queued keys are processed with the reply, and apply to the rows of the reply.
            for action in std::mem::take(&mut world.done) {
                let TaskAction::Kill(ids, _) = action else { continue };
                let text = &world.desk.state.list.shown.text;
                for id in ids {
                    let name = NAMES.iter().find(|name| {
                        world.desk.state.list.row_of(&id).is_some_and(|row| row.what == **name)
                    });
                    prop_assert!(name.is_some_and(|name| name.contains(text.as_str())), "{id} by {text:?}");
                }
            }
            let typing = matches!(
                &world.desk.state.mode,
                Mode::Typing(prompt) if matches!(prompt.purpose, Purpose::Filter { .. })
            );
            if !typing && !world.desk.state.list.awaits_selection() {
                prop_assert!(world.desk.state.typed_ahead.is_empty(), "keys wait for no reply");
            }
        }
    }
}
