//! Tests pictures of whole screens.

use crossterm::event::KeyCode;
use insta::assert_snapshot;

use super::{Desk, NOW, facts, key, lanes};
use crate::top::event::Event;

const LOG: &str = "\x1b[32m   Compiling\x1b[0m meanwhile v0.1.0\n\
    warning: unused variable: `x`\n\
    10%\r50%\r100%\n\
    running 61 tests\ntest rounds_to_cents ... \x1b[31mFAILED\x1b[0m\n\
    a line that is far too long for a pane of eighty columns and so is cut at the edge or wrapped, as asked\n";

fn at(width: u16, height: u16) -> Desk {
    let mut desk = Desk::with_tasks(width, height);
    if desk.state.log.target.is_some() {
        desk.print(LOG);
    }
    desk
}

#[test]
fn the_list_and_a_log_are_drawn_at_several_sizes() {
    assert_snapshot!("list_80x24", at(80, 24).drawn());
    assert_snapshot!("list_120x40", at(120, 40).drawn());
    assert_snapshot!("list_200x50", at(200, 50).drawn());
    assert_snapshot!("list_40x10", at(40, 10).drawn());
}

#[test]
fn a_window_that_is_too_small_says_so() {
    assert_snapshot!("tiny_20x4", at(20, 4).drawn());
}

#[test]
fn a_window_that_shrinks_before_the_resize_event_is_drawn() {
    let tall = at(80, 50);
    for (width, height) in [(80, 20), (40, 50), (30, 6), (20, 4), (1, 1), (200, 60)] {
        tall.drawn_on(width, height);
    }
    assert!(tall.drawn_on(80, 20).contains("mw top"));
}

#[test]
fn an_empty_home_says_what_to_do() {
    let mut desk = Desk::new(80, 24);
    desk.list(Vec::new());
    assert_snapshot!("empty_80x24", desk.drawn());
}

#[test]
fn a_full_screen_log_is_drawn_with_a_search() {
    let mut desk = at(80, 24);
    desk.take(key(KeyCode::Enter));
    desk.press("/test");
    assert_snapshot!("typing_80x24", desk.drawn());
    desk.take(key(KeyCode::Enter));
    desk.press("w");
    assert_snapshot!("search_80x24", desk.drawn());
}

#[test]
fn facts_and_timeline_are_drawn() {
    let mut desk = at(80, 24);
    desk.press("2");
    desk.take(Event::Facts("bash-00000001".to_owned(), facts()));
    assert_snapshot!("facts_80x24", desk.drawn());
    desk.press("3");
    desk.take(Event::Lanes(lanes(), NOW));
    assert_snapshot!("timeline_80x24", desk.drawn());
}

#[test]
fn questions_menus_and_help_are_drawn() {
    let mut desk = at(80, 24);
    desk.press("x");
    assert_snapshot!("kill_80x24", desk.drawn());
    desk.press("nf");
    assert_snapshot!("states_80x24", desk.drawn());
    desk.take(key(KeyCode::Esc));
    desk.press("?");
    assert_snapshot!("help_80x24", desk.drawn());
    let mut small = at(40, 10);
    small.press("?jj");
    assert_snapshot!("help_40x10", small.drawn());
}

#[test]
fn an_error_is_shown_on_the_last_line() {
    let mut desk = at(80, 24);
    desk.take(Event::Failed("bash-00000001 has no open input; start it with --stdin".to_owned()));
    assert!(desk.drawn().ends_with(" ✗ bash-00000001 has no open input; start it with --stdin"));
}
