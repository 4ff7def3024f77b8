//! Keys that arrive faster than the list is updated.

use mw_testkit::children;

use crate::home;
use crate::top::{leave, line_of, top, until, until_shown};

const ESC: &str = "\u{1b}";

#[test]
fn keys_in_one_write_kill_only_the_selected_task() {
    let home = home();
    for _ in 0..40 {
        home.ended(&home.start("true"));
    }
    let wanted = home.start_with(&["--name", "wanted"], children::SLEEPER);
    let victim = home.start_with(&["--name", "victim"], children::SLEEPER);
    let mut terminal = top(&home);
    until(&terminal, "both tasks are shown", |screen| {
        line_of(&home, screen, &wanted).is_some() && line_of(&home, screen, &victim).is_some()
    });
    terminal.press("gj/victim");
    until(&terminal, "the filter applies", |screen| line_of(&home, screen, &wanted).is_none());
    terminal.press(ESC);
    until(&terminal, "the filter is off", |screen| line_of(&home, screen, &wanted).is_some());
    terminal.press("/wanted\rxy");
    until_shown(&terminal, "cancelled");
    home.ended(&wanted);
    assert_eq!(home.status(&victim)["status"], "running");
    leave(terminal);
}
