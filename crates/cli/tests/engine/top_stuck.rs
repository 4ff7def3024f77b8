//! `mw top` with unresponsive supervisors.

use std::time::{Duration, Instant};

use mw_testkit::{Home, children};
use rustix::process::{Pid, Signal, kill_process};

use crate::home;
use crate::top::{leave, line_of, top, until};

/// The number of unresponsive supervisors.
const UNRESPONSIVE: usize = 20;
/// Less than the time for [`UNRESPONSIVE`] supervisors if the list waited 0.8 seconds for each.
const PROMPT: Duration = Duration::from_secs(10);

fn signal(home: &Home, ids: &[String], signal: Signal) {
    for pid in ids.iter().flat_map(|id| home.supervisors_of(id)) {
        kill_process(Pid::from_raw(pid as i32).unwrap(), signal).unwrap();
    }
}

#[test]
fn an_unresponsive_supervisor_does_not_block_the_list() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", (UNRESPONSIVE + 1).to_string());
    let stuck = [(); UNRESPONSIVE].map(|()| home.start_with(&["--progress-fd"], children::SLEEPER));
    signal(&home, &stuck, Signal::STOP);
    let begun = Instant::now();
    let terminal = top(&home);
    terminal.resize(100, 60);
    until(&terminal, "all are listed", |screen| stuck.iter().all(|id| line_of(&home, screen, id).is_some()));
    // A task that starts while they are queried is shown at once.
    let id = home.start("exit 4");
    home.ended(&id);
    until(&terminal, "the new task has failed", |screen| {
        line_of(&home, screen, &id).is_some_and(|line| line.contains("failed"))
    });
    let took = begun.elapsed();
    signal(&home, &stuck, Signal::CONT);
    assert!(took < PROMPT, "{took:?} for a list with {UNRESPONSIVE} unresponsive supervisors");
    leave(terminal);
}
