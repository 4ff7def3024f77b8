//! Tasks of a disconnected client: with `session.end = kill` they end, unless a client reconnects in time.

use mw_testkit::host::{Host, text};
use mw_testkit::{Home, SOON, children, need_program, wait_until};
use serde_json::json;

use crate::home;

fn host(home: &Home, dialect: &str, session: &str) -> Host {
    Host::of(home.command(["mcp", "--dialect", dialect]).session(session))
}

/// Starts a task that does not end; returns its id and the text of the reply.
fn start(home: &Home, host: &mut Host, tool: &str) -> (String, String) {
    let before: Vec<_> = home.list().iter().map(|task| task["id"].clone()).collect();
    let reply = host.call(tool, &json!({"command": "exec sleep 600", "run_in_background": true}));
    let new = home.list().into_iter().map(|task| task["id"].clone()).find(|id| !before.contains(id));
    (new.unwrap_or_else(|| panic!("{reply}")).as_str().unwrap().to_owned(), text(&reply))
}

#[test]
fn tasks_of_zidane_and_opta_end_with_their_client_and_canonical_ones_continue() {
    let home = home().with_env("MEANWHILE_MODE", "auto").with_env("MEANWHILE_SESSION_GRACE_MS", "300");
    let mut own = host(&home, "canonical", "own");
    let (kept, said) = start(&home, &mut own, "shell");
    assert!(said.contains("It keeps running when this session ends."), "{said}");
    let mut zidane = host(&home, "zidane", "zidane");
    let (killed, said) = start(&home, &mut zidane, "shell");
    assert!(said.contains("It ends with this session."), "{said}");
    let mut opta = host(&home, "opta", "opta");
    let (closed, _) = start(&home, &mut opta, "bg_start");
    home.kill_process(own.server.pid());
    home.kill_process(zidane.server.pid());
    opta.server.close();
    for id in [&killed, &closed] {
        let task = home.ended(id);
        assert_eq!((&task["status"], &task["signal"]), (&"cancelled".into(), &"SIGTERM".into()), "{task}");
        assert!(task["cause"].as_str().unwrap().contains("the end of its session"), "{task}");
    }
    assert_eq!(home.status(&kept)["status"], "running");
}

/// The instructions agree with the replies to starts.
#[test]
fn the_instructions_say_whether_tasks_end_with_the_session() {
    let dialects = ["canonical", "zidane", "mycode", "background-task", "opta", "co-cli"];
    let (usual, killing) = (home(), home().with_env("MEANWHILE_SESSION_END", "kill"));
    let detached = home().with_env("MEANWHILE_SESSION_END", "kill");
    let detached = detached.with_env("MEANWHILE_SESSION_KILL_TASKS", "false");
    for dialect in dialects {
        let ends = matches!(dialect, "zidane" | "opta");
        for (home, ends) in [(&usual, ends), (&killing, true), (&detached, false)] {
            let mut host = Host::silent(home.command(["mcp", "--dialect", dialect]).session(dialect));
            let delivered = host.greet("2025-11-25");
            let said = delivered["instructions"].as_str().unwrap();
            assert_eq!(said.contains("Tasks end with this session."), ends, "{dialect}: {said}");
            assert_eq!(
                said.contains("Tasks keep running after this session or this server ends."),
                !ends,
                "{dialect}: {said}"
            );
            host.server.close();
        }
    }
}

#[test]
fn structured_start_replies_say_whether_the_task_ends_with_the_session() {
    need_program("bash");
    for (end, ends) in [("keep", false), ("kill", true)] {
        let home = home().with_env("MEANWHILE_SESSION_END", end).with_env("MEANWHILE_MODE", "auto");
        let given = json!({"command": "sleep 600", "description": "Wait", "run_in_background": true});
        let calls = [
            ("mycode", "Bash", "ends_with_session"),
            ("co-cli", "start_background_task", "ends_with_session"),
            ("opta", "bg_start", "endsWithSession"),
        ];
        for (dialect, tool, field) in calls {
            let mut host = host(&home, dialect, dialect);
            let reply = host.call(tool, &given);
            assert_eq!(reply["structuredContent"][field], ends, "{dialect}: {reply}");
        }
    }
}

