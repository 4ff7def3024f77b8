//! What keys, answers and the mouse do.

use crossterm::event::{KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use meanwhile::engine::StreamChoice;
use meanwhile::model::Status;
use mw_desk::action::TaskAction;
use mw_desk::log_window::LogChunk;
use mw_desk::query::{Query, Sort, States, Window};

use super::{Desk, NOW, key, row, rows, target};
use crate::top::effect::{Effect, Lookup, Program};
use crate::top::event::Event;

fn selected(desk: &Desk) -> Option<&str> {
    desk.state.list.selected_id.as_deref()
}

fn listed(effects: &[Effect]) -> Option<(&Query, usize)> {
    effects.iter().find_map(|effect| match effect {
        Effect::Find(Lookup::List(query, stretch)) => Some((query, stretch.start)),
        _ => None,
    })
}

#[test]
fn the_selection_stays_with_its_task() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("jjj");
    assert_eq!(selected(&desk), Some("bash-00000004"));
    let mut more = rows();
    more.insert(0, row(99, Status::Running, "new"));
    desk.list(more);
    assert_eq!((selected(&desk), desk.state.list.selected), (Some("bash-00000004"), 4));
    // One that is gone gives its place to another.
    desk.list(rows().into_iter().take(2).collect());
    assert_eq!(selected(&desk), Some("bash-00000002"));
    desk.list(Vec::new());
    assert_eq!(selected(&desk), None);
}

/// Thirty of sixty live tasks, from a place on; these have ended, and come last.
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
        Effect::Find(Lookup::List(_, stretch)) => stretch.keep.as_deref(),
        _ => None,
    })
}

#[test]
fn the_selection_stays_with_a_task_that_goes_far_away() {
    let mut desk = Desk::new(80, 24);
    desk.take(Event::Listed(of_sixty(0, &[])));
    desk.press("jjj");
    desk.take(Event::News);
    assert_eq!(kept(&desk.effects), Some("bash-00000003"));
    desk.take(Event::Listed(of_sixty(30, &[3])));
    assert_eq!((selected(&desk), desk.state.list.selected), (Some("bash-00000003"), 59));
    assert_eq!(desk.state.log.target, Some(target("bash-00000003")));
}

