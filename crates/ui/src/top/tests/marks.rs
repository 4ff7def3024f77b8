//! Tests marks and actions on marked tasks, reversed orders, copying, and clicks.

use crossterm::event::{KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use mw_desk::action::{ApprovalReply, Force, Removal, TaskAction};
use mw_desk::query::{Sort, States};

use meanwhile::model::Status;

use super::{Desk, key, open_request, rows};
use crate::screen::{Input, TerminalRequest};
use crate::top::effect::Effect;
use crate::top::event::Event;

fn ids(numbers: &[usize]) -> Vec<String> {
    numbers.iter().map(|number| format!("bash-{number:08}")).collect()
}

/// Clicks on the beginning of a text.
fn click(desk: &mut Desk, text: &str) {
    let drawn = desk.drawn();
    let find = |(y, line): (usize, &str)| line.find(text).map(|at| (line[..at].chars().count(), y));
    let (x, y) = drawn.lines().enumerate().find_map(find).unwrap_or_else(|| panic!("{text} in\n{drawn}"));
    click_at(desk, x as u16, y as u16);
}

fn click_at(desk: &mut Desk, column: u16, row: u16) {
    let kind = MouseEventKind::Down(MouseButton::Left);
    desk.take(Input::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
}

#[test]
fn one_question_confirms_an_action_on_all_marked_tasks() {
    let actions = [
        ("xy", TaskAction::Kill(ids(&[1, 2]), Force::Term)),
        ("x9", TaskAction::Kill(ids(&[1, 2]), Force::Kill)),
        ("ry", TaskAction::Restart(ids(&[1, 2]))),
        ("cy", TaskAction::Clear(Removal::These(ids(&[1, 2])))),
    ];
    for (keys, action) in actions {
        let mut desk = Desk::with_tasks(80, 24);
        desk.press("  ");
        assert!(desk.drawn().contains("* 2 marked"), "{}", desk.drawn());
        assert_eq!(desk.drawn().lines().filter(|line| line.starts_with('*')).count(), 2);
        desk.press(&keys[..1]);
        assert_eq!(desk.effects, [], "{keys}");
        assert!(desk.drawn().contains("2 marked tasks"), "{}", desk.drawn());
        assert!(desk.drawn().contains("bash-00000002  cargo test --workspace"), "{}", desk.drawn());
        desk.press(&keys[1..]);
        assert!(desk.effects.contains(&Effect::Do(action)), "{:?}", desk.effects);
        assert!(!desk.drawn().contains("* 2 marked"), "an action removes the marks");
    }
}

#[test]
fn marks_are_removed_one_by_one_or_all_at_once() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press(" k ");
    assert!(desk.state.marked.is_empty(), "{:?}", desk.state.marked);
    desk.press("  /s");
    desk.take(key(KeyCode::Enter));
    desk.list(rows());
    desk.take(key(KeyCode::Esc));
    assert!(desk.state.marked.is_empty());
    assert_eq!(desk.state.list.query.text, "s", "the first Esc removes only the marks");
    desk.take(key(KeyCode::Esc));
    assert_eq!(desk.state.list.query.text, "");
}

#[test]
fn with_a_full_screen_pane_keys_act_on_the_shown_task_not_on_hidden_marks() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("  ");
    desk.take(key(KeyCode::Enter));
    desk.press("xy");
    assert!(
        desk.effects.contains(&Effect::Do(TaskAction::Kill(ids(&[3]), Force::Term))),
        "{:?}",
        desk.effects
    );
}

#[test]
fn the_space_bar_scrolls_a_log_by_a_page() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.print(&(0..100).map(|at| format!("line {at}\n")).collect::<String>());
    desk.press("\tg");
    desk.take(key(KeyCode::Tab));
    desk.press("g");
    let before = desk.state.log.top.line;
    desk.press(" ");
    assert!(desk.state.log.top.line > before && desk.state.marked.is_empty());
}

