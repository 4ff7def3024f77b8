//! Closed terminals and pipes: no command aborts.

use mw_testkit::{Home, SOON, children, need_program, wait_until};
use rustix::process::Signal;

use crate::home;
use crate::top::until_shown;

/// Runs a command on a terminal, closes it once a text is shown, and returns the exit code of the command.
fn closed_on(home: &Home, command: &str, shows: &str) -> i32 {
    let mw = env!("CARGO_BIN_EXE_mw");
    let inner = format!("trap : HUP; {mw} {command}; echo $? > code.new; mv code.new code");
    let outer = home.program("script").arg("-q").arg("-c").arg(&inner).arg("/dev/null").on_terminal();
    until_shown(&outer, shows);
    outer.signal(Signal::KILL);
    let code = home.work().join("code");
    let read = || std::fs::read_to_string(&code).ok()?.trim().parse().ok();
    let found = wait_until(SOON, "the command has ended with its terminal", read);
    std::fs::remove_file(&code).unwrap();
    found
}

#[test]
fn closing_the_terminal_ends_mw_top_but_not_the_task() {
    need_program("script");
    let home = home();
    let id = home.start("echo hello; exec sleep 600");
    assert_eq!(closed_on(&home, "top", "hello"), 129);
    assert_eq!(home.status(&id)["status"], "running");
}

#[test]
fn closing_the_terminal_ends_waiting_commands_but_not_the_task() {
    need_program("script");
    let home = home();
    let id = home.start("echo hello; exec sleep 600");
    home.until_logged(&id, "hello");
    let (follow, wait) = (format!("output --follow {id}"), format!("wait {id}"));
    let run = "run 'echo mine; exec sleep 600'";
    let commands =
        [(follow.as_str(), "hello"), (wait.as_str(), "running"), ("watch", "started"), (run, "mine")];
    for (command, shows) in commands {
        let mw = env!("CARGO_BIN_EXE_mw");
        let inner = format!("echo $$ > pid; exec {mw} {command}");
        let outer = home.program("script").arg("-q").arg("-c").arg(&inner).arg("/dev/null").on_terminal();
        until_shown(&outer, shows);
        let pid = home.pid_in("pid");
        outer.signal(Signal::KILL);
        home.until_dead(pid);
        std::fs::remove_file(home.work().join("pid")).unwrap();
        assert_eq!(home.status(&id)["status"], "running", "{command}");
    }
    let running = home.list().iter().filter(|task| task["status"] == "running").count();
    assert_eq!(running, 2, "the task of `mw run` continues too");
}

#[test]
fn closed_output_streams_abort_no_command() {
    let home = home();
    let id = home.start("echo hello; exec sleep 600");
    home.until_logged(&id, "hello");
    let mw = env!("CARGO_BIN_EXE_mw");
    let commands =
        ["list", "status ID", "output ID", "wait ID --timeout 1ms", "config", "nonsense", "status none"];
    for command in commands.map(|command| command.replace("ID", &id)) {
        for streams in [">&- 2>&-", "| true", "2>&1 | true", "> /dev/full 2> /dev/full"] {
            let script = format!("{{ {mw} {command}; echo $? > code; }} {streams}");
            let _ = home.program("sh").arg("-c").arg(&script).run();
            let code: i32 =
                std::fs::read_to_string(home.work().join("code")).unwrap().trim().parse().unwrap();
            assert!(code < 128, "{command} {streams}: {code}");
        }
    }
    let _ = home.mw(["kill", &id]).exits(0);
}

#[test]
fn closing_the_terminal_while_mw_top_draws_does_not_abort_it() {
    need_program("script");
    let home = home();
    let _id = home.start(children::SLEEPER);
    let busy = home.start("while :; do echo line; sleep 0.01; done");
    home.until_logged(&busy, "line");
    assert_eq!(closed_on(&home, "top", "line"), 129);
    let _ = home.mw(["kill", &busy]).exits(0);
}
