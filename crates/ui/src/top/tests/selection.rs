//! Which task is selected.

use crossterm::event::{KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use meanwhile::model::Status;
use mw_desk::action::TaskAction;
use mw_desk::query::{Query, Window};

use super::{Desk, key, row, rows, selected, target};
use crate::screen::Input;
use crate::top::effect::{Effect, Lookup};
use crate::top::event::Event;

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