#[test]
fn an_order_is_reversed_and_labelled_as_such() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("I");
    assert!(desk.drawn().contains("sort:oldest"), "{}", desk.drawn());
    assert!(desk.drawn().contains("ID▴"), "{}", desk.drawn());
    desk.list(rows());
    desk.press("s");
    assert!(desk.drawn().contains("sort:longest"), "a new order is not reversed");
    desk.list(rows());
    click(&mut desk, "TIME");
    let query = &desk.state.list.query;
    assert_eq!((query.sort, query.is_reversed), (Sort::Longest, true), "{}", desk.drawn());
    assert!(desk.drawn().contains("sort:shortest"));
}

#[test]
fn id_and_path_are_copied_through_the_terminal() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("y");
    assert_eq!(desk.effects, [Effect::Screen(TerminalRequest::Copy("bash-00000001".to_owned()))]);
    assert!(desk.drawn().contains("copied bash-00000001 (if the terminal"));
    desk.press("Y");
    assert_eq!(
        desk.effects,
        [Effect::Screen(TerminalRequest::Copy("/home/me/tasks/bash-00000001/output.log".to_owned()))]
    );
    let mut empty = Desk::new(80, 24);
    empty.list(Vec::new());
    empty.press("y");
    assert_eq!(empty.effects, []);
}

#[test]
fn answers_can_be_clicked_at_every_size() {
    for (width, height) in [(80, 24), (40, 8), (30, 6)] {
        let kill = |text: &str| {
            let mut desk = Desk::with_tasks(width, height);
            desk.press("x");
            click(&mut desk, text);
            desk.effects
        };
        let is_long = height > 10;
        let (yes, at_once, no) =
            if is_long { ("y  SIG", "9  SIG", "n  no") } else { ("y yes", "9 at", "n no") };
        assert!(
            kill(yes).contains(&Effect::Do(TaskAction::Kill(ids(&[1]), Force::Term))),
            "{width}x{height}"
        );
        assert!(
            kill(at_once).contains(&Effect::Do(TaskAction::Kill(ids(&[1]), Force::Kill))),
            "{width}x{height}"
        );
        assert!(!kill(no).iter().any(|effect| matches!(effect, Effect::Do(_))), "{width}x{height}");
        // The text of the question is not an answer.
        assert_eq!(kill("Kill bash"), []);
    }
}

#[test]
fn a_click_cannot_approve_an_unread_request() {
    let mut desk = Desk::with_tasks(80, 24);
    let lines = (0..60).map(|at| format!("line {at}")).collect();
    desk.take(Event::Asked(vec![open_request("ask-one", lines)]));
    desk.press("A");
    click(&mut desk, "y yes");
    assert_eq!(desk.effects, []);
    (0..9).for_each(|_| desk.take(key(KeyCode::PageDown)));
    click(&mut desk, "s session");
    assert_eq!(desk.effects, [Effect::Do(TaskAction::Answer("ask-one".to_owned(), ApprovalReply::Session))]);
}

#[test]
fn lines_of_a_menu_can_be_clicked() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("f");
    click_at(&mut desk, 0, 0);
    assert!(desk.drawn().contains(" state "), "a click next to the menu is ignored");
    click(&mut desk, "timed_out");
    assert_eq!(desk.state.list.query.states, States::Only(Status::TimedOut));
}

#[test]
fn hints_can_be_clicked_and_a_click_opens_the_selected_row() {
    let mut desk = Desk::with_tasks(80, 24);
    click(&mut desk, "? help  q");
    assert!(desk.drawn().contains("mw top: keys"), "{}", desk.drawn());
    desk.take(key(KeyCode::Esc));
    click(&mut desk, "x kill");
    assert!(desk.drawn().contains("Kill bash-00000001"), "{}", desk.drawn());
    desk.take(key(KeyCode::Esc));
    click(&mut desk, "bash_2");
    assert!(desk.drawn().contains("STATUS"), "{}", desk.drawn());
    click(&mut desk, "bash_2");
    assert!(!desk.drawn().contains("STATUS"), "{}", desk.drawn());
}
