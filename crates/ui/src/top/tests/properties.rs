//! Tests that no sequence of events panics, and that the selected task always exists.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use meanwhile::model::Status;
use mw_desk::log_window::LogChunk;
use mw_desk::query::{StateCounts, Window};
use proptest::prelude::*;

use super::{Desk, NOW, facts, lanes, open_request, row};
use crate::screen::Input;
use crate::top::effect::{Effect, Lookup};
use crate::top::event::Event;
use crate::top::list::Loading;

#[derive(Clone, Debug)]
enum Step {
    Key(KeyCode, KeyModifiers),
    Click(u16, u16),
    Wheel(u16, u16),
    Resize(u16, u16),
    /// Answers the last lookup with a list of this many rows.
    List(usize),
    Print(String),
    Other(u8),
}

fn keys() -> impl Strategy<Value = KeyCode> {
    prop_oneof![
        6 => prop::sample::select("jkgGhlxyn9rioaepcCsSAbfFwt123/?m qzNYI    ".chars().collect::<Vec<_>>())
            .prop_map(KeyCode::Char),
        1 => any::<char>().prop_map(KeyCode::Char),
        3 => prop::sample::select(vec![
            KeyCode::Up, KeyCode::Down, KeyCode::PageUp, KeyCode::PageDown, KeyCode::Home, KeyCode::End,
            KeyCode::Tab, KeyCode::Enter, KeyCode::Esc, KeyCode::Backspace, KeyCode::Delete, KeyCode::Left,
            KeyCode::Right, KeyCode::F(9),
        ]),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => keys().prop_map(|key| Step::Key(key, KeyModifiers::NONE)),
        1 => keys().prop_map(|key| Step::Key(key, KeyModifiers::CONTROL)),
        1 => (0..210_u16, 0..60_u16).prop_map(|(x, y)| Step::Click(x, y)),
        1 => (0..210_u16, 0..60_u16).prop_map(|(x, y)| Step::Wheel(x, y)),
        1 => (0..210_u16, 0..60_u16).prop_map(|(x, y)| Step::Resize(x, y)),
        3 => prop_oneof![Just(0), 1..12_usize, Just(5_000)].prop_map(Step::List),
        2 => "([a-z日\u{1b}\\[\\]0-9;m\r\t]{0,60}\n?){0,4}".prop_map(Step::Print),
        1 => any::<u8>().prop_map(Step::Other),
    ]
}

fn mouse(kind: MouseEventKind, column: u16, row: u16) -> Input<Event> {
    Input::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })
}

fn event(desk: &Desk, asked: usize, step: Step) -> Option<Input<Event>> {
    Some(match step {
        Step::Key(code, modifiers) => Input::Key(KeyEvent::new(code, modifiers)),
        Step::Click(x, y) => mouse(MouseEventKind::Down(MouseButton::Left), x, y),
        Step::Wheel(x, y) => mouse(MouseEventKind::ScrollDown, x, y),
        Step::Resize(x, y) => Input::Resized(x, y),
        Step::List(total) => {
            let status = |at: usize| Status::ALL[at % Status::ALL.len()];
            let rows = (asked..total.min(asked + 60)).map(|at| row(at, status(at), "a 日本 task")).collect();
            let query = desk.state.list.query.clone();
            let live = total / 3;
            Event::Listed(Window {
                query,
                start: asked,
                rows,
                total,
                live,
                counts: StateCounts::default(),
                unlisted: None,
                at: NOW,
            })
            .into()
        }
        Step::Print(text) => {
            let end = text.len() as u64 + 1000;
            let chunk = LogChunk { skipped: end % 3, ..LogChunk::of_text(text, 1000, end) };
            Event::Read(desk.state.log.target.clone()?, chunk).into()
        }
        Step::Other(n) if n % 12 == 0 => Input::Tick,
        Step::Other(n) if n % 12 == 10 => Input::Paste("pa\u{7}sted 日本".to_owned()),
        Step::Other(n) => Input::Event(match n % 12 {
            1 => Event::TasksChanged,
            2 => Event::Facts(desk.state.list.selected_id.clone()?, facts()),
            3 => Event::Lanes(lanes(), NOW),
            4 => {
                let lines = (0..usize::from(n)).map(|at| format!("line {at} 日本")).collect();
                let other = open_request("ask-b", vec![String::new()]);
                Event::Asked(vec![open_request("ask-a", lines), other])
            }
            5 => Event::Asked(Vec::new()),
            6 => Event::ListFailed("it is locked".to_owned()),
            7 => Event::Done(vec!["done".to_owned(), "  still alive: 1 日本".to_owned()]),
            8 => Event::Unreadable(desk.state.log.target.clone()?, "it is gone".to_owned()),
            9 => {
                let text = "earlier\n".repeat(usize::from(n));
                let chunk = LogChunk { has_later: true, ..LogChunk::of_text(text, 0, 1000) };
                Event::ReadEarlier(desk.state.log.target.clone()?, chunk)
            }
            _ => Event::Failed("it failed; try again".to_owned()),
        }),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_events_leave_a_screen_that_can_be_drawn(
        steps in prop::collection::vec(steps(), 1..60),
        other in (1..210_u16, 1..60_u16),
    ) {
        let mut desk = Desk::with_tasks(80, 24);
        let mut asked = 0;
        for step in steps {
            let Some(event) = event(&desk, asked, step) else { continue };
            desk.take(event);
            for effect in &desk.effects {
                if let Effect::Find(Lookup::List(_, range)) = effect {
                    asked = range.start;
                }
            }
            let list = &desk.state.list;
            prop_assert!(list.selected < list.total.max(1));
            if list.loading == Loading::Idle && list.away.is_none() && let Some(row) = list.row(list.selected) {
                prop_assert_eq!(Some(&row.id), list.selected_id.as_ref());
            }
            let height = desk.state.list_height();
            if height > 0 && list.total > 0 {
                prop_assert!(list.top <= list.selected && list.selected < list.top + height);
            }
            if desk.state.size.0 > 0 && desk.state.size.1 > 0 {
                desk.drawn();
            }
            // The terminal may be resized before the event arrives.
            desk.drawn_on(other.0, other.1);
        }
    }
}
