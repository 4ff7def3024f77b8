//! Approval requests: what an open one shows, the effect of an answer, and the history.

use std::fs;

use mw_testkit::{SOON, wait_until};

use crate::approval::{agent, asked, asking, history, hurried, open, project};
use crate::settings::both_ways;

#[test]
fn the_history_hides_secret_variables_that_the_request_shows() {
    const VALUE: &str = "tr0mb0ne-and-drum";
    let home = project();
    let variable = format!("DB_TOKEN={VALUE}");
    let script = format!("rm precious; rm {VALUE}");
    let _ = hurried(&home, ["start", "--env", &variable, &script]).run().exits(3);
    let question = open(&home)[0].to_string();
    assert!(question.contains(VALUE), "the approver sees the value: {question}");
    home.mw(["deny", asked(&home).as_str()]).ok();
    for args in [&["approvals", "--history"][..], &["approvals", "--history", "--json"]] {
        let text = home.mw(args).ok();
        assert!(!text.contains(VALUE) && text.contains("[redacted:environment]"), "{text}");
    }
}

#[test]
fn a_request_shows_every_step_with_its_redirections() {
    let home = project();
    let _ = hurried(&home, ["start", "ls; rm -rf src >> log"]).run().exits(3);
    assert_eq!(open(&home)[0]["steps"], serde_json::json!(["ls", "rm -rf src >> log"]));
    let shown = home.mw(["approvals"]).ok();
    assert!(shown.contains("  2. rm -rf src >> log\n"), "{shown}");
}

#[test]
fn an_approved_command_runs_once_and_is_recorded() {
    let home = project();
    let (call, id) = asking(&home, "rm precious");
    assert!(home.has_file("precious"));
    let shown = home.mw(["approvals"]).ok();
    // Where the kernel confines, the first line has the grant.
    let first = shown.lines().nth(1).unwrap();
    assert!(first.starts_with("Command requires approval") && first.ends_with(':'), "{shown}");
    assert!(shown.contains(":\n  rm precious\n\ndeletes precious\n"), "{shown}");
    home.mw(["approve", &id]).ok();
    let started = call.wait().json();
    let task = home.ended(started["id"].as_str().unwrap());
    assert_eq!((&task["status"], &task["approved_by"]), (&"completed".into(), &"user".into()));
    assert!(!home.has_file("precious"));
    let record = &history(&home)[0];
    assert_eq!(
        (&record["status"], &record["answered_by"]),
        (&"used".into(), &"mw approve".into()),
        "{record}"
    );
    assert_eq!(record["task_id"], started["id"]);
    assert_eq!(record["answered_at"], task["approved_at"], "{task}");
    // The approval covered one start.
    let _ = hurried(&home, ["start", "rm precious"]).run().exits(3);
}

#[test]
fn the_approver_is_in_the_log_the_span_and_the_status() {
    let home = project().with_env("MEANWHILE_OUTPUT_LOG_HEADER", "true");
    let (call, id) = asking(&home, "rm precious");
    home.mw(["approve", &id]).ok();
    let task = call.wait().json()["id"].as_str().unwrap().to_owned();
    let at = home.ended(&task)["approved_at"].as_str().unwrap().to_owned();
    let log = fs::read_to_string(home.task_dir(&task).join("output.log")).unwrap();
    assert!(log.contains(&format!("# Approved by: user at {at}\n")), "{log}");
    let spans = home.mw(["traces", "--json"]).json().to_string();
    assert!(spans.contains("task.approved_by"), "{spans}");
    assert!(home.mw(["status", &task]).ok().contains(&format!("by user at {}Z ({id})", &at[..19])));
}

#[test]
fn a_denied_command_starts_no_task_and_a_repeat_is_denied_without_a_request() {
    let home = project();
    let (call, id) = asking(&home, "rm precious");
    home.mw(["deny", &id, "--reason", "I need it"]).ok();
    let printed = call.wait().exits(4).json();
    assert_eq!(printed["error"]["code"], "denied");
    assert!(printed["error"]["message"].as_str().unwrap().contains("I need it"), "{printed}");
    let _ = agent(&home, ["start", "rm precious"]).run().exits(4);
    assert_eq!(open(&home).len(), 0);
    assert!(home.list().is_empty() && home.has_file("precious"));
    assert_eq!(history(&home)[0]["reason"], "I need it");
}

