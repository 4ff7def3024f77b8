//! Undelivered notifications are in the next turn or the next tool reply, exactly once.

use mw_testkit::model_endpoint::{Answer, ModelEndpoint, ModelRequest};
use mw_testkit::{Home, SOON, children, wait_until};
use rustix::process::Signal;
use serde_json::json;

use crate::editor::Editor;
use crate::home;

fn notification_count(request: &ModelRequest) -> usize {
    request.body["messages"].to_string().matches("<task-id>").count()
}

fn all_ended(home: &Home) {
    wait_until(SOON, "the task has ended", || {
        let list = home.mw(["list", "--json"]).json();
        let tasks = list["tasks"].as_array()?.clone();
        (!tasks.is_empty() && tasks.iter().all(|task| task["status"] == "completed")).then_some(())
    });
}

/// Starts a background task that waits for a gate, in a first turn.
fn started(endpoint: &ModelEndpoint, home: &Home) -> Editor {
    let call = json!({"command": children::gate("open"), "run_in_background": true});
    endpoint.will(Answer::empty().call("shell", call)).will(Answer::text("started"));
    let mut editor = Editor::of(home, home.command(["acp", "--mode", "dangerous"]));
    assert_eq!(editor.turn("start it").said(), "started");
    editor
}

#[test]
fn the_next_turn_begins_with_an_end_notification_once() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let mut editor = started(&endpoint, &home);
    home.open("open");
    all_ended(&home);
    endpoint.will(Answer::text("I know")).will(Answer::text("nothing new"));
    let turn = editor.turn("and now?");
    let shown = turn.of("user_message_chunk")[0]["content"]["text"].as_str().unwrap().to_owned();
    assert!(shown.starts_with("<task-notification>"), "{shown}");
    let asked = endpoint.request(2);
    assert_eq!(notification_count(&asked), 1);
    // The notification precedes the user's text in the same message.
    let last = asked.last_text();
    assert!(last.find("<task-notification>").unwrap() < last.find("and now?").unwrap(), "{last}");
    editor.turn("anything else?");
    assert_eq!(notification_count(&endpoint.request(3)), 1);
    assert!(home.command(["notices"]).session(&format!("acp:{}", editor.session)).run().ok().is_empty());
}

/// The task ends before the result of its start is sent.
#[test]
fn the_reply_to_a_start_precedes_the_end_notification() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let mut editor = Editor::of(&home, home.command(["acp", "--mode", "dangerous"]));
    wait_until(SOON, "the result of a start contains the end notification", || {
        let asked = endpoint.requests().len();
        let call = json!({"command": "true", "run_in_background": true});
        endpoint.will(Answer::empty().call("shell", call)).will(Answer::text("started"));
        editor.turn("start it");
        let result = endpoint.request(asked + 1).last_text();
        let (before, after) = result.split_once("Started bash-").unwrap();
        let id = after.split_whitespace().next().unwrap();
        assert!(!before.contains(id), "the end notification comes first: {result}");
        let has_ended = after.contains("<task-notification>");
        assert_eq!(after.contains("It has already ended"), has_ended, "{result}");
        assert_eq!(after.contains("You get a notification"), !has_ended, "{result}");
        has_ended.then_some(())
    });
}

/// Z-117: after a partial read the end is still notified.
#[test]
fn no_end_notification_after_the_log_was_read_to_its_end() {
    for (limit, notices) in [(99, 0), (1, 1)] {
        let endpoint = ModelEndpoint::new();
        let home = home(&endpoint);
        let call = json!({"command": format!("echo one; echo two; {}", children::gate("open")), "run_in_background": true});
        endpoint.will(Answer::empty().call("shell", call)).will(Answer::text("started"));
        let mut editor = Editor::of(&home, home.command(["acp", "--mode", "dangerous"]));
        editor.turn("start it");
        let log = home.mw(["list", "--all", "--json"]).json()["tasks"][0]["output_path"].clone();
        endpoint
            .will(Answer::text("I look.").hold().call("read_file", json!({"path": log, "limit": limit})))
            .will(Answer::text("seen"))
            .will(Answer::text("nothing new"));
        let id = editor.begin("how is it?");
        editor.update("agent_message_chunk");
        home.open("open");
        all_ended(&home);
        endpoint.release();
        let turn = editor.end(id);
        assert!(turn.results()[0].1.contains("one"), "{:?}", turn.results());
        assert_eq!(notification_count(&endpoint.request(3)), notices, "limit {limit}");
        editor.turn("anything else?");
        assert_eq!(notification_count(&endpoint.request(4)), notices, "limit {limit}");
    }
}

#[test]
fn an_end_during_a_turn_is_notified_with_the_next_tool_reply() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let mut editor = started(&endpoint, &home);
    endpoint
        .will(Answer::text("I read.").hold().call("glob", json!({"pattern": "*"})))
        .will(Answer::text("oh"));
    let id = editor.begin("go on");
    editor.update("agent_message_chunk");
    home.open("open");
    all_ended(&home);
    endpoint.release();
    assert_eq!(editor.end(id).reason(), "end_turn");
    let result = endpoint.request(3).messages().pop().unwrap();
    assert!(result["content"].as_str().unwrap().starts_with("<task-notification>"), "{result}");
    assert_eq!(notification_count(&endpoint.request(3)), 1);
}

#[test]
fn an_end_notification_is_delivered_once_despite_a_kill_of_the_agent() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let mut editor = started(&endpoint, &home);
    home.open("open");
    all_ended(&home);
    // The agent is killed after the model has received the notification.
    endpoint.will(Answer::text("I know").hold());
    editor.begin("and now?");
    assert_eq!(notification_count(&endpoint.request(2)), 1);
    editor.host.server.signal(Signal::KILL);
    let session = editor.session.clone();
    editor.host.server.wait(SOON);
    let mut editor = Editor::greeting(home.command(["acp"]), &json!({}));
    editor.load(&home, &session);
    endpoint.will(Answer::text("as I said"));
    editor.turn("well?");
    assert_eq!(notification_count(&endpoint.request(3)), 1);
}

#[test]
fn an_end_reported_by_a_reply_is_not_notified_again() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.will(Answer::empty().call("shell", json!({"command": "echo short"}))).will(Answer::text("done"));
    endpoint.will(Answer::text("nothing"));
    let mut editor = Editor::new(&home);
    editor.turn("run it");
    editor.turn("anything new?");
    assert_eq!(notification_count(&endpoint.request(2)), 0);
}
