//! `--direct`: the task writes the log itself.

use mw_testkit::{SOON, children, wait_until};

use crate::home;

const DIRECT: &[&str] = &["--direct"];

#[test]
fn both_streams_go_to_the_log_in_the_order_of_the_writes() {
    let home = home();
    let id = home.start_with(DIRECT, "for i in 1 2 3; do echo out $i; echo err $i >&2; done; exit 3");
    let task = home.ended(&id);
    assert_eq!((&task["status"], &task["exit_code"]), (&"failed".into(), &3.into()), "{task}");
    let text = "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n";
    assert_eq!(String::from_utf8(home.log(&id)).unwrap(), text);
    assert_eq!((&task["output_bytes"], &task["dropped_bytes"]), (&text.len().into(), &0.into()), "{task}");
    assert_eq!(home.mw(["output", &id, "--stream", "stderr"]).ok(), "");
}

#[test]
fn it_has_no_cap() {
    let home = home();
    let id = home.start_with(DIRECT, &children::numbers(2_000_000));
    let task = home.ended(&id);
    assert_eq!(task["dropped_bytes"], 0, "{task}");
    assert!(home.log(&id) == children::numbered(1, 2_000_000), "the log differs");
}

#[test]
fn it_can_be_followed_as_it_grows() {
    let home = home();
    let id = home.start_with(
        DIRECT,
        &format!("echo first; {}; echo more; {}", children::gate("one"), children::gate("two")),
    );
    let following = home.command(["output", &id, "--follow"]).spawn();
    wait_until(SOON, "the first line", || (following.printed() == "first\n").then_some(()));
    home.open("one");
    wait_until(SOON, "the next line", || (following.printed() == "first\nmore\n").then_some(()));
    assert!(following.runs());
    home.open("two");
    assert_eq!(following.wait().ok(), "first\nmore\n");
}

#[test]
fn a_wait_for_a_line_sees_it() {
    let home = home();
    let id = home
        .start_with(DIRECT, &format!("{}; echo listening; {}", children::gate("one"), children::gate("two")));
    let waiting = home.command(["wait", &id, "--until", "match=listening"]).spawn();
    home.open("one");
    let _ = waiting.wait().exits(0);
    home.open("two");
    home.ended(&id);
}

#[test]
fn killed_supervisors_cost_no_output() {
    let home = home();
    let id = home.start_with(DIRECT, &format!("seq 1 500; {}; seq 501 1000", children::gate("go")));
    home.until_logged(&id, "\n500\n");
    home.kill_supervisors(&id);
    let _ = home.mw(["list"]).exits(0);
    home.open("go");
    let task = home.ended(&id);
    assert!(home.log(&id) == children::numbered(1, 1000), "the log differs");
    assert_eq!(task["output_complete"], true, "{task}");
}

#[test]
fn options_that_it_cannot_keep_are_refused() {
    let home = home();
    for option in [&["--cap", "1MiB"][..], &["--pty"], &["--stdin"], &["--on", "mock"]] {
        let words = [&["start", "--direct"], option, &["echo no"]].concat();
        let _ = home.mw(words).exits(2);
    }
    assert_eq!(home.mw(["list"]).ok(), "No tasks.\n");
}
