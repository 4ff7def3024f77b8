//! What `mw top` does to a terminal: takes it, gives it back, lends it, and leaves it alone.

use std::time::{Duration, Instant};

use mw_testkit::{SOON, Screen, Terminal, children, wait_until};
use rustix::process::Signal;

use crate::home;
use crate::top::{leave, line_of, top, until, until_shown};

const CTRL_BRACKET: &str = "\u{1d}";
const CTRL_Z: &str = "\u{1a}";

fn state_of(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

#[test]
fn a_signal_gives_the_terminal_back() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let home = home();
        let mut terminal = top(&home);
        assert!(!terminal.screen().is_given_back());
        terminal.signal(signal);
        assert_eq!(terminal.ended(), Some(code));
        until(&terminal, "the terminal is given back", Screen::is_given_back);
    }
}

#[test]
fn a_panic_gives_the_terminal_back_and_is_told() {
    let home = home();
    let mut terminal = home.command(["top", "--panic"]).on_terminal();
    assert_eq!(terminal.ended(), Some(101));
    let screen = until_shown(&terminal, "asked to panic");
    assert!(screen.is_given_back(), "{screen:?}");
}

#[test]
fn a_shell_gets_the_terminal_and_brings_it_back() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let mut terminal = home.program("sh").arg("-i").on_terminal();
    terminal.press(&format!("{} top\r", env!("CARGO_BIN_EXE_mw")));
    until_shown(&terminal, &id);
    terminal.press(CTRL_Z);
    until_shown(&terminal, "Stopped");
    until(&terminal, "the terminal is given back", Screen::is_given_back);
    terminal.press("fg\r");
    until(&terminal, "the list is back", |screen| screen.is_full && line_of(screen, &id).is_some());
    terminal.press("q");
    until(&terminal, "the terminal is given back", Screen::is_given_back);
    terminal.press("exit\r");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn where_no_shell_would_wake_it_it_does_not_stop() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let mut terminal = top(&home);
    until_shown(&terminal, &id);
    terminal.press(CTRL_Z);
    until_shown(&terminal, "no shell has this as a job");
    terminal.signal(Signal::TSTP);
    terminal.press("?");
    until_shown(&terminal, "this help");
    assert_ne!(state_of(terminal.pid()), Some('T'));
    terminal.press("?");
    leave(terminal);
}

#[test]
fn a_signal_ends_it_while_another_program_has_the_terminal() {
    let home = home();
    let id = home.start("echo hello");
    home.ended(&id);
    let editor = "sh -c 'echo editing; exec sleep 600'";
    let mut terminal = home.command(["top"]).env("EDITOR", editor).env("VISUAL", "").on_terminal();
    until_shown(&terminal, "hello");
    terminal.press("e");
    until_shown(&terminal, "editing");
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.ended(), Some(143));
}

#[test]
fn an_editor_that_fails_is_seen_and_come_back_from() {
    let home = home();
    let id = home.start("echo hello");
    home.ended(&id);
    let mut terminal = home.command(["top"]).env("EDITOR", "no-such-editor").env("VISUAL", "").on_terminal();
    until_shown(&terminal, "hello");
    terminal.press("e");
    until_shown(&terminal, "no-such-editor");
    until_shown(&terminal, "Any key goes back");
    terminal.press("j");
    until(&terminal, "the list is back", |screen| screen.is_full && line_of(screen, &id).is_some());
    leave(terminal);
}

#[test]
fn other_programs_get_the_terminal_and_give_it_back() {
    let home = home();
    let id = home.start_with(&["--pty"], "echo hello; read a; echo \"got $a\"; exec sleep 600");
    let mut terminal = home.command(["top"]).env("EDITOR", "cat > seen <").on_terminal();
    until_shown(&terminal, "hello");
    terminal.press("a");
    until_shown(&terminal, "attached to");
    terminal.press("word\r");
    until_shown(&terminal, "got word");
    terminal.press(CTRL_BRACKET);
    until(&terminal, "the list is back", |screen| screen.is_full && line_of(screen, &id).is_some());
    terminal.press("e");
    let seen = home.work().join("seen");
    wait_until(SOON, "the editor has read the log", || {
        std::fs::read_to_string(&seen).is_ok_and(|text| text.contains("got word")).then_some(())
    });
    until(&terminal, "the list is back", |screen| screen.is_full && line_of(screen, &id).is_some());
    terminal.press("i");
    until_shown(&terminal, "line for");
    terminal.press("typed\r");
    until_shown(&terminal, "was given 6 bytes");
    leave(terminal);
}

#[test]
fn any_size_and_many_changes_of_it_are_survived() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let terminal = top(&home);
    for round in 0..60_u16 {
        terminal.resize(1 + round * 37 % 200, 1 + round * 17 % 60);
    }
    terminal.resize(20, 4);
    until_shown(&terminal, "too small");
    terminal.resize(100, 30);
    until(&terminal, "the list is back", |screen| line_of(screen, &id).is_some());
    leave(terminal);
}

/// Processor time of a process so far, in ticks, and all that it has written to its terminal.
fn effort(terminal: &Terminal) -> (u64, usize) {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", terminal.pid())).unwrap();
    let fields: Vec<_> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let ticks = fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum();
    (ticks, terminal.shown().len())
}

#[test]
fn it_rests_while_nothing_happens() {
    let home = home();
    let id = home.start("echo done");
    home.ended(&id);
    let terminal = top(&home);
    until_shown(&terminal, "completed");
    until_shown(&terminal, "done");
    // Two of the looks by which a lost ring is made good come in this time.
    let mut before = effort(&terminal);
    let mut since = Instant::now();
    wait_until(SOON, "five seconds without a byte", || {
        let now = effort(&terminal);
        if now.1 != before.1 {
            (before, since) = (now, Instant::now());
        }
        (since.elapsed() > Duration::from_secs(5)).then_some(())
    });
    let spent = effort(&terminal).0 - before.0;
    assert!(spent < 50, "{spent} ticks of processor time for nothing");
    leave(terminal);
}

#[test]
fn colours_come_only_where_they_are_wanted() {
    let home = home();
    let id = home.start("printf '\\033[35mviolet\\033[0m\\n'");
    home.ended(&id);
    let shown = |no_color: &str| {
        let terminal = home.command(["top"]).env("NO_COLOR", no_color).on_terminal();
        until_shown(&terminal, "violet");
        let shown = terminal.shown();
        leave(terminal);
        shown
    };
    let has_colour = |shown: &str| shown.contains("[38;") || shown.contains("[48;");
    assert!(has_colour(&shown("")));
    assert!(!has_colour(&shown("1")));
}
