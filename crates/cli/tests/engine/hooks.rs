//! Hooks: programs run once for each event, in order, and no command waits for them.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use mw_testkit::host::Host;
use mw_testkit::{Home, SOON, children, need_program, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::home;
use crate::settings::both_ways;

const INPUTS_FILE: &str = "heard.jsonl";

/// A hook that records its input.
fn listener(home: &Home) -> String {
    format!("cat >> {}", home.work().join(INPUTS_FILE).display())
}

/// Waits until that many hooks have run; returns their inputs.
fn hook_inputs(home: &Home, count: usize) -> Vec<Value> {
    let path = home.work().join(INPUTS_FILE);
    wait_until(SOON, "the hooks have run", || {
        let text = fs::read_to_string(&path).ok()?;
        let lines: Vec<_> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        (lines.len() >= count).then_some(lines)
    })
}

fn names(heard: &[Value]) -> Vec<&str> {
    heard.iter().map(|inputs| inputs["hook"].as_str().unwrap()).collect()
}

#[test]
fn hooks_start_and_hooks_exit_take_effect_in_order_with_their_fields() {
    let place = home();
    let command = listener(&place);
    for home in both_ways("hooks.start", &command) {
        let home = home.with_env("MEANWHILE_HOOKS_EXIT", &command);
        fs::remove_file(place.work().join(INPUTS_FILE)).ok();
        let id = home.start("exit 3");
        home.ended(&id);
        let inputs = hook_inputs(&place, 2);
        assert_eq!(names(&inputs), ["background:start", "background:exit"]);
        for (inputs, fields) in [
            (&inputs[0], &["taskId", "pid", "command"][..]),
            (&inputs[1], &["taskId", "status", "exitCode", "signal", "outputPath", "durationMs"]),
        ] {
            mw_testkit::contract::has_fields(inputs, fields);
            assert_eq!(inputs["taskId"], id.as_str(), "{inputs}");
        }
        assert_eq!(inputs[1]["exitCode"], 3);
    }
}

#[test]
fn hooks_exit_takes_effect_once_for_each_run() {
    let place = home();
    for home in both_ways("hooks.exit", &listener(&place)) {
        fs::remove_file(place.work().join(INPUTS_FILE)).ok();
        let ids = [(); 5].map(|()| home.start("true"));
        ids.iter().for_each(|id| drop(home.ended(id)));
        home.mw(["restart", &ids[0]]).ok();
        home.ended(&ids[0]);
        hook_inputs(&place, 6);
        home.mw(["list"]).ok();
        home.wait_until_empty(SOON);
        assert_eq!(hook_inputs(&place, 6).len(), 6, "no hook ran twice");
    }
}

#[test]
fn hooks_stall_takes_effect() {
    let place = home();
    for home in both_ways("hooks.stall", &listener(&place)) {
        let home = home.with_env("MEANWHILE_STALL_MS", "200");
        fs::remove_file(place.work().join(INPUTS_FILE)).ok();
        let id = home.start("printf 'Continue? (y/n) '; sleep 600");
        let inputs = hook_inputs(&place, 1);
        assert_eq!((&inputs[0]["hook"], &inputs[0]["taskId"]), (&"stall".into(), &id.as_str().into()));
        assert!(inputs[0]["prompt"].as_str().unwrap().contains("Continue?"), "{inputs:?}");
        home.mw(["kill", &id]).ok();
    }
}

#[test]
fn hooks_ready_takes_effect() {
    let place = home();
    for home in both_ways("hooks.ready", &listener(&place)) {
        fs::remove_file(place.work().join(INPUTS_FILE)).ok();
        let id = home.start_with(&["--ready-when", "up"], "echo up; sleep 600");
        let inputs = hook_inputs(&place, 1);
        assert_eq!((&inputs[0]["hook"], &inputs[0]["taskId"]), (&"ready".into(), &id.as_str().into()));
        assert_eq!(inputs[0]["what"], "up", "{inputs:?}");
        home.mw(["kill", &id]).ok();
    }
}

#[test]
fn hooks_timeout_ms_takes_effect_and_failures_are_logged() {
    for home in both_ways("hooks.timeout_ms", "100") {
        let home = home.with_env("MEANWHILE_HOOKS_EXIT", "sleep 600");
        let id = home.start("true");
        assert_eq!(home.ended(&id)["status"], "completed");
        let log = home.state().join("hooks.log");
        let line = wait_until(SOON, "the failure is logged", || {
            fs::read_to_string(&log).ok().filter(|text| text.ends_with('\n'))
        });
        assert!(line.contains("took longer") && line.contains(&id), "{line}");
        home.wait_until_empty(SOON);
    }
}

#[test]
fn hooks_desktop_takes_effect() {
    let place = home();
    let notify = place.work().join("notify-send");
    let seen = place.work().join("seen");
    fs::write(&notify, format!("#!/bin/sh\necho \"$3\" >> {}\n", seen.display())).unwrap();
    fs::set_permissions(&notify, PermissionsExt::from_mode(0o755)).unwrap();
    for home in both_ways("hooks.desktop", "true") {
        fs::remove_file(&seen).ok();
        let home = home.with_env("PATH", format!("{}:/usr/bin:/bin", place.work().display()));
        let id = home.start("exit 4");
        home.ended(&id);
        let text = wait_until(SOON, "the desktop notification is shown", || {
            fs::read_to_string(&seen).ok().filter(|text| text.ends_with('\n'))
        });
        assert_eq!(text, format!("{id} exited 4: exit 4\n"));
    }
}

#[test]
fn hooks_webhook_takes_effect() {
    need_program("curl");
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let address = format!("http://{}/hook", server.local_addr().unwrap());
    for home in both_ways("hooks.webhook", &address) {
        // The server of this test may be slow.
        let home = home.with_env("MEANWHILE_HOOKS_TIMEOUT_MS", "60000");
        let id = home.start("exit 5");
        for name in ["background:start", "background:exit"] {
            let (mut stream, _) = wait_until(SOON, "the hook is called", || server.accept().ok());
            stream.set_nonblocking(false).unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut length = 0;
            for line in reader.by_ref().lines().map(Result::unwrap).take_while(|line| !line.is_empty()) {
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                    length = value.parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").unwrap();
            let inputs: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!((&inputs["hook"], &inputs["taskId"]), (&name.into(), &id.as_str().into()), "{inputs}");
        }
    }
}

#[test]
fn a_task_that_never_ran_has_an_exit_hook() {
    let place = home();
    let home = home()
        .with_env("MEANWHILE_HOOKS_EXIT", listener(&place))
        .with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let running = home.start(children::SLEEPER);
    let waiting = home.start("true");
    home.mw(["kill", &waiting]).ok();
    let inputs = hook_inputs(&place, 1);
    assert_eq!((&inputs[0]["taskId"], &inputs[0]["status"]), (&waiting.as_str().into(), &"cancelled".into()));
    home.mw(["kill", &running]).ok();
}

#[test]
fn hooks_reassign_takes_effect() {
    let place = home();
    for home in both_ways("hooks.reassign", &listener(&place)) {
        fs::remove_file(place.work().join(INPUTS_FILE)).ok();
        let started = home.command(["start", "--json", children::SLEEPER]).session("child").run().json();
        home.mw(["session", "reassign", "child", "parent", "--reason", "the subagent ended"]).ok();
        let inputs = hook_inputs(&place, 1);
        assert_eq!(inputs[0]["taskId"], started["id"]);
        let facts = ["from", "to", "reason"].map(|field| inputs[0][field].as_str().unwrap());
        assert_eq!(facts, ["child", "parent", "the subagent ended"]);
        home.mw(["session", "end", "parent"]).ok();
    }
}

fn settles(home: &Home) -> usize {
    let is_settle = |pid: &u32| mw_testkit::processes::command_line(*pid).iter().any(|word| word == "settle");
    home.tagged().iter().filter(|pid| is_settle(pid)).count()
}

#[test]
fn hooks_run_only_for_background_tasks_and_have_the_ids_of_the_dialect() {
    let home = home();
    let command = listener(&home);
    let home = home.with_env("MEANWHILE_HOOKS_START", &command).with_env("MEANWHILE_HOOKS_EXIT", &command);
    let home = home.with_env("MEANWHILE_TOOLS_LONGEST_CALL", "3s");
    let mut host = Host::of(home.command(["mcp", "--dialect", "zidane"]).session("host"));
    for _ in 0..5 {
        let _ = host.call("shell", &json!({"command": "exit 1"}));
    }
    let started = host.call("shell", &json!({"command": "exit 3", "run_in_background": true}));
    let inputs = hook_inputs(&home, 2);
    assert_eq!(names(&inputs), ["background:start", "background:exit"], "{inputs:?}");
    for inputs in &inputs {
        assert_eq!(inputs["taskId"], "bash_1", "{inputs}");
        assert_eq!(inputs["outputPath"], started["structuredContent"]["output_path"], "{inputs}");
    }
    assert_eq!((&inputs[1]["status"], &inputs[1]["exitCode"]), (&"exited".into(), &3.into()));
    // A command beyond the call limit moves to the background: its start hook runs then.
    let _ = host.call("shell", &json!({"command": children::SLEEPER}));
    let inputs = hook_inputs(&home, 3);
    assert_eq!((&inputs[2]["hook"], &inputs[2]["taskId"]), (&"background:start".into(), &"bash_2".into()));
    let _ = host.call("shell_kill", &json!({"task_id": "bash_2"}));
    let inputs = hook_inputs(&home, 4);
    assert_eq!((&inputs[3]["status"], &inputs[3]["exitCode"]), (&"killed".into(), &143.into()), "{inputs:?}");
    assert_eq!(inputs.len(), 4);
}

#[test]
fn a_foreground_run_has_no_hooks_until_it_moves_to_the_background() {
    let home = home();
    let command = listener(&home);
    let home = home.with_env("MEANWHILE_HOOKS_START", &command).with_env("MEANWHILE_HOOKS_EXIT", &command);
    let home = home.with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let _ = home.mw(["run", "exit 3"]).exits(3);
    let gated = children::gated("go", 0);
    let _ = home
        .mw(["run", "--at-capacity", "queue", "--detach-after", "300ms", "--name", "left", &gated])
        .exits(0);
    let inputs = hook_inputs(&home, 1);
    let left = home.status("left")["id"].clone();
    assert_eq!((&inputs[0]["hook"], &inputs[0]["id"]), (&"background:start".into(), &left), "{inputs:?}");
    // A queued run that is detached starts in the background.
    let _ = home
        .mw(["run", "--at-capacity", "queue", "--detach-after", "300ms", "--name", "late", "true"])
        .exits(0);
    let late = home.status("late")["id"].clone();
    home.open("go");
    let inputs = hook_inputs(&home, 4);
    for id in [&left, &late] {
        let of: Vec<_> = inputs.iter().filter(|inputs| inputs["id"] == *id).cloned().collect();
        assert_eq!(names(&of), ["background:start", "background:exit"], "{id}: {inputs:?}");
    }
    home.wait_until_empty(SOON);
    assert_eq!(hook_inputs(&home, 4).len(), 4, "the first run has no hooks");
}

#[test]
fn a_run_whose_terminal_is_closed_continues_in_the_background() {
    let home = home();
    let command = listener(&home);
    let home = home.with_env("MEANWHILE_HOOKS_START", &command);
    let running = home.command(["run", "--name", "left", "echo up; exec sleep 600"]).spawn();
    wait_until(SOON, "the run shows output", || running.printed().contains("up").then_some(()));
    running.signal(Signal::HUP);
    assert_eq!(hook_inputs(&home, 1)[0]["id"], home.status("left")["id"]);
    home.mw(["kill", "left"]).ok();
}

#[test]
fn new_hooks_do_not_run_for_tasks_started_without_hooks() {
    let home = home();
    let before: Vec<_> = (0..3).map(|_| home.start("exit 1")).collect();
    before.iter().for_each(|id| _ = home.ended(id));
    let running = home.start(children::SLEEPER);
    let command = listener(&home);
    let home = home.with_env("MEANWHILE_HOOKS_EXIT", command);
    home.mw(["kill", &running]).ok();
    let after = home.start("exit 2");
    home.ended(&after);
    let inputs = hook_inputs(&home, 1);
    assert_eq!(inputs.iter().map(|inputs| inputs["taskId"].as_str().unwrap()).collect::<Vec<_>>(), [after]);
}

/// A hook that neither reads nor ends is killed at its timeout, however large its input is.
#[test]
fn a_hook_that_does_not_read_blocks_nothing() {
    let home = home()
        .with_env("MEANWHILE_HOOKS_EXIT", "exec sleep 600")
        .with_env("MEANWHILE_HOOKS_TIMEOUT_MS", "200");
    let long = format!(": {}", "x".repeat(100_000));
    for _ in 0..2 {
        let id = home.start(&long);
        home.ended(&id);
    }
    let log = home.state().join("hooks.log");
    wait_until(SOON, "both failures are logged", || {
        let text = fs::read_to_string(&log).ok()?;
        (text.matches("took longer").count() == 2).then_some(())
    });
}

/// The exit hook of a started task runs even if the task is cleared first. Concurrent commands leave the
/// delivery to the process that is already running hooks.
#[test]
fn a_cleared_task_has_its_exit_hook_and_no_command_waits_for_hooks() {
    let home = home();
    let heard_by = listener(&home);
    let gate = home.work().join("go");
    let slow = format!("while [ ! -e {} ]; do sleep 0.02; done; {heard_by}", gate.display());
    let home = home.with_env("MEANWHILE_HOOKS_START", slow).with_env("MEANWHILE_HOOKS_EXIT", heard_by);
    let home = home.with_env("MEANWHILE_HOOKS_TIMEOUT_MS", "60000");
    let ids = [(); 4].map(|()| home.start("true"));
    ids.iter().for_each(|id| drop(home.ended(id)));
    // The first hook waits for the gate.
    wait_until(SOON, "exactly one process runs hooks", || (settles(&home) == 1).then_some(()));
    home.mw(["clear", &ids[0]]).ok();
    home.open("go");
    let inputs = hook_inputs(&home, 8);
    for id in &ids {
        let of: Vec<_> = inputs.iter().filter(|inputs| inputs["id"] == id.as_str()).cloned().collect();
        assert_eq!(names(&of), ["background:start", "background:exit"], "{id}");
    }
}

#[test]
fn a_missing_hook_program_is_reported() {
    let home = home().with_env("MEANWHILE_HOOKS_EXIT", "no-such-program --now");
    home.ended(&home.start("true"));
    let log = home.state().join("hooks.log");
    let line = wait_until(SOON, "the failure is logged", || {
        fs::read_to_string(&log).ok().filter(|text| text.ends_with('\n'))
    });
    assert!(line.contains("program not found"), "{line}");
    let found = home.mw(["doctor", "--json"]).exits(1).json();
    let checks = found["checks"].as_array().unwrap();
    let hooks: Vec<_> = checks.iter().filter(|check| check["name"] == "hooks").collect();
    assert_eq!(hooks[0]["verdict"], "problem", "{hooks:?}");
    assert!(
        hooks[0]["detail"].as_str().unwrap().contains("hooks.exit runs \"no-such-program\""),
        "{hooks:?}"
    );
    assert!(hooks[1]["detail"].as_str().unwrap().contains("the last failure"), "{hooks:?}");
}

/// Processes that a hook starts in a separate session are killed too.
#[test]
fn a_hook_that_times_out_is_killed_with_its_process_tree() {
    need_program("setsid");
    let home = home().with_env("MEANWHILE_HOOKS_TIMEOUT_MS", "1000");
    let pids = home.work().join("pids");
    let child = format!("trap \"\" TERM; echo $$ >> {}; sleep 600; true", pids.display());
    let hook = format!("setsid sh -c '{child}' & (setsid setsid sh -c '{child}' &); sleep 600");
    let home = home.with_env("MEANWHILE_HOOKS_EXIT", hook);
    let id = home.start("true");
    home.ended(&id);
    let started = wait_until(SOON, "both children run", || {
        let text = fs::read_to_string(&pids).ok()?;
        (text.lines().count() == 2 && text.ends_with('\n')).then_some(text)
    });
    for pid in started.lines() {
        home.until_dead(pid.parse().unwrap());
    }
    home.wait_until_empty(SOON);
}
