//! Hooks: what is run when something happens, once each, in order, and without anybody waiting for it.

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

const HEARD: &str = "heard.jsonl";

/// A hook that writes down what it is told.
fn listener(home: &Home) -> String {
    format!("cat >> {}", home.work().join(HEARD).display())
}

/// Waits until that many hooks have run; returns what they were told.
fn heard(home: &Home, count: usize) -> Vec<Value> {
    let path = home.work().join(HEARD);
    wait_until(SOON, "the hooks have run", || {
        let text = fs::read_to_string(&path).ok()?;
        let lines: Vec<_> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        (lines.len() >= count).then_some(lines)
    })
}

fn names(heard: &[Value]) -> Vec<&str> {
    heard.iter().map(|told| told["hook"].as_str().unwrap()).collect()
}

#[test]
fn hooks_start_and_hooks_exit_take_effect_in_order_with_what_they_must_know() {
    let place = home();
    let command = listener(&place);
    for home in both_ways("hooks.start", &command) {
        let home = home.with_env("MEANWHILE_HOOKS_EXIT", &command);
        fs::remove_file(place.work().join(HEARD)).ok();
        let id = home.start("exit 3");
        home.ended(&id);
        let told = heard(&place, 2);
        assert_eq!(names(&told), ["background:start", "background:exit"]);
        for (told, fields) in [
            (&told[0], &["taskId", "pid", "command"][..]),
            (&told[1], &["taskId", "status", "exitCode", "signal", "outputPath", "durationMs"]),
        ] {
            mw_testkit::contract::has_fields(told, fields);
            assert_eq!(told["taskId"], id.as_str(), "{told}");
        }
        assert_eq!(told[1]["exitCode"], 3);
    }
}

#[test]
fn hooks_exit_takes_effect_once_for_each_run_whoever_looks() {
    let place = home();
    for home in both_ways("hooks.exit", &listener(&place)) {
        fs::remove_file(place.work().join(HEARD)).ok();
        let ids = [(); 5].map(|()| home.start("true"));
        ids.iter().for_each(|id| drop(home.ended(id)));
        home.mw(["restart", &ids[0]]).ok();
        home.ended(&ids[0]);
        heard(&place, 6);
        home.mw(["list"]).ok();
        home.wait_until_empty(SOON);
        assert_eq!(heard(&place, 6).len(), 6, "none twice");
    }
}

#[test]
fn hooks_stall_takes_effect() {
    let place = home();
    for home in both_ways("hooks.stall", &listener(&place)) {
        let home = home.with_env("MEANWHILE_STALL_MS", "200");
        fs::remove_file(place.work().join(HEARD)).ok();
        let id = home.start("printf 'Continue? (y/n) '; sleep 600");
        let told = heard(&place, 1);
        assert_eq!((&told[0]["hook"], &told[0]["taskId"]), (&"stall".into(), &id.as_str().into()));
        assert!(told[0]["prompt"].as_str().unwrap().contains("Continue?"), "{told:?}");
        home.mw(["kill", &id]).ok();
    }
}

#[test]
fn hooks_ready_takes_effect() {
    let place = home();
    for home in both_ways("hooks.ready", &listener(&place)) {
        fs::remove_file(place.work().join(HEARD)).ok();
        let id = home.start_with(&["--ready-when", "up"], "echo up; sleep 600");
        let told = heard(&place, 1);
        assert_eq!((&told[0]["hook"], &told[0]["taskId"]), (&"ready".into(), &id.as_str().into()));
        assert_eq!(told[0]["what"], "up", "{told:?}");
        home.mw(["kill", &id]).ok();
    }
}

