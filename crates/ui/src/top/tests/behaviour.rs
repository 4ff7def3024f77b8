//! Tests the effects of keys, replies and the mouse.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use meanwhile::engine::StreamChoice;
use meanwhile::model::Status;
use mw_desk::action::TaskAction;
use mw_desk::log_window::LogChunk;
use mw_desk::query::{Query, Sort, StateCounts, States, Window};

use super::{Desk, NOW, key, row, rows, target};
use crate::screen::{Input, TerminalRequest};
use crate::top::effect::{Direction, Effect, Hunt, Lookup, Program};
use crate::top::event::Event;

fn selected(desk: &Desk) -> Option<&str> {
    desk.state.list.selected_id.as_deref()
}

fn listed(effects: &[Effect]) -> Option<(&Query, usize)> {
    effects.iter().find_map(|effect| match effect {
        Effect::Find(Lookup::List(query, range)) => Some((query, range.start)),
        _ => None,
    })
}

#[test]
fn the_selection_follows_its_task() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("jjj");
    assert_eq!(selected(&desk), Some("bash-00000004"));
    let mut more = rows();
    more.insert(0, row(99, Status::Running, "new"));
    desk.list(more);
    assert_eq!((selected(&desk), desk.state.list.selected), (Some("bash-00000004"), 4));
    // If the selected task is gone, the task in its place is selected.
    desk.list(rows().into_iter().take(2).collect());
    assert_eq!(selected(&desk), Some("bash-00000002"));
    desk.list(Vec::new());
    assert_eq!(selected(&desk), None);
}

/// Returns thirty of sixty tasks from an index on. The given tasks have ended and come last.
fn of_sixty(start: usize, ended: &[usize]) -> Window {
    let live = (0..60).filter(|at| !ended.contains(at)).map(|at| row(at, Status::Running, "x"));
    let ended = ended.iter().map(|at| row(*at, Status::Completed, "x"));
    let all: Vec<_> = live.chain(ended).collect();
    let live = all.iter().filter(|row| row.alive).count();
    let rows = all[start..(start + 30).min(60)].to_vec();
    Window { start, rows, total: 60, live, ..super::window(&Query::default(), Vec::new()) }
}

fn kept(effects: &[Effect]) -> Option<&str> {
    effects.iter().find_map(|effect| match effect {
        Effect::Find(Lookup::List(_, range)) => range.keep.as_deref(),
        _ => None,
    })
}

#[test]
fn the_selection_follows_a_task_that_moves_far_away() {
    let mut desk = Desk::new(80, 24);
    desk.take(Event::Listed(of_sixty(0, &[])));
    desk.press("jjj");
    desk.take(Event::TasksChanged);
    assert_eq!(kept(&desk.effects), Some("bash-00000003"));
    desk.take(Event::Listed(of_sixty(30, &[3])));
    assert_eq!((selected(&desk), desk.state.list.selected), (Some("bash-00000003"), 59));
    assert_eq!(desk.state.log.target, Some(target("bash-00000003")));
}

#[test]
fn a_new_order_keeps_the_selection() {
    let heading = MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column: 42,
        row: 1,
        modifiers: KeyModifiers::NONE,
    };
    for order in [key(KeyCode::Char('s')), key(KeyCode::Char('I')), Input::Mouse(heading)] {
        let mut desk = Desk::with_tasks(80, 24);
        desk.press("jjj");
        desk.take(order);
        assert_eq!(kept(&desk.effects), Some("bash-00000004"));
        desk.list(rows().into_iter().rev().collect());
        assert_eq!((selected(&desk), desk.state.list.selected), (Some("bash-00000004"), 3));
        assert_eq!(desk.state.log.target, Some(target("bash-00000004")));
    }
}

#[test]
fn the_first_row_is_selected_until_the_user_selects_another() {
    let mut desk = Desk::new(80, 24);
    desk.list(Vec::new());
    for newest in 1..40 {
        desk.take(Event::TasksChanged);
        assert_eq!(kept(&desk.effects), None);
        desk.list((1..=newest).rev().map(|at| row(at, Status::Running, "x")).collect());
        assert_eq!((desk.state.list.selected, desk.state.list.top), (0, 0));
        let first = format!("bash-{newest:08}");
        assert_eq!((selected(&desk), desk.state.log.target.clone()), (Some(&*first), Some(target(&first))));
    }
    desk.press("s");
    desk.list(rows());
    assert_eq!(selected(&desk), Some("bash-00000001"), "the first row of the new order is selected");
}

