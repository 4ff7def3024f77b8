//! Sessions that outlive their agent.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use mw_testkit::model_endpoint::{Answer, ModelEndpoint};
use mw_testkit::{Home, SOON, wait_until};
use rustix::process::Signal;
use serde_json::json;

use crate::editor::Editor;
use crate::home;

fn file(home: &Home, session: &str) -> PathBuf {
    home.state().join("agent-sessions").join(session).join("transcript.jsonl")
}

#[test]
fn another_process_loads_a_session_and_replays_it() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.will(
        Answer::empty().thought("hm").and_text("I look.").call("shell", json!({"command": "echo out"})),
    );
    endpoint.will(Answer::text("Done."));
    let mut editor = Editor::new(&home);
    let original = editor.turn("first wish");
    let session = editor.session.clone();
    drop(editor);
    endpoint.will(Answer::text("I remember."));
    let mut editor = Editor::greeting(home.command(["acp"]), &json!({}));
    let shown = editor.load(&home, &session);
    assert!(shown.answer["result"]["modes"]["currentModeId"] == "safe", "{}", shown.answer);
    assert_eq!(shown.of("user_message_chunk")[0]["content"]["text"], "first wish");
    assert_eq!((shown.said(), shown.thought()), ("I look.Done.".to_owned(), "hm".to_owned()));
    assert_eq!(shown.results(), original.results());
    assert_eq!(shown.of("tool_call")[0]["toolCallId"], original.of("tool_call")[0]["toolCallId"]);
    assert_eq!(editor.turn("second wish").said(), "I remember.");
    let asked = endpoint.request(2);
    for words in ["first wish", "I look.", "out", "Done.", "second wish"] {
        assert!(asked.says(words), "{words}: {}", asked.body);
    }
}

#[test]
fn an_incomplete_last_line_is_dropped_and_reported() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.will(Answer::text("one")).will(Answer::text("two"));
    let mut editor = Editor::new(&home);
    editor.turn("first");
    let session = editor.session.clone();
    drop(editor);
    OpenOptions::new().append(true).open(file(&home, &session)).unwrap().write_all(b"{\"v\":1,\"ty").unwrap();
    let mut editor = Editor::greeting(home.command(["acp"]), &json!({}));
    let shown = editor.load(&home, &session);
    assert_eq!(shown.answer["result"]["_meta"]["meanwhile"]["dropped_bytes"], 10);
    editor.until_stderr("10 bytes were dropped");
    assert_eq!(editor.turn("second").said(), "two");
    let lines = fs::read_to_string(file(&home, &session)).unwrap();
    assert!(lines.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{lines}");
}

#[test]
fn a_session_that_is_in_use_unknown_or_of_a_newer_version_is_refused() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let mut editor = Editor::new(&home);
    let mut other = Editor::new(&home);
    let (session, free) = (editor.session.clone(), other.session.clone());
    assert!(other.load(&home, &session).error().contains("in use by another process"));
    assert!(other.load(&home, "feedbeef").error().contains("no session"));
    drop(other);
    fs::write(file(&home, &free), "{\"v\":9}\n").unwrap();
    let refused = editor.load(&home, &free);
    assert!(
        refused.error().contains("version 9") && refused.error().contains("line 1"),
        "{}",
        refused.error()
    );
}

#[test]
fn a_call_interrupted_by_a_kill_gets_a_result_on_load() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.will(Answer::empty().call("shell", json!({"command": "touch began; sleep 600"})));
    endpoint.will(Answer::text("I see."));
    let mut editor = Editor::of(&home, home.command(["acp", "--mode", "dangerous"]));
    editor.begin("go");
    wait_until(SOON, "the command runs", || home.work().join("began").exists().then_some(()));
    editor.host.server.signal(Signal::KILL);
    let session = editor.session.clone();
    editor.host.server.wait(SOON);
    let mut editor = Editor::greeting(home.command(["acp"]), &json!({}));
    let shown = editor.load(&home, &session);
    assert!(shown.results()[0].1.contains("may have taken effect"), "{:?}", shown.results());
    assert_eq!(editor.turn("what now?").said(), "I see.");
    assert!(endpoint.request(1).says("may have taken effect"));
    // Its task continues and still belongs to the session.
    endpoint.will(Answer::empty().call("task_list", json!({}))).will(Answer::text("there"));
    let turn = editor.turn("is it there?");
    assert!(turn.results()[0].1.contains("running"), "{:?}", turn.results());
}

#[test]
fn session_files_are_accessible_to_the_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let editor = Editor::new(&home);
    let file = file(&home, &editor.session);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
}
