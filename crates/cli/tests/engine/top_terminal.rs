//! The terminal state of `mw top`: on start and exit, while other programs use it, and while idle.

use std::time::{Duration, Instant};

use mw_testkit::processes::voluntary_switches;
use mw_testkit::{SOON, Screen, Terminal, children, wait_until};
use rustix::process::Signal;

use crate::home;
use crate::top::{leave, line_of, top, until, until_listed, until_shown};

const CTRL_BRACKET: &str = "\u{1d}";
const CTRL_Z: &str = "\u{1a}";

fn state_of(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// Returns whether a process blocks when it reads its input.
fn waits_for_input(pid: u32) -> bool {
    const O_NONBLOCK: u32 = 0o4000;
    let about = std::fs::read_to_string(format!("/proc/{pid}/fdinfo/0")).unwrap();
    let flags = about.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
    u32::from_str_radix(flags.trim(), 8).unwrap() & O_NONBLOCK == 0
}

#[test]
fn a_signal_restores_the_terminal() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let home = home();
        let mut terminal = top(&home);
        assert!(!terminal.screen().is_given_back());
        terminal.signal(signal);
        assert_eq!(terminal.ended(), Some(code));
        until(&terminal, "the terminal is restored", Screen::is_given_back);
    }
}

#[test]
fn a_panic_restores_the_terminal_and_is_reported() {
    let home = home();
    let mut terminal = home.command(["top", "--panic"]).on_terminal();
    assert_eq!(terminal.ended(), None, "a panic ends the process by a signal");
    let screen = until_shown(&terminal, "asked to panic");
    assert!(screen.is_given_back(), "{screen:?}");
}

#[test]
fn suspending_restores_the_terminal_and_resuming_redraws() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let mut terminal = home.program("sh").arg("-i").on_terminal();
    terminal.press(&format!("{} top\r", env!("CARGO_BIN_EXE_mw")));
    until_listed(&terminal, &home, &id);
    assert!(waits_for_input(terminal.pid()), "the input of the shell still blocks");
    terminal.press(CTRL_Z);
    until_shown(&terminal, "Stopped");
    until(&terminal, "the terminal is restored", Screen::is_given_back);
    terminal.press("fg\r");
    until(&terminal, "the list is back", |screen| screen.is_full && line_of(&home, screen, &id).is_some());
    terminal.press("q");
    until(&terminal, "the terminal is restored", Screen::is_given_back);
    terminal.press("exit\r");
    assert_eq!(terminal.ended(), Some(0));
}

#[test]
fn mw_top_does_not_suspend_without_job_control() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let mut terminal = top(&home);
    until_listed(&terminal, &home, &id);
    terminal.press(CTRL_Z);
    until_shown(&terminal, "not started by a shell with job control");
    terminal.signal(Signal::TSTP);
    terminal.press("?");
    until_shown(&terminal, "this help");
    assert_ne!(state_of(terminal.pid()), Some('T'));
    terminal.press("?");
    leave(terminal);
}

#[test]
fn a_signal_ends_mw_top_while_another_program_uses_the_terminal() {
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
fn a_failing_editor_is_reported_and_the_screen_returns() {
    let home = home();
    let id = home.start("echo hello");
    home.ended(&id);
    let mut terminal = home.command(["top"]).env("EDITOR", "no-such-editor").env("VISUAL", "").on_terminal();
    until_shown(&terminal, "hello");
    terminal.press("e");
    until_shown(&terminal, "no-such-editor");
    until_shown(&terminal, "Press any key to return");
    terminal.press("j");
    until(&terminal, "the list is back", |screen| screen.is_full && line_of(&home, screen, &id).is_some());
    leave(terminal);
}

#[test]
fn other_programs_can_use_the_terminal_and_the_screen_returns() {
    let home = home();
    let id = home.start_with(&["--pty"], "echo hello; read a; echo \"got $a\"; exec sleep 600");
    let mut terminal = home.command(["top"]).env("EDITOR", "cat > seen <").on_terminal();
    until_shown(&terminal, "hello");
    terminal.press("a");
    until_shown(&terminal, "attached to");
    terminal.press("word\r");
    until_shown(&terminal, "got word");
    terminal.press(CTRL_BRACKET);
    until(&terminal, "the list is back", |screen| screen.is_full && line_of(&home, screen, &id).is_some());
    terminal.press("e");
    let seen = home.work().join("seen");
    wait_until(SOON, "the editor has read the log", || {
        std::fs::read_to_string(&seen).is_ok_and(|text| text.contains("got word")).then_some(())
    });
    until(&terminal, "the list is back", |screen| screen.is_full && line_of(&home, screen, &id).is_some());
    terminal.press("i");
    until_shown(&terminal, "input for");
    terminal.press("typed\r");
    until_shown(&terminal, "sent 6 bytes to");
    leave(terminal);
}

#[test]
fn attaching_to_a_task_without_input_fails_and_the_screen_stays() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let mut terminal = top(&home);
    until_listed(&terminal, &home, &id);
    terminal.press("a");
    let screen = until_shown(&terminal, &format!("{id} has no input to attach to"));
    assert!(screen.is_full, "{}", screen.text);
    leave(terminal);
}

