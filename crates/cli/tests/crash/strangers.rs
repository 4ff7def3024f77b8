//! A killed guardian or supervisor below a subreaper: the subreaper gets no signal.

use mw_testkit::{Home, Running, SOON, children, compiled, wait_until};
use rustix::process::Signal;

use crate::home;

/// Starts a task below a subreaper that records signals.
fn start_below(home: &Home, script: &str) -> (Running, String) {
    let program = home.compile("parent", compiled::ADOPTIVE_PARENT);
    let mut invocation = home.program(program);
    for word in [env!("CARGO_BIN_EXE_mw"), "start", "--name", "below", "--stdin", script] {
        invocation = invocation.arg(word);
    }
    let parent = invocation.spawn();
    let id = wait_until(SOON, "it runs", || {
        let tasks = home.list();
        let found = tasks.iter().find(|task| task["name"] == "below" && task["status"] == "running")?;
        Some(found["id"].as_str().unwrap().to_owned())
    });
    (parent, id)
}

#[test]
fn the_new_parent_of_an_orphaned_supervisor_is_not_signalled() {
    for kills_guardian in [true, false] {
        let home = home();
        let (parent, id) = start_below(&home, &children::gated("go", 4));
        let pair = home.pair(&id);
        home.kill_process(if kills_guardian { pair.guardian } else { pair.supervisor });
        wait_until(SOON, "its input is closed", || {
            let outcome = home.mw(["input", &id, "--eof", "word"]);
            (outcome.code == Some(0)).then_some(())
        });
        home.open("go");
        assert_eq!(home.ended(&id)["exit_code"], 4);
        wait_until(SOON, "its supervisors have ended", || home.supervisors_of(&id).is_empty().then_some(()));
        parent.signal(Signal::USR2);
        home.file("usr2");
        assert!(!home.has_file("usr1"), "the new parent was signalled (guardian: {kills_guardian})");
    }
}
