//! Tests the effects of keys, replies and the mouse.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use meanwhile::model::Status;
use mw_desk::action::TaskAction;
use mw_desk::query::{Query, Sort, StateCounts, States, Window};

use super::{Desk, NOW, key, listed, row, rows, selected};
use crate::screen::{Input, TerminalRequest};
use crate::top::effect::{Effect, Lookup, Program};
use crate::top::event::Event;

#[test]
fn q_closes_a_full_screen_pane_before_it_quits() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.take(key(KeyCode::Enter));
    desk.press("q");
    assert_eq!(desk.effects, []);
    assert!(desk.drawn().contains("STATUS"), "{}", desk.drawn());
    desk.press("q");
    assert_eq!(desk.effects, [Effect::Screen(TerminalRequest::Quit)]);
}

#[test]
fn only_rows_near_the_screen_are_requested() {
    let mut desk = Desk::new(80, 24);
    let many = |start: usize| Window {
        query: Query::default(),
        start,
        rows: (start..(start + 30).min(10_000)).map(|at| row(at, Status::Completed, "x")).collect(),
        total: 10_000,
        live: 0,
        counts: StateCounts::default(),
        unlisted: None,
        at: NOW,
    };
    desk.take(Event::Listed(many(0)));
    desk.press("j");
    assert_eq!(listed(&desk.effects), None);
    desk.press("G");
    let (_, start) = listed(&desk.effects).unwrap();
    assert!(start > 9_900);
    desk.take(Event::Listed(many(start)));
    assert_eq!(selected(&desk), Some("bash-00009999"));
    // A request that was answered is not repeated, even if the reply had too few rows.
    desk.take(Event::Listed(Window { rows: Vec::new(), ..many(start) }));
    assert_eq!(listed(&desk.effects), None);
}

#[test]
fn one_list_request_is_pending_at_a_time_and_later_ones_are_merged() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.take(Event::TasksChanged);
    assert!(listed(&desk.effects).is_some());
    desk.take(Event::TasksChanged);
    desk.take(Input::Tick);
    assert_eq!(listed(&desk.effects), None);
    desk.list(rows());
    assert!(listed(&desk.effects).is_some());
    desk.list(rows());
    assert_eq!(listed(&desk.effects), None);
}

#[test]
fn an_event_without_a_change_draws_nothing() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.take_changed();
    desk.take(Event::TasksChanged);
    desk.list(rows());
    assert!(!desk.take_changed());
    desk.take(Input::Tick);
    let mut changed = rows();
    changed[1].percent = Some(43.0);
    desk.list(changed);
    assert!(desk.take_changed());
}

#[test]
fn the_clock_ticks_only_while_a_task_on_screen_runs() {
    let mut desk = Desk::with_tasks(80, 24);
    assert_eq!(desk.state.ticks(), Some(Duration::from_secs(1)));
    desk.list(vec![row(1, Status::Completed, "x"), row(2, Status::Pending, "y")]);
    assert_eq!(desk.state.ticks(), Some(Duration::from_secs(30)), "ages grow");
}

#[test]
fn filters_apply_while_typed_and_escape_restores_the_previous_one() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("/ma");
    assert_eq!(desk.state.list.query.text, "ma");
    desk.take(key(KeyCode::Esc));
    assert_eq!(desk.state.list.query.text, "");
    desk.press("/make");
    desk.take(key(KeyCode::Enter));
    assert_eq!(desk.state.list.query.text, "make");
    desk.list(rows());
    desk.press("f");
    for _ in 0..5 {
        desk.take(key(KeyCode::Down));
    }
    desk.take(key(KeyCode::Enter));
    assert_eq!(desk.state.list.query.states, States::Only(Status::Failed));
    desk.list(rows());
    desk.take(key(KeyCode::Esc));
    assert_eq!(desk.state.list.query, Query::default());
}

#[test]
fn a_reply_to_an_older_query_is_not_shown() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("s");
    assert_eq!(desk.state.list.query.sort, Sort::Newest);
    let old = Window { total: 99, ..super::window(&Query::default(), Vec::new()) };
    desk.take(Event::Listed(old));
    assert_eq!(desk.state.list.total, 7);
}

#[test]
fn programs_get_the_terminal_only_for_a_suitable_task() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("a");
    let id = "bash-00000001".to_owned();
    assert_eq!(desk.effects, [Effect::Find(Lookup::Attachable(id.clone()))]);
    desk.take(Event::Attachable(id.clone()));
    assert_eq!(desk.effects, [Effect::Run(Program::Attach(id.clone()))]);
    // If the user has selected another task meanwhile, nothing happens.
    desk.press("j");
    desk.take(Event::Attachable(id));
    assert_eq!(desk.effects, []);
    desk.press("k");
    desk.press("e");
    let path = "/home/me/tasks/bash-00000001/output.log".to_owned();
    assert!(desk.effects.contains(&Effect::Run(Program::Editor(path))));
    desk.press("jjja");
    assert!(!desk.effects.iter().any(|effect| matches!(effect, Effect::Run(_))));
    assert!(desk.drawn().contains("bash-00000004 has ended; press e or p to open its log"));
    desk.press("ggi");
    desk.press("yes, q");
    desk.take(key(KeyCode::Enter));
    assert!(
        desk.effects
            .contains(&Effect::Do(TaskAction::Input("bash-00000001".to_owned(), "yes, q".to_owned())))
    );
}