#[test]
fn another_order_keeps_the_selection() {
    let heading = MouseEvent {
        kind: MouseEventKind::Down(MouseButton::Left),
        column: 42,
        row: 1,
        modifiers: KeyModifiers::NONE,
    };
    for order in [key(KeyCode::Char('s')), key(KeyCode::Char('I')), Event::Mouse(heading)] {
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
fn as_long_as_nobody_has_chosen_the_first_row_is_selected() {
    let mut desk = Desk::new(80, 24);
    desk.list(Vec::new());
    for newest in 1..40 {
        desk.take(Event::News);
        assert_eq!(kept(&desk.effects), None);
        desk.list((1..=newest).rev().map(|at| row(at, Status::Running, "x")).collect());
        assert_eq!((desk.state.list.selected, desk.state.list.top), (0, 0));
        let first = format!("bash-{newest:08}");
        assert_eq!((selected(&desk), desk.state.log.target.clone()), (Some(&*first), Some(target(&first))));
    }
    desk.press("s");
    desk.list(rows());
    assert_eq!(selected(&desk), Some("bash-00000001"), "what an order brings to the top is seen");
}

#[test]
fn a_key_for_the_selected_task_is_a_choice() {
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
fn a_log_over_the_whole_screen_stays_when_its_task_leaves_the_list() {
    let mut desk = Desk::new(80, 24);
    desk.take(Event::Listed(of_sixty(0, &[])));
    desk.press("jjj");
    desk.take(key(KeyCode::Enter));
    let unlisted = Some(Box::new(row(3, Status::Failed, "x")));
    desk.take(Event::Listed(Window { unlisted, total: 59, ..of_sixty(4, &[]) }));
    assert_eq!(desk.state.log.target, Some(target("bash-00000003")));
    assert!(desk.drawn().contains("bash-00000003 failed"), "{}", desk.drawn());
    desk.press("r");
    assert!(desk.effects.contains(&Effect::Do(TaskAction::Restart(vec!["bash-00000003".to_owned()]))));
    desk.take(key(KeyCode::Esc));
    assert_ne!(selected(&desk), Some("bash-00000003"));
}

#[test]
fn a_filter_that_lists_the_same_keeps_the_selection() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("jj/s");
    desk.list(rows());
    assert_eq!((selected(&desk), desk.state.list.selected), (Some("bash-00000003"), 2));
}

#[test]
fn a_timeline_on_the_whole_screen_scrolls_with_the_selection() {
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
fn q_closes_what_has_the_whole_screen_before_it_leaves() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.take(key(KeyCode::Enter));
    desk.press("q");
    assert_eq!(desk.effects, []);
    assert!(desk.drawn().contains("STATUS"), "{}", desk.drawn());
    desk.press("q");
    assert_eq!(desk.effects, [Effect::Quit]);
}

#[test]
fn only_what_is_near_the_screen_is_asked_for() {
    let mut desk = Desk::new(80, 24);
    let many = |start: usize| Window {
        query: Query::default(),
        start,
        rows: (start..(start + 30).min(10_000)).map(|at| row(at, Status::Completed, "x")).collect(),
        total: 10_000,
        live: 0,
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
    // A question that was answered is not asked again, even if it brought too little.
    desk.take(Event::Listed(Window { rows: Vec::new(), ..many(start) }));
    assert_eq!(listed(&desk.effects), None);
}

#[test]
fn one_question_at_a_time_and_the_last_one_counts() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.take(Event::News);
    assert!(listed(&desk.effects).is_some());
    desk.take(Event::News);
    desk.take(Event::Tick);
    assert_eq!(listed(&desk.effects), None);
    desk.list(rows());
    assert!(listed(&desk.effects).is_some());
    desk.list(rows());
    assert_eq!(listed(&desk.effects), None);
}

#[test]
fn news_without_a_change_draw_nothing() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.state.take_changed();
    desk.take(Event::News);
    desk.list(rows());
    assert!(!desk.state.take_changed());
    desk.take(Event::Tick);
    let mut changed = rows();
    changed[1].percent = Some(43.0);
    desk.list(changed);
    assert!(desk.state.take_changed());
}

#[test]
fn the_clock_ticks_only_while_something_on_screen_runs() {
    let mut desk = Desk::with_tasks(80, 24);
    assert!(desk.state.wants_ticks());
    desk.list(vec![row(1, Status::Completed, "x"), row(2, Status::Pending, "y")]);
    assert!(!desk.state.wants_ticks());
}

#[test]
fn filters_are_seen_while_they_are_typed_and_undone_by_escape() {
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
fn an_answer_to_an_older_question_is_not_shown() {
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
    desk.take(Event::Key(crossterm::event::KeyEvent::from(KeyCode::Down)));
    assert!(desk.effects.contains(&Effect::Follow(Some(target("bash-00000002")))));
    let late = LogChunk { text: "late".to_owned(), offset: 0, end: 4, skipped: 0, has_earlier: false };
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
fn going_up_in_a_log_reads_what_was_not_read() {
    let mut desk = Desk::with_tasks(80, 24);
    let text = "line\n".repeat(100);
    let chunk = LogChunk { text, offset: 5000, end: 5500, skipped: 0, has_earlier: true };
    desk.take(Event::Read(target("bash-00000001"), chunk));
    desk.take(key(KeyCode::Tab));
    desk.press("g");
    assert!(desk.effects.contains(&Effect::Find(Lookup::LogBefore(target("bash-00000001"), 5000))));
    desk.press("g");
    assert_eq!(desk.effects, []);
    let earlier =
        LogChunk { text: "a\nb\n".to_owned(), offset: 0, end: 5500, skipped: 0, has_earlier: false };
    desk.take(Event::ReadEarlier(target("bash-00000001"), earlier));
    assert_eq!(desk.state.log.lines.len(), 102);
    desk.press("g");
    assert_eq!(desk.effects, []);
    assert!(desk.drawn().contains("\na\nb\nline"));
}

#[test]
fn programs_get_the_terminal_for_a_task_that_is_there_for_them() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("a");
    let id = "bash-00000001".to_owned();
    assert_eq!(desk.effects, [Effect::Find(Lookup::Attachable(id.clone()))]);
    desk.take(Event::Attachable(id.clone()));
    assert_eq!(desk.effects, [Effect::Run(Program::Attach(id.clone()))]);
    // Whoever has turned to something else is left there.
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
fn the_mouse_selects_scrolls_sorts_and_turns_pages() {
    let mut desk = Desk::with_tasks(80, 24);
    let mut mouse = |kind, column, row| {
        desk.take(Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
        (desk.state.list.selected, desk.state.list.query.sort, desk.state.pane)
    };
    let click = MouseEventKind::Down(MouseButton::Left);
    assert_eq!(mouse(click, 10, 5).0, 3);
    assert_eq!(mouse(MouseEventKind::ScrollDown, 10, 5).0, 6);
    assert_eq!(mouse(MouseEventKind::ScrollUp, 10, 5).0, 3);
    assert_eq!(mouse(click, 10, 11).0, 3);
    assert_eq!(mouse(click, 42, 1).1, Sort::Cpu);
    assert_eq!(mouse(click, 10, 10).2, crate::top::state::Pane::Facts);
}

#[test]
fn a_session_that_is_set_cannot_be_left() {
    let mut desk = Desk::new(80, 24);
    desk.state =
        crate::top::state::State::new((80, 24), crate::screen::ThemeChoice::Plain, Some("mine".to_owned()));
    desk.take(Event::Resized(80, 24));
    desk.list(rows());
    desk.press("S");
    assert_eq!(desk.effects, []);
    desk.take(key(KeyCode::Esc));
    assert_eq!(desk.state.list.query.session.as_deref(), Some("mine"));
}

#[test]
fn a_session_that_was_asked_for_can_be_left() {
    let mut desk = Desk::new(80, 24);
    desk.state.show_session("mine");
    desk.list(rows());
    desk.press("S");
    assert_eq!(desk.effects, [Effect::Find(Lookup::Sessions)]);
    desk.take(key(KeyCode::Esc));
    assert_eq!(desk.state.list.query.session, None);
}

#[test]
fn pasted_text_is_no_keys() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.take(Event::Paste("xyq".to_owned()));
    assert_eq!(desk.effects, []);
    desk.press("/");
    desk.take(Event::Paste("ma\u{1b}ke\n".to_owned()));
    assert_eq!(desk.state.list.query.text, "make");
}

#[test]
fn what_cannot_be_listed_is_said_and_not_asked_for_over_and_over() {
    let mut desk = Desk::new(80, 24);
    desk.take(Event::Unlisted("the database is damaged; mw doctor says more".to_owned()));
    assert_eq!(desk.effects, []);
    assert!(desk.drawn().contains("mw doctor"));
}

#[test]
fn what_cannot_be_heard_stays_on_screen_until_it_can() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.take(Event::Deaf("the database is locked".to_owned()));
    desk.press("j");
    assert!(desk.drawn().contains("not updating: the database is locked"), "{}", desk.drawn());
    desk.take(Event::Hearing);
    assert!(listed(&desk.effects).is_some());
    assert!(!desk.drawn().contains("not updating"));
}

#[test]
fn the_end_of_a_log_that_went_on_is_read_anew() {
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