#[test]
fn a_client_that_reconnects_in_time_keeps_its_tasks() {
    let home = home().with_env("MEANWHILE_SESSION_GRACE_MS", "6000");
    let (mut one, mut other) = (host(&home, "zidane", "one"), host(&home, "zidane", "other"));
    let (kept, _) = start(&home, &mut one, "shell");
    let (lost, _) = start(&home, &mut other, "shell");
    home.kill_process(one.server.pid());
    home.kill_process(other.server.pid());
    // It need not call a tool.
    let back = host(&home, "zidane", "one");
    assert_eq!(home.ended(&lost)["status"], "cancelled");
    assert_eq!(home.status(&kept)["status"], "running");
    drop(back);
}

#[test]
fn a_client_of_another_dialect_that_connects_in_time_keeps_the_tasks() {
    let home = home().with_env("MEANWHILE_SESSION_GRACE_MS", "6000");
    let (mut one, mut other) = (host(&home, "zidane", "one"), host(&home, "opta", "other"));
    let (kept, _) = start(&home, &mut one, "shell");
    let (lost, _) = start(&home, &mut other, "bg_start");
    home.kill_process(one.server.pid());
    home.kill_process(other.server.pid());
    let back = host(&home, "canonical", "one");
    assert_eq!(home.ended(&lost)["status"], "cancelled");
    assert_eq!(home.status(&kept)["status"], "running");
    drop(back);
}

#[test]
fn tasks_of_a_client_end_only_after_the_last_server_of_its_session() {
    need_program("bash");
    let home = home().with_env("MEANWHILE_MODE", "dangerous").with_env("MEANWHILE_SESSION_GRACE_MS", "300");
    let (mut own, mut mycode) = (host(&home, "canonical", "s"), host(&home, "mycode", "s"));
    let (by_own, said) = start(&home, &mut own, "shell");
    assert!(said.contains("It keeps running when this session ends."), "{said}");
    let (by_mycode, _) = start(&home, &mut mycode, "Bash");
    let by_hand = home.command(["start", "--json", "exec sleep 600"]).session("s").run().json();
    let by_hand = by_hand["id"].as_str().unwrap();
    let mut zidane = host(&home, "zidane", "s");
    let (by_zidane, said) = start(&home, &mut zidane, "shell");
    assert!(said.contains("It ends with this session."), "{said}");
    // A client that only initializes.
    host(&home, "opta", "s").server.close();
    home.kill_process(zidane.server.pid());
    // The end of a task in another session shows that the grace period has passed.
    let mut other = host(&home, "zidane", "other");
    let (ended, _) = start(&home, &mut other, "shell");
    home.kill_process(other.server.pid());
    assert_eq!(home.ended(&ended)["status"], "cancelled");
    for id in [&by_own, &by_mycode, by_hand, &by_zidane] {
        assert_eq!(home.status(id)["status"], "running", "{id}");
    }
    home.kill_process(own.server.pid());
    mycode.server.close();
    let task = home.ended(&by_zidane);
    assert!(task["cause"].as_str().unwrap().contains("the end of its session"), "{task}");
    for id in [&by_own, &by_mycode, by_hand] {
        assert_eq!(home.status(id)["status"], "running", "{id}");
    }
}

#[test]
fn a_later_host_does_not_end_tasks_that_outlive_the_session() {
    let home = home().with_env("MEANWHILE_SESSION_GRACE_MS", "100");
    let mut own = host(&home, "canonical", "s");
    let (kept, said) = start(&home, &mut own, "shell");
    assert!(said.contains("It keeps running when this session ends."), "{said}");
    let run = home.command(["session", "run", "s", "--", "true"]).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(home.status(&kept)["status"], "running");
    // Ending the session by name includes all of its tasks.
    let _ = home.mw(["session", "end", "s"]).ok();
    assert_eq!(home.status(&kept)["status"], "cancelled");
}

