//! The slot of a task that was killed with its supervisors: a waiting command starts the next task.

use mw_testkit::{Home, SOON, children, wait_until};

use crate::home;

/// Creates a home with one slot, which is taken. Also returns the id and the process of its task.
fn busy() -> (Home, String, u32) {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let holder = home.start(children::SLEEPER);
    let pid = home.pid(&holder);
    (home, holder, pid)
}

/// Kills a task and its supervisors, so that no process reports the end.
fn kill_with_supervisors(home: &Home, id: &str, pid: u32) {
    home.kill_supervisors(id);
    home.kill_process(pid);
}

#[test]
fn waiting_for_the_next_queued_task_starts_it() {
    let (home, holder, pid) = busy();
    let next = home.start("exit 6");
    kill_with_supervisors(&home, &holder, pid);
    let _ = home.mw(["wait", &next]).exits(6);
    assert_eq!(home.status(&holder)["status"], "lost");
}

#[test]
fn a_running_wait_starts_the_next_queued_task() {
    let (home, holder, pid) = busy();
    let next = home.start("exit 6");
    let waiting = home.command(["wait", "--json", &next]).spawn();
    // It waits once its wake-up socket exists.
    wait_until(SOON, "the wait is under way", || {
        std::fs::read_dir(home.state().join("bells")).ok()?.next().map(drop)
    });
    kill_with_supervisors(&home, &holder, pid);
    let answer = waiting.wait().exits(6).json();
    assert_eq!(answer["tasks"][0]["status"], "failed", "{answer}");
}

#[test]
fn a_wait_on_a_terminal_starts_the_next_queued_task() {
    let (home, holder, pid) = busy();
    let next = home.start("exit 6");
    let waiting = home.command(["wait", &next]).on_terminal();
    kill_with_supervisors(&home, &holder, pid);
    assert_eq!(waiting.wait(), Some(6));
}

#[test]
fn waiting_for_a_late_queued_task_starts_all_before_it() {
    let (home, holder, pid) = busy();
    let ids = [1, 2, 3].map(|code| home.start(&format!("echo {code} >> order; exit {code}")));
    let waiting = home.command(["wait", &ids[2]]).spawn();
    kill_with_supervisors(&home, &holder, pid);
    let _ = waiting.wait().exits(3);
    assert_eq!(home.lines_in("order", 3), "1\n2\n3\n");
}

#[test]
fn a_queued_run_starts_after_a_lost_task() {
    let (home, holder, pid) = busy();
    let running = home.command(["run", "--at-capacity", "queue", "echo ran; exit 7"]).spawn();
    wait_until(SOON, "it is pending", || {
        home.list().iter().any(|task| task["status"] == "pending").then_some(())
    });
    kill_with_supervisors(&home, &holder, pid);
    assert_eq!(running.wait().exits(7).text(), "ran\n");
}

#[test]
fn waiting_for_a_pattern_starts_the_next_queued_task() {
    let (home, holder, pid) = busy();
    let next = home.start("echo ready; exec sleep 600");
    let waiting = home.command(["wait", &next, "--until", "match=ready"]).spawn();
    kill_with_supervisors(&home, &holder, pid);
    let _ = waiting.wait().exits(0);
}

#[test]
fn following_the_next_queued_task_starts_it() {
    let (home, holder, pid) = busy();
    let next = home.start("echo ran");
    let following = home.command(["output", &next, "--follow"]).spawn();
    kill_with_supervisors(&home, &holder, pid);
    assert_eq!(following.wait().ok(), "ran\n");
}

#[test]
fn a_wait_ends_when_the_task_is_cancelled_because_its_predecessor_is_lost() {
    let (home, holder, pid) = busy();
    let next = home.start_with(&["--after", &holder], "touch ran");
    let waiting = home.command(["wait", "--json", &next]).spawn();
    kill_with_supervisors(&home, &holder, pid);
    let outcome = waiting.wait();
    assert_ne!(outcome.code, Some(0), "{outcome}");
    assert_eq!(outcome.json()["tasks"][0]["status"], "cancelled", "{outcome}");
    assert!(!home.has_file("ran"));
}
