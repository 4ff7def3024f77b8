//! `mw top`: actions on several marked tasks, and copying through the terminal.

use mw_testkit::{Terminal, alive, children};

use crate::home;
use crate::top::{leave, line_of, top, until, until_listed, until_shown};

fn marked(terminal: &mut Terminal, number: usize) {
    terminal.press(&" ".repeat(number));
    until_shown(terminal, &format!("* {number} marked"));
}

#[test]
fn marked_tasks_can_be_killed_restarted_and_removed_together() {
    let home = home();
    let done = home.start("exit 0");
    home.ended(&done);
    let ids: Vec<_> = (0..2).map(|at| home.start(&format!("echo $$ > pid{at}; exec sleep 600"))).collect();
    let pids = [home.pid_in("pid0"), home.pid_in("pid1")];
    let mut terminal = top(&home);
    until(&terminal, "all are listed", |screen| ids.iter().all(|id| line_of(&home, screen, id).is_some()));
    marked(&mut terminal, 3);
    terminal.press("x");
    until_shown(&terminal, "Kill 3 marked tasks and everything they started?");
    terminal.press("y");
    until_shown(&terminal, "3 tasks: 2 cancelled, 1 already ended");
    assert!(pids.iter().all(|pid| !alive(*pid)));
    assert!(ids.iter().all(|id| home.status(id)["status"] == "cancelled"));
    terminal.press("g");
    marked(&mut terminal, 2);
    terminal.press("r");
    until_shown(&terminal, "Restart 2 marked tasks?");
    terminal.press("y");
    until_shown(&terminal, "2 tasks restarted");
    terminal.press("g");
    marked(&mut terminal, 2);
    terminal.press("x");
    until_shown(&terminal, "Kill 2 marked tasks");
    // Another process kills one of them first.
    assert_eq!(home.mw(["kill", &ids[0]]).code, Some(0));
    terminal.press("9");
    until_shown(&terminal, "2 tasks: 1 cancelled, 1 already ended");
    terminal.press("g");
    marked(&mut terminal, 3);
    // Another process removes one of them before the confirmation.
    terminal.press("c");
    until_shown(&terminal, "Remove 3 marked tasks");
    assert_eq!(home.mw(["clear", &done]).code, Some(0));
    terminal.press("y");
    until_shown(&terminal, "3 tasks: 2 removed, 1 not done");
    until_shown(&terminal, "No tasks.");
    assert_eq!(home.list().len(), 0);
    leave(terminal);
}

#[test]
fn an_id_is_copied_through_the_terminal() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let mut terminal = top(&home);
    until_listed(&terminal, &home, &id);
    terminal.press("y");
    until_shown(&terminal, &format!("copied {id}"));
    let text = terminal.shown();
    let begin = text.find("\u{1b}]52;c;").expect("OSC 52") + 7;
    let coded: String = text[begin..].chars().take_while(|c| !c.is_control()).collect();
    assert_eq!(decoded(&coded), id);
    leave(terminal);
}

/// Decodes base64 text.
fn decoded(coded: &str) -> String {
    let value = |c: u8| match c {
        b'A'..=b'Z' => u32::from(c - b'A'),
        b'a'..=b'z' => u32::from(c - b'a') + 26,
        b'0'..=b'9' => u32::from(c - b'0') + 52,
        b'+' => 62,
        _ => 63,
    };
    let coded = coded.trim_end_matches('=').as_bytes();
    let bytes = coded.chunks(4).flat_map(|four| {
        let bits = four.iter().fold(0, |bits, c| bits << 6 | value(*c)) << (6 * (4 - four.len()));
        (0..four.len() - 1).map(move |at| (bits >> (16 - 8 * at)) as u8)
    });
    String::from_utf8(bytes.collect()).unwrap()
}