#[test]
fn the_reply_to_a_start_under_a_host_says_that_the_task_ends_with_it() {
    let home = home();
    let quiet = "exec sleep 600 >/dev/null 2>&1";
    let hosting = home.command(["session", "run", "s", "--", "sh", "-c", quiet]).spawn();
    wait_until(SOON, "the host holds the session", || {
        let sessions = std::fs::read_dir(home.state().join("sessions/s")).ok()?;
        let mut names = sessions.flatten().map(|entry| entry.file_name().into_string().unwrap());
        names.any(|name| name.starts_with("host-")).then_some(())
    });
    let (_, said) = start(&home, &mut host(&home, "canonical", "s"), "shell");
    assert!(said.contains("It ends with this session."), "{said}");
    let _ = hosting.kill();
}

/// Starts three tasks with one slot. Returns their ids, the running one first.
fn start_three(home: &Home, host: &mut Host, first: &str) -> Vec<String> {
    let commands = [first, "echo ran > second", "echo ran > third"];
    for command in commands {
        let _ = host.call("shell", &json!({"command": command, "run_in_background": true}));
    }
    let tasks = home.list();
    let id = |command: &str| tasks.iter().find(|task| task["command"] == command).unwrap()["id"].clone();
    commands.map(|command| id(command).as_str().unwrap().to_owned()).to_vec()
}

#[test]
fn ending_a_session_starts_none_of_its_queued_tasks() {
    let home = home().with_env("MEANWHILE_MODE", "auto").with_env("MEANWHILE_SESSION_GRACE_MS", "300");
    for (dialect, session) in [("zidane", "killed"), ("zidane", "closed")] {
        let command = home.command(["mcp", "--dialect", dialect]).session(session);
        let mut host = Host::of(command.env("MEANWHILE_QUEUE_MAX_RUNNING", "1"));
        let ids = start_three(&home, &mut host, &format!("exec sleep 600 # {session}"));
        match session {
            "killed" => home.kill_process(host.server.pid()),
            _ => host.server.close(),
        }
        // No command runs until the running task is dead: the process that frees the slot must handle the others.
        let result = home.task_dir(&ids[0]).join("result.json");
        wait_until(SOON, "the running task ends", || result.exists().then_some(()));
        for id in &ids {
            let task = home.ended(id);
            assert_eq!(task["status"], "cancelled", "{task}");
            assert!(task["cause"].as_str().unwrap().contains("the end of its session"), "{task}");
        }
        for (id, file) in ids[1..].iter().zip(["second", "third"]) {
            assert!(home.status(id)["started_at"].is_null(), "{id} was started");
            assert!(!home.work().join(file).exists(), "{file} ran");
            let _ = home.mw(["clear", id]).ok();
        }
    }
}

#[test]
fn queued_tasks_of_a_session_without_a_client_start_when_one_reconnects() {
    let home = home().with_env("MEANWHILE_MODE", "auto").with_env("MEANWHILE_SESSION_GRACE_MS", "600000");
    let command = home.command(["mcp", "--dialect", "zidane"]).session("s");
    let mut first = Host::of(command.env("MEANWHILE_QUEUE_MAX_RUNNING", "1"));
    let ids = start_three(&home, &mut first, &children::gated("go", 0));
    home.kill_process(first.server.pid());
    home.open("go");
    assert_eq!(home.ended(&ids[0])["status"], "completed");
    let _ = home.mw(["list"]).ok();
    for id in &ids[1..] {
        assert_eq!(home.status(id)["status"], "pending", "no client is connected");
    }
    let back = host(&home, "canonical", "s");
    for id in &ids[1..] {
        assert_eq!(home.ended(id)["status"], "completed");
    }
    drop(back);
}

#[test]
fn session_end_takes_effect() {
    let home = home().with_env("MEANWHILE_SESSION_GRACE_MS", "300");
    let ending = |how: &str| {
        let mut host = Host::of(home.command(["mcp"]).session(how).env("MEANWHILE_SESSION_END", how));
        let (id, said) = start(&home, &mut host, "shell");
        home.kill_process(host.server.pid());
        (id, said)
    };
    let (kept, said) = ending("keep");
    assert!(said.contains("It keeps running"), "{said}");
    let (killed, said) = ending("kill");
    assert!(said.contains("It ends with this session"), "{said}");
    assert_eq!(home.ended(&killed)["status"], "cancelled");
    assert_eq!(home.status(&kept)["status"], "running");
}
