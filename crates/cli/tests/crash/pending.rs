//! A slot whose holder died with both its watchers: whoever waits for it gets it.

use mw_testkit::{Home, SOON, children, wait_until};

use crate::home;

/// A home with one slot, which is taken. Returns the holder's id and process.
fn busy() -> (Home, String, u32) {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let holder = home.start(children::SLEEPER);
    let pid = home.pid(&holder);
    (home, holder, pid)
}

/// Kills everything of the holder, so that nobody is left who could tell.
fn slay_all(home: &Home, id: &str, pid: u32) {
    home.slay_watchers(id);
    home.slay(pid);
}

#[test]
fn a_wait_for_the_next_in_line_gets_it_started() {
    let (home, holder, pid) = busy();
    let next = home.start("exit 6");
    slay_all(&home, &holder, pid);
    let _ = home.mw(["wait", &next]).exits(6);
    assert_eq!(home.status(&holder)["status"], "lost");
}

#[test]
fn a_wait_under_way_gets_the_next_started() {
    let (home, holder, pid) = busy();
    let next = home.start("exit 6");
    let waiting = home.command(["wait", "--json", &next]).spawn();
    // It waits when its bell hangs.
    wait_until(SOON, "the wait is under way", || {
        std::fs::read_dir(home.state().join("bells")).ok()?.next().map(drop)
    });
    slay_all(&home, &holder, pid);
    let answer = waiting.wait().exits(6).json();
    assert_eq!(answer["tasks"][0]["status"], "failed", "{answer}");
}

#[test]
fn a_wait_at_a_terminal_gets_the_next_started() {
    let (home, holder, pid) = busy();
    let next = home.start("exit 6");
    let waiting = home.command(["wait", &next]).on_terminal();
    slay_all(&home, &holder, pid);
    assert_eq!(waiting.wait(), Some(6));
}

#[test]
fn a_wait_for_one_of_the_last_in_line_gets_all_started() {
    let (home, holder, pid) = busy();
    let ids = [1, 2, 3].map(|code| home.start(&format!("echo {code} >> order; exit {code}")));
    let waiting = home.command(["wait", &ids[2]]).spawn();
    slay_all(&home, &holder, pid);
    let _ = waiting.wait().exits(3);
    assert_eq!(home.lines_in("order", 3), "1\n2\n3\n");
}

#[test]
fn a_run_that_waits_gets_its_turn() {
    let (home, holder, pid) = busy();
    let running = home.command(["run", "echo ran; exit 7"]).spawn();
    wait_until(SOON, "it is pending", || {
        home.list().iter().any(|task| task["status"] == "pending").then_some(())
    });
    slay_all(&home, &holder, pid);
    assert_eq!(running.wait().exits(7).text(), "ran\n");
}

#[test]
fn a_wait_for_a_pattern_gets_the_next_started() {
    let (home, holder, pid) = busy();
    let next = home.start("echo ready; exec sleep 600");
    let waiting = home.command(["wait", &next, "--until", "match=ready"]).spawn();
    slay_all(&home, &holder, pid);
    let _ = waiting.wait().exits(0);
}

#[test]
fn a_follower_of_the_next_in_line_gets_it_started() {
    let (home, holder, pid) = busy();
    let next = home.start("echo ran");
    let following = home.command(["output", &next, "--follow"]).spawn();
    slay_all(&home, &holder, pid);
    assert_eq!(following.wait().ok(), "ran\n");
}

#[test]
fn a_task_that_follows_a_lost_one_is_skipped_under_its_waiter() {
    let (home, holder, pid) = busy();
    let next = home.start_with(&["--after", &holder], "touch ran");
    let waiting = home.command(["wait", "--json", &next]).spawn();
    slay_all(&home, &holder, pid);
    let outcome = waiting.wait();
    assert_ne!(outcome.code, Some(0), "{outcome}");
    assert_eq!(outcome.json()["tasks"][0]["status"], "cancelled", "{outcome}");
    assert!(!home.has_file("ran"));
}