#[test]
fn a_terminal_without_cursor_addressing_is_refused() {
    let home = home();
    let command = format!("TERM=dumb exec {} top", env!("CARGO_BIN_EXE_mw"));
    let mut terminal = home.program("sh").arg("-c").arg(&command).on_terminal();
    assert_eq!(terminal.ended(), Some(2));
    let screen = until_shown(&terminal, "TERM is dumb");
    assert!(screen.is_given_back() && screen.text.contains("mw list"), "{screen:?}");
}

#[test]
fn an_incomplete_key_sequence_blocks_nothing() {
    // Alt-[, a key of a keypad, a click, a paste, and a letter, each without its end.
    for half in [&b"\x1b["[..], b"\x1bO", b"\x1b[<0;10;5", b"\x1b[200~abc", b"\xe6\x97"] {
        let home = home();
        let id = home.start(&children::gated("go", 3));
        let mut terminal = top(&home);
        until_shown(&terminal, "waiting");
        terminal.send(half);
        home.open("go");
        until(&terminal, "the task has failed", |screen| {
            line_of(&home, screen, &id).is_some_and(|line| line.contains("failed"))
        });
        terminal.signal(Signal::TERM);
        assert_eq!(terminal.ended(), Some(143), "{half:?}");
        until(&terminal, "the terminal is restored", Screen::is_given_back);
    }
}

#[test]
fn a_split_key_sequence_and_a_bare_escape_are_recognised() {
    let home = home();
    let [last, middle] = [home.start(children::SLEEPER), home.start(children::SLEEPER)];
    let first = home.start(&children::gated("go", 3));
    let mut terminal = top(&home);
    let is_selected = |id: String| {
        let home = &home;
        move |screen: &Screen| line_of(home, screen, &id).is_some_and(|line| line.starts_with('▸'))
    };
    until(&terminal, "the newest is selected", is_selected(first.clone()));
    terminal.press("j");
    until(&terminal, "the next is selected", is_selected(middle));
    terminal.press("\u{1b}[");
    home.open("go");
    until(&terminal, "the newest has failed, so the first part was read", |screen| {
        line_of(&home, screen, &first).is_some_and(|line| line.contains("failed"))
    });
    terminal.press("B");
    until(&terminal, "the last is selected", is_selected(last));
    terminal.press("?");
    until_shown(&terminal, "this help");
    terminal.press("\u{1b}");
    until(&terminal, "the help is closed", |screen| !screen.text.contains("this help"));
    leave(terminal);
}

#[test]
fn any_terminal_size_and_many_resizes_work() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let terminal = top(&home);
    for round in 0..60_u16 {
        terminal.resize(1 + round * 37 % 200, 1 + round * 17 % 60);
    }
    terminal.resize(20, 4);
    until_shown(&terminal, "too small");
    terminal.resize(100, 30);
    until(&terminal, "the list is back", |screen| line_of(&home, screen, &id).is_some());
    leave(terminal);
}

/// The activity of a process so far: wake-ups of its threads, and bytes written to its terminal.
fn effort(terminal: &Terminal) -> (u64, usize) {
    (voluntary_switches(terminal.pid()), terminal.shown().len())
}

/// How long idleness is observed; this includes two rounds of fallback polling.
const REST: Duration = Duration::from_secs(5);

/// Waits until nothing was written for [`REST`], and returns the wake-ups per second.
fn woken_at_rest(terminal: &Terminal) -> f64 {
    let (mut before, mut since) = (effort(terminal), Instant::now());
    wait_until(SOON, "a period without output", || {
        let now = effort(terminal);
        // The wake-ups of a thread that has ended no longer count.
        if now.1 != before.1 || now.0 < before.0 {
            (before, since) = (now, Instant::now());
        }
        let passed = since.elapsed();
        (passed > REST).then(|| (now.0 - before.0) as f64 / passed.as_secs_f64())
    })
}

#[test]
fn an_idle_screen_rarely_wakes_up() {
    let home = home();
    let id = home.start("echo done");
    home.ended(&id);
    let terminal = top(&home);
    until_shown(&terminal, "completed");
    until_shown(&terminal, "done");
    // The polling thread wakes every two seconds, and locks may add one more wake-up.
    let woken = woken_at_rest(&terminal);
    assert!(woken <= 3.0, "{woken} wake-ups per second while idle");
    leave(terminal);
}

#[test]
fn silent_tasks_cause_few_wake_ups_and_little_drawing() {
    let home = home();
    let ids: Vec<_> = (0..5).map(|_| home.start(children::SLEEPER)).collect();
    let terminal = top(&home);
    until(&terminal, "all run", |screen| ids.iter().all(|id| line_of(&home, screen, id).is_some()));
    until_shown(&terminal, "0%");
    let (mut before, mut since) = (effort(&terminal), Instant::now());
    wait_until(SOON, "a period with little activity", || {
        let seconds = since.elapsed().as_secs_f64();
        if seconds < REST.as_secs_f64() {
            return None;
        }
        let after = effort(&terminal);
        // Each second: the tick, the query, a reply of each of the five supervisors (two with ports), and the result.
        let woken = (after.0 - before.0) as f64 / seconds;
        // Only the times change: less than a line for each task.
        let written = (after.1 - before.1) as f64 / seconds;
        println!("{woken} wake-ups and {written} bytes per second");
        (before, since) = (after, Instant::now());
        (woken < 60.0 && written < 1500.0).then_some(())
    });
    leave(terminal);
}