#[test]
fn a_key_for_the_selected_task_holds_the_selection() {
    for chooses in ["xn", "i", "e", "\t", "\n", "r"] {
        let mut desk = Desk::with_tasks(80, 24);
        for c in chooses.chars() {
            desk.take(key(match c {
                '\t' => KeyCode::Tab,
                '\n' => KeyCode::Enter,
                c => KeyCode::Char(c),
            }));
        }
        let mut more = rows();
        more.insert(0, row(99, Status::Running, "new"));
        desk.list(more);
        assert_eq!(selected(&desk), Some("bash-00000001"), "{chooses:?}");
    }
}

#[test]
fn a_full_screen_log_stays_when_its_task_leaves_the_list() {
    let mut desk = Desk::new(80, 24);
    desk.take(Event::Listed(of_sixty(0, &[])));
    desk.press("jjj");
    desk.take(key(KeyCode::Enter));
    let unlisted = Some(Box::new(row(3, Status::Failed, "x")));
    desk.take(Event::Listed(Window { unlisted, total: 59, ..of_sixty(4, &[]) }));
    assert_eq!(desk.state.log.target, Some(target("bash-00000003")));
    assert!(desk.drawn().contains("✗ x · failed"), "{}", desk.drawn());
    desk.press("r");
    assert!(desk.effects.contains(&Effect::Do(TaskAction::Restart(vec!["bash-00000003".to_owned()]))));
    desk.take(key(KeyCode::Esc));
    assert_ne!(selected(&desk), Some("bash-00000003"));
}

#[test]
fn a_filter_with_the_same_result_keeps_the_selection() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("jj/s");
    desk.list(rows());
    assert_eq!((selected(&desk), desk.state.list.selected), (Some("bash-00000003"), 2));
}

#[test]
fn a_full_screen_timeline_scrolls_with_the_selection() {
    let mut desk = Desk::new(80, 24);
    desk.take(Event::Listed(of_sixty(0, &[])));
    desk.press("3");
    desk.take(key(KeyCode::Enter));
    for _ in 0..25 {
        desk.press("j");
    }
    let list = &desk.state.list;
    let shown: Vec<_> = list.visible(desk.state.list_height()).map(|row| row.id.as_str()).collect();
    assert_eq!(selected(&desk), Some("bash-00000025"));
    assert!(shown.contains(&"bash-00000025"), "{shown:?}");
    let asked =
        |effect: &Effect| matches!(effect, Effect::Find(Lookup::Runs(ids)) if ids.len() >= shown.len());
    assert!(desk.effects.iter().any(asked), "{:?}", desk.effects);
}

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
fn the_log_belongs_to_the_selected_task_and_run() {
    let mut desk = Desk::with_tasks(80, 24);
    assert_eq!(desk.state.log.target, Some(target("bash-00000001")));
    desk.take(Input::Key(crossterm::event::KeyEvent::from(KeyCode::Down)));
    assert!(desk.effects.contains(&Effect::Follow(Some(target("bash-00000002")))));
    let late = LogChunk::of_text("late", 0, 4);
    desk.take(Event::Read(target("bash-00000001"), late));
    assert!(!desk.drawn().contains("late"));
    desk.press("o");
    assert_eq!(desk.state.log.target.as_ref().map(|target| target.stream), Some(StreamChoice::Stdout));
    let mut again = rows();
    again[1].run = 2;
    desk.list(again);
    assert_eq!(desk.state.log.target.as_ref().map(|target| target.run), Some(2));
    desk.press("2");
    assert!(desk.effects.contains(&Effect::Follow(None)));
}