#[test]
fn the_mouse_selects_scrolls_sorts_and_changes_panes() {
    let mut desk = Desk::with_tasks(80, 24);
    let mut mouse = |kind, column, row| {
        desk.take(Input::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
        (desk.state.list.selected, desk.state.list.query.sort, desk.state.pane)
    };
    let click = MouseEventKind::Down(MouseButton::Left);
    assert_eq!(mouse(click, 10, 5).0, 3);
    assert_eq!(mouse(MouseEventKind::ScrollDown, 10, 5).0, 6);
    assert_eq!(mouse(MouseEventKind::ScrollUp, 10, 5).0, 3);
    assert_eq!(mouse(click, 10, 11).0, 3);
    assert_eq!(mouse(click, 71, 1).1, Sort::Cpu);
    assert_eq!(mouse(click, 10, 10).2, crate::top::state::Pane::Facts);
}

#[test]
fn a_fixed_session_cannot_be_changed() {
    let mut desk = Desk::new(80, 24);
    desk.state =
        crate::top::state::State::new((80, 24), crate::screen::ThemeChoice::Plain, Some("mine".to_owned()));
    desk.take(Input::Resized(80, 24));
    desk.list(rows());
    desk.press("S");
    assert_eq!(desk.effects, []);
    desk.take(key(KeyCode::Esc));
    assert_eq!(desk.state.list.query.session.as_deref(), Some("mine"));
}

#[test]
fn a_preselected_session_can_be_changed() {
    let mut desk = Desk::new(80, 24);
    desk.state.show_session("mine");
    desk.list(rows());
    desk.press("S");
    assert_eq!(desk.effects, [Effect::Find(Lookup::Sessions)]);
    desk.take(key(KeyCode::Esc));
    assert_eq!(desk.state.list.query.session, None);
}

#[test]
fn pasted_text_is_not_treated_as_keys() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.take(Input::Paste("xyq".to_owned()));
    assert_eq!(desk.effects, []);
    desk.press("/");
    desk.take(Input::Paste("ma\u{1b}ke\n".to_owned()));
    assert_eq!(desk.state.list.query.text, "make");
}

#[test]
fn a_failed_list_is_reported_and_not_requested_repeatedly() {
    let mut desk = Desk::new(80, 24);
    desk.take(Event::ListFailed("the database is damaged; mw doctor says more".to_owned()));
    assert_eq!(desk.effects, []);
    assert!(desk.drawn().contains("mw doctor"));
}

#[test]
fn a_watch_failure_stays_on_screen_until_the_watch_works() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.take(Event::WatchFailed("the database is locked".to_owned()));
    desk.press("j");
    assert!(desk.drawn().contains("not updating: the database is locked"), "{}", desk.drawn());
    desk.take(Event::WatchStarted);
    assert!(listed(&desk.effects).is_some());
    assert!(!desk.drawn().contains("not updating"));
}

#[test]
fn the_border_between_list_and_log_can_be_moved() {
    for (width, height) in [(80, 24), (200, 50)] {
        let mut desk = Desk::with_tasks(width, height);
        let room = |desk: &Desk| {
            let areas = crate::top::layout::Areas::of(&desk.state);
            (areas.list.width, areas.list.height)
        };
        let before = room(&desk);
        desk.press("+");
        assert!(room(&desk) > before, "{:?} {before:?}", room(&desk));
        desk.press("-");
        assert_eq!(room(&desk), before);
        for _ in 0..40 {
            desk.press("-");
        }
        let least = room(&desk);
        assert!(least.0 > 20 && least.1 > 0, "a part of the list stays visible: {least:?}");
        desk.press("+");
        assert!(room(&desk) > least, "keys at the limit are not remembered");
    }
}

#[test]
fn columns_stay_where_they_are_while_the_list_is_scrolled() {
    let mut desk = Desk::new(120, 24);
    let mut rows: Vec<_> = (0..60).map(|at| row(at, Status::Completed, "x")).collect();
    rows[50].percent = Some(50.0);
    rows[51].sample.ports = vec![8080];
    rows[52].session = "another".to_owned();
    desk.list(rows);
    let heading = |desk: &Desk| desk.drawn().lines().nth(1).unwrap().to_owned();
    let before = heading(&desk);
    assert!(before.contains("PROGRESS") && before.contains("SESSION"), "{before}");
    desk.press("G");
    assert_eq!(heading(&desk), before);
    desk.press("g");
    assert_eq!(heading(&desk), before);
}
