//! Following an ended task while a survivor holds its output open.

use std::time::Duration;

use mw_testkit::{Home, Running, SOON, children, processes, wait_until};

use crate::home;

/// Waits until the follower has shown this text.
fn until_shown(following: &Running, text: &str) {
    wait_until(SOON, &format!("{text:?} is shown"), || (following.printed() == text).then_some(()));
}

/// Starts a task that prints a line and ends, leaving a silent child that holds its output.
fn with_silent_survivor(home: &Home) -> (String, u32) {
    let id = home.start(&format!("echo early; {}\nexit 0", children::leave_holder("kid")));
    home.ended(&id);
    (id, home.pid_in("kid"))
}

#[test]
fn following_a_silent_survivor_sleeps() {
    let home = home();
    let (id, kid) = with_silent_survivor(&home);
    let following = home.command(["output", &id, "--follow"]).spawn();
    until_shown(&following, "early\n");
    let watched: Vec<_> = home.supervisors_of(&id).into_iter().chain([following.pid()]).collect();
    processes::until_asleep(Duration::from_secs(1), &watched);
    assert!(following.runs(), "it ended while a child still held the output");
    home.kill_process(kid);
    assert_eq!(following.wait().ok(), "early\n");
}

#[test]
fn following_ends_with_the_last_survivor() {
    let home = home();
    let later = format!("{}; echo late; {}", children::gate("late"), children::gate("end"));
    let id = home.start(&format!("echo early; {}\n({later}) &\nexit 3", children::leave_holder("kid")));
    home.ended(&id);
    let following = home.command(["output", &id, "--follow"]).spawn();
    until_shown(&following, "early\n");
    home.kill_process(home.pid_in("kid"));
    // The other stream is still read.
    home.open("late");
    until_shown(&following, "early\nlate\n");
    home.open("end");
    assert_eq!(following.wait().ok(), "early\nlate\n");
}

#[test]
fn following_shows_the_output_of_a_survivor() {
    let home = home();
    let later = format!(
        "{}; echo one; {}; echo two >&2; {}",
        children::gate("1"),
        children::gate("2"),
        children::gate("3")
    );
    let id = home.start(&format!("({later}) & echo early; exit 0"));
    home.ended(&id);
    let following = home.command(["output", &id, "--follow"]).spawn();
    until_shown(&following, "early\n");
    home.open("1");
    until_shown(&following, "early\none\n");
    home.open("2");
    until_shown(&following, "early\none\ntwo\n");
    assert!(following.runs());
    home.open("3");
    assert_eq!(following.wait().ok(), "early\none\ntwo\n");
}

#[test]
fn a_follower_from_before_the_end_continues_until_the_survivor_ends() {
    let home = home();
    let later = format!("{}; echo late", children::gate("late"));
    let id = home.start(&format!("({later}) & echo early; {}; echo end; exit 4", children::gate("end")));
    let following = home.command(["output", &id, "--follow"]).spawn();
    until_shown(&following, "early\n");
    home.open("end");
    assert_eq!(home.ended(&id)["exit_code"], 4);
    until_shown(&following, "early\nend\n");
    assert!(following.runs());
    home.open("late");
    assert_eq!(following.wait().ok(), "early\nend\nlate\n");
}

#[test]
fn following_one_stream_is_not_woken_by_the_other() {
    let home = home();
    let later = format!("{}; echo out; {}; echo err >&2", children::gate("1"), children::gate("2"));
    let id = home.start(&format!("({later}) & echo early >&2; exit 0"));
    home.ended(&id);
    let following = home.command(["output", &id, "--follow", "--stream", "stderr"]).spawn();
    until_shown(&following, "early\n");
    home.open("1");
    home.until_logged(&id, "out\n");
    processes::until_asleep(Duration::from_secs(1), &[following.pid()]);
    home.open("2");
    assert_eq!(following.wait().ok(), "early\nerr\n");
}
