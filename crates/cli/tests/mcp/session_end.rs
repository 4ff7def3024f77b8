//! What becomes of tasks when their client is gone: with `session.end = kill` they end, unless a client comes back.

use mw_testkit::host::{Host, text};
use mw_testkit::{Home, SOON, children, need_program, wait_until};
use serde_json::json;

use crate::home;

fn host(home: &Home, dialect: &str, session: &str) -> Host {
    Host::of(home.command(["mcp", "--dialect", dialect]).session(session))
}

/// Starts something that does not end; returns its id and the text of the reply.
fn start(home: &Home, host: &mut Host, tool: &str) -> (String, String) {
    let before: Vec<_> = home.list().iter().map(|task| task["id"].clone()).collect();
    let reply = host.call(tool, &json!({"command": "exec sleep 600", "run_in_background": true}));
    let new = home.list().into_iter().map(|task| task["id"].clone()).find(|id| !before.contains(id));
    (new.unwrap_or_else(|| panic!("{reply}")).as_str().unwrap().to_owned(), text(&reply))
}

#[test]
fn tasks_of_zidane_and_opta_end_with_their_client_and_those_of_our_own_set_go_on() {
    let home = home().with_env("MEANWHILE_MODE", "auto").with_env("MEANWHILE_SESSION_GRACE_MS", "300");
    let mut own = host(&home, "canonical", "own");
    let (kept, said) = start(&home, &mut own, "shell");
    assert!(said.contains("It keeps running when this session ends."), "{said}");
    let mut zidane = host(&home, "zidane", "zidane");
    let (killed, said) = start(&home, &mut zidane, "shell");
    assert!(said.contains("It ends with this session."), "{said}");
    let mut opta = host(&home, "opta", "opta");
    let (closed, _) = start(&home, &mut opta, "bg_start");
    home.slay(own.server.pid());
    home.slay(zidane.server.pid());
    opta.server.close();
    for id in [&killed, &closed] {
        let task = home.ended(id);
        assert_eq!((&task["status"], &task["signal"]), (&"cancelled".into(), &"SIGTERM".into()), "{task}");
        assert!(task["cause"].as_str().unwrap().contains("the end of its session"), "{task}");
    }
    assert_eq!(home.status(&kept)["status"], "running");
}

/// The text that a model reads first agrees with the replies to its starts.
#[test]
fn the_instructions_say_what_the_end_of_the_session_does() {
    let dialects = ["canonical", "zidane", "mycode", "background-task", "opta", "co-cli"];
    let (usual, killing) = (home(), home().with_env("MEANWHILE_SESSION_END", "kill"));
    let detached = home().with_env("MEANWHILE_SESSION_END", "kill");
    let detached = detached.with_env("MEANWHILE_SESSION_KILL_TASKS", "false");
    for dialect in dialects {
        let ends = matches!(dialect, "zidane" | "opta");
        for (home, ends) in [(&usual, ends), (&killing, true), (&detached, false)] {
            let mut host = Host::silent(home.command(["mcp", "--dialect", dialect]).session(dialect));
            let told = host.greet("2025-11-25");
            let said = told["instructions"].as_str().unwrap();
            assert_eq!(said.contains("Tasks end with this session."), ends, "{dialect}: {said}");
            assert_eq!(said.contains("Tasks outlive you and this server."), !ends, "{dialect}: {said}");
            host.server.close();
        }
    }
}

