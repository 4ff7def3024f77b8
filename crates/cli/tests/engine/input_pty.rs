//! Input of a task, through a pipe or a terminal.

use mw_testkit::{SOON, children, wait_until};

use crate::home;

#[test]
fn input_reaches_the_task() {
    let home = home();
    let id = home.start_with(&["--stdin"], "read a; echo \"got $a\"; read b; echo \"and $b\"");
    let _ = home.mw(["input", &id, "one two"]).ok();
    home.until_logged(&id, "got one two\n");
    let _ = home.mw(["input", &id, "three"]).ok();
    home.ended(&id);
    assert_eq!(home.log(&id), b"got one two\nand three\n");
}

#[test]
fn a_line_can_be_sent_in_parts() {
    let home = home();
    let id = home.start_with(&["--stdin"], "read a; echo \"got $a\"");
    let _ = home.mw(["input", &id, "one", "--no-newline"]).ok();
    let _ = home.mw(["input", &id, "two"]).ok();
    home.ended(&id);
    assert_eq!(home.log(&id), b"got onetwo\n");
}

#[test]
fn input_can_be_closed() {
    let home = home();
    let id = home.start_with(&["--stdin"], "cat; echo end");
    let _ = home.mw(["input", &id, "last", "--eof"]).ok();
    assert_eq!(home.ended(&id)["exit_code"], 0);
    assert_eq!(home.log(&id), b"last\nend\n");
}

#[test]
fn standard_input_is_passed_byte_for_byte() {
    let home = home();
    let id = home.start_with(&["--stdin"], "od -An -tx1");
    let _ = home.command(["input", &id, "-", "--eof"]).input(b"a\0\xff\n".to_vec()).run().ok();
    home.ended(&id);
    assert_eq!(String::from_utf8_lossy(&home.log(&id)).trim(), "61 00 ff 0a");
}

#[test]
fn input_can_be_larger_than_a_pipe() {
    let home = home();
    let id = home.start_with(&["--stdin"], "wc -c");
    let bytes = vec![b'x'; 3_000_000];
    let _ = home.command(["input", &id, "-", "--eof"]).input(bytes).run().ok();
    home.ended(&id);
    assert_eq!(String::from_utf8_lossy(&home.log(&id)).trim(), "3000000");
}

#[test]
fn a_task_that_does_not_read_does_not_block_its_supervisor() {
    let home = home();
    let id = home.start_with(&["--stdin"], &children::gated("go", 3));
    home.until_logged(&id, "waiting");
    let typing = home.command(["input", &id, "-"]).input(vec![b'x'; 4_000_000]).spawn();
    home.open("go");
    assert_eq!(home.ended(&id)["exit_code"], 3);
    // The command must return whether the bytes were taken or not.
    let _ = typing.wait();
}

#[test]
fn a_task_without_open_input_refuses_input() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let refusal = home.mw(["input", "--json", &id, "x"]).refusal(6);
    assert!(refusal["message"].to_string().contains("without an open standard input"), "{refusal}");
    assert_eq!(refusal["hint"], "start it with --stdin or --pty");
}

#[test]
fn an_ended_task_refuses_input() {
    let home = home();
    let id = home.start_with(&["--stdin"], "true");
    home.ended(&id);
    let _ = home.mw(["input", "--json", &id, "x"]).refusal(6);
}

#[test]
fn a_queued_task_refuses_input() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let _first = home.start(children::SLEEPER);
    let second = home.start_with(&["--stdin"], "cat");
    let _ = home.mw(["input", "--json", &second, "x"]).refusal(6);
}

#[test]
fn a_task_can_run_on_a_terminal_of_a_given_size() {
    let home = home();
    let script = "tty; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all; stty size; exit 4";
    let id = home.start_with(&["--pty", "--size", "100x30"], script);
    assert_eq!(home.ended(&id)["exit_code"], 4);
    let log = String::from_utf8_lossy(&home.log(&id)).into_owned();
    assert!(log.contains("/dev/pts/"), "{log}");
    assert!(log.contains("all"), "{log}");
    assert!(log.contains("30 100"), "{log}");
}

#[test]
fn the_default_size_of_a_terminal_is_80_by_24() {
    let home = home();
    let id = home.start_with(&["--pty"], "stty size");
    home.ended(&id);
    let log = String::from_utf8_lossy(&home.log(&id)).into_owned();
    assert_eq!(log.trim(), "24 80");
}

#[test]
fn input_reaches_a_terminal() {
    let home = home();
    let id = home.start_with(&["--pty"], "read a; echo \"got $a\"; exit 0");
    let _ = home.mw(["input", &id, "word"]).ok();
    home.until_logged(&id, "got word");
    home.ended(&id);
}

#[test]
fn an_interrupt_can_be_sent_to_a_terminal() {
    let home = home();
    let id = home
        .start_with(&["--pty"], "trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 0.05; done");
    home.until_logged(&id, "ready");
    let _ = home.mw(["input", &id, "\u{3}", "--no-newline"]).ok();
    let task = home.ended(&id);
    assert_eq!((&task["status"], &task["exit_code"]), (&"failed".into(), &3.into()), "{task}");
}

#[test]
fn end_of_input_can_be_sent_to_a_terminal() {
    let home = home();
    let id = home.start_with(&["--pty"], "cat; echo end");
    let _ = home.mw(["input", &id, "a", "--eof"]).ok();
    assert_eq!(home.ended(&id)["exit_code"], 0);
}

#[test]
fn the_screen_is_rendered_as_a_terminal_shows_it() {
    let home = home();
    let script = r"printf 'aaaa\rbb\n'; printf 'gone'; printf '\r\033[Kshown\n'; exec sleep 600";
    let id = home.start_with(&["--pty"], script);
    home.until_logged(&id, "shown");
    let text = home.mw(["output", &id, "--screen"]).ok();
    let lines: Vec<_> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    assert_eq!(lines, ["bbaa", "shown"]);
}

#[test]
fn a_terminal_task_is_killed_with_its_process_tree() {
    let home = home();
    let id = home.start_with(&["--pty"], &format!("{}\nexec sleep 600", children::leave_setsid("kid")));
    let kid = home.pid_in("kid");
    let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
    assert_eq!(receipt["status"], "cancelled", "{receipt}");
    assert!(!mw_testkit::alive(kid), "{receipt}");
    home.wait_until_empty(SOON);
}

#[test]
fn every_byte_of_a_terminal_is_kept() {
    let home = home();
    let id = home.start_with(&["--pty"], "stty -opost; seq 1 20000");
    home.ended(&id);
    wait_until(SOON, "the last line", || home.log(&id).ends_with(b"20000\n").then_some(()));
    assert!(home.log(&id) == children::numbered(1, 20_000), "the log differs");
}
