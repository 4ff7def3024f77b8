//! A conversation uses one id for a task: that of the dialect that started it.

use mw_testkit::host::{Host, text};
use mw_testkit::{Home, SOON, need_program, wait_until};
use serde_json::{Value, json};

use crate::home;

fn host(home: &Home, dialect: &str, session: &str) -> Host {
    Host::of(home.command(["mcp", "--dialect", dialect]).session(session))
}

/// Returns the undelivered notifications of a session without delivering them.
fn notices(home: &Home, session: &str, count: usize) -> Vec<Value> {
    wait_until(SOON, "the notifications are recorded", || {
        let found = home.mw(["notices", "--json", "--peek", "--session", session]).json();
        found["notices"].as_array().filter(|notices| notices.len() >= count).cloned()
    })
}

#[test]
fn start_reply_and_end_notification_use_the_same_id() {
    need_program("bash");
    let home = home().with_env("MEANWHILE_MODE", "auto");
    for (dialect, tool, field, word) in [
        ("canonical", "shell", "task_id", "failed"),
        ("zidane", "shell", "task_id", "exited"),
        ("mycode", "Bash", "task_id", "error"),
        ("opta", "bg_start", "id", "failed"),
        ("co-cli", "start_background_task", "task_id", "failed"),
    ] {
        let mut host = host(&home, dialect, dialect);
        let gate = home.work().join(dialect);
        let command = format!("sh -c 'while [ ! -e {} ]; do sleep 0.02; done; exit 3'", gate.display());
        let given = json!({"command": command, "description": "x", "run_in_background": true});
        let started = host.call(tool, &given);
        home.open(dialect);
        let name = started["structuredContent"][field].as_str().unwrap_or_else(|| panic!("{started}"));
        let notice = &notices(&home, dialect, 1)[0];
        assert_eq!(
            (&notice["handle"], &notice["status"]),
            (&name.into(), &word.into()),
            "{dialect}: {notice}"
        );
        if let Some(path) = started["structuredContent"]["output_path"].as_str() {
            assert_eq!(notice["output_path"], path, "{dialect}");
        }
    }
}

/// C-014: files that a task left next to its log are mentioned.
#[test]
fn a_notification_names_a_report_beside_the_log() {
    let home = home();
    let mut host = host(&home, "co-cli", "s");
    let wait = "while [ ! -e go ]; do sleep 0.02; done";
    let command =
        format!("sh -c '{wait}; echo TODO > \"$MEANWHILE_HOME/tasks/$MEANWHILE_TASK_ID/report.md\"'");
    let started = host.call("start_background_task", &json!({"command": command, "description": "Research"}));
    home.open("go");
    let name = started["structuredContent"]["task_id"].as_str().unwrap_or_else(|| panic!("{started}"));
    let found = notices(&home, "s", 1);
    let report = found[0]["report"].as_str().unwrap_or_else(|| panic!("{found:?}"));
    assert!(report.ends_with(&format!("/tasks/{name}/report.md")), "{report}");
    assert_eq!(std::fs::read_to_string(report).unwrap(), "TODO\n");
    let block = home.mw(["notices", "--session", "s"]).ok();
    assert!(block.contains(&format!(". Report at {report}")), "{block}");
}

#[test]
fn a_notification_shows_a_given_name_beside_the_id() {
    let home = home();
    let words = ["start", "--json", "--name", "build", "true"];
    let started = home.command(words).session("s").run().json();
    let id = started["id"].as_str().unwrap();
    let _ = notices(&home, "s", 1);
    let block = home.mw(["notices", "--session", "s"]).ok();
    assert!(block.contains(&format!("<task-id>{id}</task-id>\n<name>build</name>\n")), "{block}");
}

#[test]
fn zidane_counts_the_background_tasks_of_a_server_from_one() {
    let home = home();
    let mut first = host(&home, "zidane", "s");
    let start = |host: &mut Host| {
        let reply = host.call("shell", &json!({"command": "sleep 600", "run_in_background": true}));
        let data = &reply["structuredContent"];
        (data["task_id"].as_str().unwrap().to_owned(), data["output_path"].as_str().unwrap().to_owned())
    };
    let _ = first.call("shell", &json!({"command": "true"}));
    let (one, log) = start(&mut first);
    let _ = first.call("shell", &json!({"command": "true"}));
    let (two, _) = start(&mut first);
    assert_eq!([one.as_str(), &two], ["bash_1", "bash_2"]);
    // Another context of the same session.
    let mut second = host(&home, "zidane", "s");
    let (other, other_log) = start(&mut second);
    assert_eq!(other, "bash_1");
    assert_ne!(log, other_log);
    let killed = text(&second.call("shell_kill", &json!({"task_id": "bash_1"})));
    assert!(killed.contains(&other_log), "{killed}");
    assert_eq!(home.list().iter().filter(|task| task["status"] == "running").count(), 2);
    let unknown = second.call("shell_kill", &json!({"task_id": "bash_2"}));
    assert_eq!(unknown["isError"], true, "{unknown}");
    let killed = text(&first.call("shell_kill", &json!({"task_id": "bash_1"})));
    assert!(killed.contains(&log) && killed.contains("exited 143"), "{killed}");
}

#[test]
fn a_zidane_notification_has_the_signal_code_and_the_survivors() {
    let home = home();
    let mut host = host(&home, "zidane", "s");
    for script in ["kill -SEGV $$", "setsid sleep 600 > /dev/null 2>&1 & exit 0"] {
        let script = format!("while [ ! -e go ]; do sleep 0.02; done; {script}");
        let _ = host.call("shell", &json!({"command": script, "run_in_background": true}));
    }
    home.open("go");
    let found = notices(&home, "s", 2);
    let of = |handle: &str| found.iter().find(|notice| notice["handle"] == handle).unwrap().clone();
    assert_eq!((&of("bash_1")["exit_code"], &of("bash_1")["status"]), (&139.into(), &"exited".into()));
    let left = of("bash_2");
    assert!(left["summary"].as_str().unwrap().contains("1 process that it started still runs"), "{left}");
    let killed = text(&host.call("shell_kill", &json!({"task_id": "bash_2"})));
    assert!(killed.contains("bash_2 had already exited (0); 1 process left behind was killed."), "{killed}");
}

/// O-026: two servers of one session, which is the default in a project, have separate cursors.
#[test]
fn servers_have_separate_output_cursors() {
    let home = home().with_env("MEANWHILE_MODE", "auto");
    let (mut one, mut two) = (host(&home, "opta", "s"), host(&home, "opta", "s"));
    let started = one.call("bg_start", &json!({"command": "echo line1; echo line2"}));
    let id = started["structuredContent"]["id"].clone();
    home.ended(id.as_str().unwrap());
    for host in [&mut one, &mut two] {
        let read = host.call("bg_output", &json!({"id": id}));
        assert!(text(&read).ends_with("[stdout]\nline1\nline2\n[stderr]\n"), "{read}");
        let again = host.call("bg_output", &json!({"id": id}));
        assert!(text(&again).ends_with("[stdout]\n[stderr]\n"), "{again}");
    }
}