#[test]
fn scrolling_up_in_a_log_reads_earlier_parts() {
    let mut desk = Desk::with_tasks(80, 24);
    let text = "line\n".repeat(100);
    let chunk = LogChunk::of_text(text, 5000, 5500);
    desk.take(Event::Read(target("bash-00000001"), chunk));
    desk.take(key(KeyCode::Tab));
    let mut asked = Vec::new();
    for _ in 0..9 {
        desk.take(key(KeyCode::PageUp));
        asked.append(&mut desk.effects);
    }
    assert_eq!(asked, [Effect::Find(Lookup::LogBefore(target("bash-00000001"), 5000))]);
    let earlier = LogChunk { next: 5000, has_later: true, ..LogChunk::of_text("a\nb\n", 0, 5500) };
    desk.take(Event::ReadEarlier(target("bash-00000001"), earlier));
    assert_eq!(desk.state.log.lines.len(), 102);
    desk.press("g");
    assert_eq!(desk.effects, []);
    assert!(desk.drawn().contains("\na\nb\nline"));
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
fn returning_to_the_end_of_a_growing_log_reads_it_again() {
    let mut desk = Desk::with_tasks(80, 24);
    let lines: String = (0..100_010).map(|at| format!("{at}\n")).collect();
    desk.print("first\n");
    desk.take(key(KeyCode::Tab));
    desk.press("F");
    desk.print(&lines);
    assert!(desk.drawn().contains("paused, G continues"), "{}", desk.drawn());
    desk.press("G");
    assert!(desk.effects.contains(&Effect::Follow(Some(target("bash-00000001")))), "{:?}", desk.effects);
}

/// Returns a part of a log of a hundred numbered lines for each kilobyte.
fn part(from: u64, text: &str, end: u64) -> LogChunk {
    let has_later = from + (text.len() as u64) < end;
    LogChunk { has_later, ..LogChunk::of_text(text, from, end) }
}

#[test]
fn g_shows_the_beginning_of_the_log_and_scrolling_down_reads_on() {
    let mut desk = Desk::with_tasks(80, 24);
    let of = || target("bash-00000001");
    desk.take(Event::Read(of(), part(9_000, &"late\n".repeat(200), 10_000)));
    desk.take(key(KeyCode::Tab));
    desk.press("g");
    assert_eq!(desk.effects, [Effect::Find(Lookup::LogStart(of()))]);
    desk.press("g");
    assert_eq!(desk.effects, [], "it is requested once");
    let begin = (0..50).map(|at| format!("first {at}\n")).collect::<String>();
    let length = begin.len() as u64;
    desk.take(Event::ReadStart(of(), part(0, &begin, 10_000)));
    assert!(desk.drawn().contains("\nfirst 0\nfirst 1\n"), "{}", desk.drawn());
    // New output does not appear in the middle of the log.
    desk.take(Event::Read(of(), part(10_000, "new\n", 10_004)));
    let mut asked = Vec::new();
    for _ in 0..9 {
        desk.take(key(KeyCode::PageDown));
        asked.append(&mut desk.effects);
    }
    assert_eq!(asked, [Effect::Find(Lookup::LogAfter(of(), length))]);
    assert!(desk.drawn().contains("first 49"), "{}", desk.drawn());
    desk.take(Event::ReadLater(of(), part(length, "second\n", 10_004)));
    desk.take(key(KeyCode::PageDown));
    assert!(desk.drawn().contains("first 49\nsecond"), "{}", desk.drawn());
    desk.press("G");
    assert!(desk.effects.contains(&Effect::Follow(Some(of()))), "the end is read again");
}

#[test]
fn a_search_covers_the_parts_of_the_log_that_are_not_loaded() {
    let mut desk = Desk::with_tasks(80, 24);
    let of = || target("bash-00000001");
    desk.take(Event::Read(of(), part(9_000, &"late\n".repeat(200), 10_000)));
    desk.take(key(KeyCode::Tab));
    desk.press("/needle");
    desk.take(key(KeyCode::Enter));
    let hunt =
        |direction| Hunt { target: of(), text: "needle".to_owned(), direction, loaded: (9_000, 10_000) };
    let backward = hunt(Direction::Backward);
    assert_eq!(desk.effects, [Effect::Search(backward.clone())]);
    desk.take(Event::Searched(backward.clone(), 40));
    assert!(desk.drawn().contains("searching \"needle\": 40 %"), "{}", desk.drawn());
    desk.take(Event::Found(backward, Some(part(500, "a\na needle\nb\n", 10_000))));
    assert!(desk.drawn().contains("a needle\nb"), "{}", desk.drawn());
    assert!(desk.drawn().contains("/needle 1/1+"), "{}", desk.drawn());
    // The next match is searched from there on.
    desk.press("n");
    let forward = Hunt { loaded: (500, 513), ..hunt(Direction::Forward) };
    assert_eq!(desk.effects[0], Effect::Search(forward.clone()));
    desk.take(Event::Found(forward, None));
    assert!(desk.drawn().contains("/needle 1/1+"), "the only match stays");
    desk.take(key(KeyCode::Esc));
    assert_eq!(desk.effects, [Effect::EndSearch]);
    // A result that arrives late changes nothing.
    desk.take(Event::Found(hunt(Direction::Backward), Some(part(0, "needle\n", 10_000))));
    assert!(desk.drawn().contains("a needle\nb"), "{}", desk.drawn());
}

#[test]
fn a_text_that_is_nowhere_in_the_log_is_reported() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.print("one\n");
    desk.take(key(KeyCode::Tab));
    desk.press("/needle");
    desk.take(key(KeyCode::Enter));
    assert!(desk.drawn().ends_with("\"needle\" not found"), "{}", desk.drawn());
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
