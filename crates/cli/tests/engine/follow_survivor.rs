//! Following a task that is over while something it left behind still holds its output.

use std::time::Duration;

use mw_testkit::{Home, Running, SOON, children, processes, wait_until};

use crate::home;

/// Waits until the follower has shown this.
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
fn a_follower_of_a_silent_survivor_sleeps() {
    let home = home();
    let (id, kid) = with_silent_survivor(&home);
    let following = home.command(["output", &id, "--follow"]).spawn();
    until_shown(&following, "early\n");
    let watched: Vec<_> = home.supervisors_of(&id).into_iter().chain([following.pid()]).collect();
    processes::until_asleep(Duration::from_secs(1), &watched);
    assert!(following.runs(), "it left while a child still held the output");
    home.slay(kid);
    assert_eq!(following.wait().ok(), "early\n");
}

#[test]
fn a_follower_ends_when_the_last_survivor_dies() {
    let home = home();
    let later = format!("{}; echo late; {}", children::gate("late"), children::gate("end"));
    let id = home.start(&format!("echo early; {}\n({later}) &\nexit 3", children::leave_holder("kid")));
    home.ended(&id);
    let following = home.command(["output", &id, "--follow"]).spawn();
    until_shown(&following, "early\n");
    home.slay(home.pid_in("kid"));
    // The other one is still heard.
    home.open("late");
    until_shown(&following, "early\nlate\n");
    home.open("end");
    assert_eq!(following.wait().ok(), "early\nlate\n");
}

#[test]
fn a_follower_shows_what_a_survivor_prints() {
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
fn a_follower_from_before_the_end_stays_for_the_survivor() {
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
fn a_follower_of_one_stream_is_not_woken_in_vain_by_the_other() {
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