#[test]
fn the_reply_to_a_start_says_what_the_end_of_the_session_does_where_its_words_are_prescribed() {
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
fn a_client_that_comes_back_in_time_keeps_its_tasks() {
    let home = home().with_env("MEANWHILE_SESSION_GRACE_MS", "6000");
    let (mut one, mut other) = (host(&home, "zidane", "one"), host(&home, "zidane", "other"));
    let (kept, _) = start(&home, &mut one, "shell");
    let (lost, _) = start(&home, &mut other, "shell");
    home.slay(one.server.pid());
    home.slay(other.server.pid());
    // It need not call anything.
    let back = host(&home, "zidane", "one");
    assert_eq!(home.ended(&lost)["status"], "cancelled");
    assert_eq!(home.status(&kept)["status"], "running");
    drop(back);
}

#[test]
fn a_client_of_another_dialect_that_comes_in_time_keeps_them_too() {
    let home = home().with_env("MEANWHILE_SESSION_GRACE_MS", "6000");
    let (mut one, mut other) = (host(&home, "zidane", "one"), host(&home, "opta", "other"));
    let (kept, _) = start(&home, &mut one, "shell");
    let (lost, _) = start(&home, &mut other, "bg_start");
    home.slay(one.server.pid());
    home.slay(other.server.pid());
    let back = host(&home, "canonical", "one");
    assert_eq!(home.ended(&lost)["status"], "cancelled");
    assert_eq!(home.status(&kept)["status"], "running");
    drop(back);
}

#[test]
fn a_client_that_leaves_ends_no_task_of_others_and_its_own_end_after_the_last_server() {
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
    // One that only says hello.
    host(&home, "opta", "s").server.close();
    home.slay(zidane.server.pid());
    // What ends in another session meanwhile shows that the grace is over.
    let mut other = host(&home, "zidane", "other");
    let (ended, _) = start(&home, &mut other, "shell");
    home.slay(other.server.pid());
    assert_eq!(home.ended(&ended)["status"], "cancelled");
    for id in [&by_own, &by_mycode, by_hand, &by_zidane] {
        assert_eq!(home.status(id)["status"], "running", "{id}");
    }
    home.slay(own.server.pid());
    mycode.server.close();
    let task = home.ended(&by_zidane);
    assert!(task["cause"].as_str().unwrap().contains("the end of its session"), "{task}");
    for id in [&by_own, &by_mycode, by_hand] {
        assert_eq!(home.status(id)["status"], "running", "{id}");
    }
}

#[test]
fn a_host_that_comes_later_and_leaves_does_not_end_what_was_to_go_on() {
    let home = home().with_env("MEANWHILE_SESSION_GRACE_MS", "100");
    let mut own = host(&home, "canonical", "s");
    let (kept, said) = start(&home, &mut own, "shell");
    assert!(said.contains("It keeps running when this session ends."), "{said}");
    let run = home.command(["session", "run", "s", "--", "true"]).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(home.status(&kept)["status"], "running");
    // Somebody who ends the session by name means all of it.
    let _ = home.mw(["session", "end", "s"]).ok();
    assert_eq!(home.status(&kept)["status"], "cancelled");
}

#[test]
fn a_task_that_is_started_under_a_host_says_that_it_ends_with_that() {
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

/// Starts three of which one may run; returns their ids, the first being that of the one that runs.
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
fn the_end_of_a_session_starts_none_of_its_waiting_tasks() {
    let home = home().with_env("MEANWHILE_MODE", "auto").with_env("MEANWHILE_SESSION_GRACE_MS", "300");
    for (dialect, session) in [("zidane", "killed"), ("zidane", "closed")] {
        let command = home.command(["mcp", "--dialect", dialect]).session(session);
        let mut host = Host::of(command.env("MEANWHILE_QUEUE_MAX_RUNNING", "1"));
        let ids = start_three(&home, &mut host, &format!("exec sleep 600 # {session}"));
        match session {
            "killed" => home.slay(host.server.pid()),
            _ => host.server.close(),
        }
        // Nobody looks until the one that ran is dead: whoever frees its slot has to see to the others.
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
fn while_nobody_holds_a_session_its_waiting_tasks_wait_and_a_client_that_comes_back_lets_them_start() {
    let home = home().with_env("MEANWHILE_MODE", "auto").with_env("MEANWHILE_SESSION_GRACE_MS", "600000");
    let command = home.command(["mcp", "--dialect", "zidane"]).session("s");
    let mut first = Host::of(command.env("MEANWHILE_QUEUE_MAX_RUNNING", "1"));
    let ids = start_three(&home, &mut first, &children::gated("go", 0));
    home.slay(first.server.pid());
    home.open("go");
    assert_eq!(home.ended(&ids[0])["status"], "completed");
    let _ = home.mw(["list"]).ok();
    for id in &ids[1..] {
        assert_eq!(home.status(id)["status"], "pending", "nobody wants it now");
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
        home.slay(host.server.pid());
        (id, said)
    };
    let (kept, said) = ending("keep");
    assert!(said.contains("It keeps running"), "{said}");
    let (killed, said) = ending("kill");
    assert!(said.contains("It ends with this session"), "{said}");
    assert_eq!(home.ended(&killed)["status"], "cancelled");
    assert_eq!(home.status(&kept)["status"], "running");
}