#[test]
fn hooks_timeout_ms_takes_effect_and_failures_are_logged_and_hold_up_nothing() {
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
        let text = wait_until(SOON, "it is shown", || {
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
    let address = format!("http://{}/told", server.local_addr().unwrap());
    for home in both_ways("hooks.webhook", &address) {
        // The one that answers here may be slow.
        let home = home.with_env("MEANWHILE_HOOKS_TIMEOUT_MS", "60000");
        let id = home.start("exit 5");
        for name in ["background:start", "background:exit"] {
            let (mut stream, _) = wait_until(SOON, "it is told", || server.accept().ok());
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
            let told: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!((&told["hook"], &told["taskId"]), (&name.into(), &id.as_str().into()), "{told}");
        }
    }
}

#[test]
fn a_task_that_never_ran_is_told_too() {
    let place = home();
    let home = home()
        .with_env("MEANWHILE_HOOKS_EXIT", listener(&place))
        .with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let running = home.start(children::SLEEPER);
    let waiting = home.start("true");
    home.mw(["kill", &waiting]).ok();
    let told = heard(&place, 1);
    assert_eq!((&told[0]["taskId"], &told[0]["status"]), (&waiting.as_str().into(), &"cancelled".into()));
    home.mw(["kill", &running]).ok();
}

#[test]
fn hooks_reassign_takes_effect() {
    let place = home();
    for home in both_ways("hooks.reassign", &listener(&place)) {
        fs::remove_file(place.work().join(HEARD)).ok();
        let started = home.command(["start", "--json", children::SLEEPER]).session("child").run().json();
        home.mw(["session", "reassign", "child", "parent", "--reason", "the subagent ended"]).ok();
        let told = heard(&place, 1);
        assert_eq!(told[0]["taskId"], started["id"]);
        let facts = ["from", "to", "reason"].map(|field| told[0][field].as_str().unwrap());
        assert_eq!(facts, ["child", "parent", "the subagent ended"]);
        home.mw(["session", "end", "parent"]).ok();
    }
}

fn settles(home: &Home) -> usize {
    let is_settle = |pid: &u32| mw_testkit::processes::words(*pid).iter().any(|word| word == "settle");
    home.tagged().iter().filter(|pid| is_settle(pid)).count()
}

#[test]
fn only_work_in_the_background_has_hooks_and_they_speak_its_dialect() {
    let home = home();
    let command = listener(&home);
    let home = home.with_env("MEANWHILE_HOOKS_START", &command).with_env("MEANWHILE_HOOKS_EXIT", &command);
    let home = home.with_env("MEANWHILE_TOOLS_LONGEST_CALL", "3s");
    let mut host = Host::of(home.command(["mcp", "--dialect", "zidane"]).session("host"));
    for _ in 0..5 {
        let _ = host.call("shell", &json!({"command": "exit 1"}));
    }
    let started = host.call("shell", &json!({"command": "exit 3", "run_in_background": true}));
    let told = heard(&home, 2);
    assert_eq!(names(&told), ["background:start", "background:exit"], "{told:?}");
    for told in &told {
        assert_eq!(told["taskId"], "bash_1", "{told}");
        assert_eq!(told["outputPath"], started["structuredContent"]["output_path"], "{told}");
    }
    assert_eq!((&told[1]["status"], &told[1]["exitCode"]), (&"exited".into(), &3.into()));
    // One that takes longer than a call may goes on: it starts for others then.
    let _ = host.call("shell", &json!({"command": children::SLEEPER}));
    let told = heard(&home, 3);
    assert_eq!((&told[2]["hook"], &told[2]["taskId"]), (&"background:start".into(), &"bash_2".into()));
    let _ = host.call("shell_kill", &json!({"task_id": "bash_2"}));
    let told = heard(&home, 4);
    assert_eq!((&told[3]["status"], &told[3]["exitCode"]), (&"killed".into(), &143.into()), "{told:?}");
    assert_eq!(told.len(), 4);
}

#[test]
fn a_run_that_somebody_waits_for_has_no_hooks_until_it_is_left() {
    let home = home();
    let command = listener(&home);
    let home = home.with_env("MEANWHILE_HOOKS_START", &command).with_env("MEANWHILE_HOOKS_EXIT", &command);
    let home = home.with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let _ = home.mw(["run", "exit 3"]).exits(3);
    let gated = children::gated("go", 0);
    let _ = home.mw(["run", "--detach-after", "300ms", "--name", "left", &gated]).exits(0);
    let told = heard(&home, 1);
    let left = home.status("left")["id"].clone();
    assert_eq!((&told[0]["hook"], &told[0]["id"]), (&"background:start".into(), &left), "{told:?}");
    // One that is left before it begins starts in the background.
    let _ = home.mw(["run", "--detach-after", "300ms", "--name", "late", "true"]).exits(0);
    let late = home.status("late")["id"].clone();
    home.open("go");
    let told = heard(&home, 4);
    for id in [&left, &late] {
        let of: Vec<_> = told.iter().filter(|told| told["id"] == *id).cloned().collect();
        assert_eq!(names(&of), ["background:start", "background:exit"], "{id}: {told:?}");
    }
    home.wait_until_empty(SOON);
    assert_eq!(heard(&home, 4).len(), 4, "none of the first");
}

#[test]
fn a_run_whose_terminal_is_closed_goes_on_in_the_background() {
    let home = home();
    let command = listener(&home);
    let home = home.with_env("MEANWHILE_HOOKS_START", &command);
    let running = home.command(["run", "--name", "left", "echo up; exec sleep 600"]).spawn();
    wait_until(SOON, "it is attached", || running.printed().contains("up").then_some(()));
    running.signal(Signal::HUP);
    assert_eq!(heard(&home, 1)[0]["id"], home.status("left")["id"]);
    home.mw(["kill", "left"]).ok();
}

#[test]
fn hooks_that_are_new_are_not_run_for_tasks_that_were_started_without_any() {
    let home = home();
    let before: Vec<_> = (0..3).map(|_| home.start("exit 1")).collect();
    before.iter().for_each(|id| _ = home.ended(id));
    let running = home.start(children::SLEEPER);
    let command = listener(&home);
    let home = home.with_env("MEANWHILE_HOOKS_EXIT", command);
    home.mw(["kill", &running]).ok();
    let after = home.start("exit 2");
    home.ended(&after);
    let told = heard(&home, 1);
    assert_eq!(told.iter().map(|told| told["taskId"].as_str().unwrap()).collect::<Vec<_>>(), [after]);
}

/// A hook that neither reads nor ends is ended in time, however much it was told.
#[test]
fn a_hook_that_does_not_read_holds_nothing_up() {
    let home = home()
        .with_env("MEANWHILE_HOOKS_EXIT", "exec sleep 600")
        .with_env("MEANWHILE_HOOKS_TIMEOUT_MS", "200");
    let long = format!(": {}", "x".repeat(100_000));
    for _ in 0..2 {
        let id = home.start(&long);
        home.ended(&id);
    }
    let log = home.state().join("hooks.log");
    wait_until(SOON, "both are logged", || {
        let text = fs::read_to_string(&log).ok()?;
        (text.matches("took longer").count() == 2).then_some(())
    });
}

/// What was started has its exit, also when it is cleared before anybody was told; whoever comes meanwhile leaves the
/// telling to the one who is at it.
#[test]
fn a_task_that_was_cleared_has_its_exit_and_nobody_waits_for_hooks() {
    let home = home();
    let heard_by = listener(&home);
    let gate = home.work().join("go");
    let slow = format!("while [ ! -e {} ]; do sleep 0.02; done; {heard_by}", gate.display());
    let home = home.with_env("MEANWHILE_HOOKS_START", slow).with_env("MEANWHILE_HOOKS_EXIT", heard_by);
    let home = home.with_env("MEANWHILE_HOOKS_TIMEOUT_MS", "60000");
    let ids = [(); 4].map(|()| home.start("true"));
    ids.iter().for_each(|id| drop(home.ended(id)));
    wait_until(SOON, "one runs hooks and nobody waits for it", || (settles(&home) <= 1).then_some(()));
    home.mw(["clear", &ids[0]]).ok();
    home.open("go");
    let told = heard(&home, 8);
    for id in &ids {
        let of: Vec<_> = told.iter().filter(|told| told["id"] == id.as_str()).cloned().collect();
        assert_eq!(names(&of), ["background:start", "background:exit"], "{id}");
    }
}

#[test]
fn a_hook_program_that_is_missing_is_told() {
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

/// What a hook puts into a session of its own ends with it, too, when its time is up.
#[test]
fn a_hook_that_takes_too_long_ends_with_everything_it_started() {
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
