//! `mw top` with unresponsive supervisors.

use std::time::{Duration, Instant};

use mw_testkit::{Home, children};
use rustix::process::{Pid, Signal, kill_process};

use crate::home;
use crate::top::{leave, line_of, top, until};

/// The time allowed for each unresponsive supervisor.
const PROMPT: Duration = Duration::from_secs(4);

fn signal(home: &Home, ids: &[String], signal: Signal) {
    for pid in ids.iter().flat_map(|id| home.supervisors_of(id)) {
        kill_process(Pid::from_raw(pid as i32).unwrap(), signal).unwrap();
    }
}

#[test]
fn an_unresponsive_supervisor_does_not_block_the_list() {
    let home = home();
    let stuck = [(); 4].map(|()| home.start(children::SLEEPER));
    signal(&home, &stuck, Signal::STOP);
    let begun = Instant::now();
    let terminal = top(&home);
    until(&terminal, "all are listed", |screen| stuck.iter().all(|id| line_of(screen, id).is_some()));
    // A task that starts while the four are queried is shown at once.
    let id = home.start("exit 4");
    home.ended(&id);
    until(&terminal, "the new task has failed", |screen| {
        line_of(screen, &id).is_some_and(|line| line.contains("failed"))
    });
    let took = begun.elapsed();
    signal(&home, &stuck, Signal::CONT);
    assert!(took < PROMPT * 4, "{took:?} for a list with four unresponsive supervisors");
    leave(terminal);
}