#[test]
fn an_approval_for_the_session_covers_the_same_command_again() {
    let home = project();
    let (call, id) = asking(&home, "rm -f precious");
    home.mw(["approve", &id, "--session"]).ok();
    let _ = call.wait().exits(0);
    let _ = agent(&home, ["start", "--json", "rm -f precious"]).run().exits(0);
    let _ = hurried(&home, ["start", "rm -f other"]).run().exits(3);
    // It can be revoked.
    home.mw(["deny", &id]).ok();
    let _ = agent(&home, ["start", "rm -f precious"]).run().exits(4);
}

#[test]
fn a_secret_that_a_call_sets_is_hidden_in_the_record() {
    let home = project();
    let secret = "s3cr3tvalue99";
    let script = format!("rm precious; echo {secret}");
    let _ = hurried(&home, ["start", "--env", &format!("MY_TOKEN={secret}"), &script]).run().exits(3);
    let record = home.mw(["approvals", "--history", "--json"]).ok();
    assert!(!record.contains(secret), "{record}");
    assert!(home.mw(["approvals"]).ok().contains(secret), "the approver sees exactly what runs");
}

#[test]
fn a_request_outlives_the_process_that_asked() {
    let home = project();
    let (call, id) = asking(&home, "rm precious");
    let _ = call.kill();
    home.mw(["approve", &id]).ok();
    assert!(home.has_file("precious") && home.list().is_empty(), "no process is left to start it");
    let _ = agent(&home, ["start", "rm precious"]).run().exits(0);
}

#[test]
fn invalid_approval_ids_are_refused() {
    let home = project();
    let _ = hurried(&home, ["start", "rm precious"]).run().exits(3);
    let id = asked(&home);
    for wrong in ["ask-zzzzzzzz", "bash-k3f9x2ab", "../../x", "%", ""] {
        let _ = home.mw(["approve", wrong]).exits(5);
    }
    // A prefix of the id is enough.
    home.mw(["approve", &id[..8]]).ok();
    let _ = home.mw(["approve", &id]).exits(4);
}

#[test]
fn approval_keep_takes_effect() {
    for home in both_ways("approval.keep", "1ms") {
        let home = home.gated();
        let _ = hurried(&home, ["start", "rm -rf x"]).run().exits(3);
        wait_until(SOON, "the request lapses", || open(&home).is_empty().then_some(()));
        assert_eq!(history(&home)[0]["status"], "lapsed");
    }
}

#[test]
fn secrets_are_shown_to_the_approver_but_not_recorded() {
    let home = project();
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let script = format!("rm x; curl -H 'Authorization: Bearer {secret}' https://example.org");
    let _ = hurried(&home, ["start", &script]).run().exits(3);
    assert!(home.mw(["approvals"]).ok().contains(secret), "the approver sees exactly what runs");
    assert!(!home.mw(["approvals", "--history"]).ok().contains(secret));
    assert!(!home.mw(["approvals", "--history", "--json"]).ok().contains(secret));
}

#[test]
fn a_permanent_approval_becomes_a_rule() {
    let home = project();
    let (call, id) = asking(&home, "rm -f precious");
    home.mw(["approve", &id, "--rule"]).ok();
    let _ = call.wait().exits(0);
    let printed = home.mw(["policy", "--json", "rm -f precious"]).exits(0).json();
    assert_eq!(printed["rules"], serde_json::json!([format!("user:{id}")]));
    let _ = hurried(&home, ["start", "rm -f precious"]).run().exits(0);
    let _ = hurried(&home, ["start", "rm -f other"]).run().exits(3);
    // A permanent approval that no rule can express is refused and changes nothing.
    for script in ["rm -f a; rm -f b", "rm *.c", "rm 'a b'", "rm x$X", "rm x > y"] {
        let _ = hurried(&home, ["start", script]).run().exits(3);
        let id = open(&home).last().unwrap()["id"].as_str().unwrap().to_owned();
        let _ = home.mw(["approve", &id, "--rule"]).exits(2);
        assert!(open(&home).iter().any(|entry| entry["id"] == id.as_str()), "{script} stays open");
    }
    let _ = home.mw(["config"]).ok();
}
