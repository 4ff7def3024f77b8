//! What becomes of tasks when their client is gone: with `session.end = kill` they end, unless a client comes back.

use mw_testkit::Home;
use mw_testkit::host::{Host, text};
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
    assert!(said.contains("It goes on when this session ends."), "{said}");
    let mut zidane = host(&home, "zidane", "zidane");
    let (killed, said) = start(&home, &mut zidane, "shell");
    assert!(said.contains("It ends when this session does."), "{said}");
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
            assert_eq!(said.contains("Tasks end when this session does."), ends, "{dialect}: {said}");
            assert_eq!(said.contains("Tasks survive you and this server."), !ends, "{dialect}: {said}");
            host.server.close();
        }
    }
}

#[test]
fn the_reply_to_a_start_says_what_the_end_of_the_session_does_where_its_words_are_prescribed() {
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
fn session_end_takes_effect() {
    let home = home().with_env("MEANWHILE_SESSION_GRACE_MS", "300");
    let ending = |how: &str| {
        let mut host = Host::of(home.command(["mcp"]).session(how).env("MEANWHILE_SESSION_END", how));
        let (id, said) = start(&home, &mut host, "shell");
        home.slay(host.server.pid());
        (id, said)
    };
    let (kept, said) = ending("keep");
    assert!(said.contains("It goes on"), "{said}");
    let (killed, said) = ending("kill");
    assert!(said.contains("It ends when"), "{said}");
    assert_eq!(home.ended(&killed)["status"], "cancelled");
    assert_eq!(home.status(&kept)["status"], "running");
}
