//! The file tools.

use std::fs;
use std::os::unix::fs::symlink;

use mw_testkit::model_endpoint::{Answer, ModelEndpoint};
use serde_json::json;

use crate::editor::Editor;
use crate::home;

#[test]
fn files_can_be_written_edited_searched_and_read() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    endpoint.will(
        Answer::empty().call("write_file", json!({"path": "src/a.rs", "content": "one\ntwo\nthree\n"})),
    );
    let edit = json!({"path": "src/a.rs", "old_string": "two", "new_string": "2"});
    endpoint.will(Answer::empty().call("edit_file", edit.clone()).call("edit_file", edit));
    endpoint.will(
        Answer::empty()
            .call("glob", json!({"pattern": "*.rs"}))
            .call("grep", json!({"pattern": "^t", "path": "src"}))
            .call("read_file", json!({"path": "src/a.rs", "offset": 2, "limit": 1})),
    );
    endpoint.will(Answer::text("done"));
    let mut editor = Editor::new(&home);
    let turn = editor.turn("work");
    assert_eq!(turn.said(), "done");
    assert_eq!(fs::read_to_string(home.work().join("src/a.rs")).unwrap(), "one\n2\nthree\n");
    let updates = turn.of("tool_call_update");
    let updates: Vec<_> = updates.iter().filter(|update| update["status"] == "completed").collect();
    assert_eq!(updates[0]["content"][0]["newText"], "one\ntwo\nthree\n");
    assert_eq!(updates[1]["content"][0]["oldText"], "one\ntwo\nthree\n");
    let results = turn.results();
    assert!(results[2].1.contains("old_string was not found"), "{results:?}");
    assert_eq!(results[3].1, "src/a.rs");
    assert_eq!(results[4].1, "a.rs:3:three");
    assert_eq!(results[5].1, "2\n[lines 2 to 2 of 3; continue with offset 3]");
    let place = home.work().canonicalize().unwrap().join("src/a.rs");
    assert_eq!(turn.of("tool_call")[0]["locations"][0]["path"], json!(place));
}

#[test]
fn files_outside_the_project_are_refused() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let secret = home.user().join("secret");
    fs::write(&secret, "do not show").unwrap();
    symlink(&secret, home.work().join("link")).unwrap();
    symlink(home.user(), home.work().join("up")).unwrap();
    let mut answer = Answer::empty();
    for path in ["../user/secret", "link", "up/secret", "/etc/passwd"] {
        answer = answer.call("read_file", json!({"path": path}));
        answer = answer.call("write_file", json!({"path": path, "content": "changed"}));
    }
    endpoint.will(answer.call("grep", json!({"pattern": "show"}))).will(Answer::text("no way"));
    let mut editor = Editor::of(&home, home.command(["acp", "--mode", "dangerous"]));
    let turn = editor.turn("break out");
    let (last, tries) =
        turn.results().split_last().map(|(last, tries)| (last.clone(), tries.to_vec())).unwrap();
    assert_eq!(tries.len(), 8);
    for (status, text) in tries {
        assert!(status == "failed" && text.contains("outside the project"), "{text}");
    }
    assert!(last.1.starts_with("[no match for"), "{last:?}");
    assert_eq!(fs::read_to_string(secret).unwrap(), "do not show");
}

#[test]
fn files_are_read_and_written_through_a_client_that_offers_it() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    fs::write(home.work().join("open.txt"), "old on disk").unwrap();
    let edit = json!({"path": "open.txt", "old_string": "unsaved", "new_string": "new"});
    endpoint.will(Answer::empty().call("edit_file", edit)).will(Answer::text("done"));
    let abilities = json!({"fs": {"readTextFile": true, "writeTextFile": true}});
    let mut editor = Editor::with(&home, home.command(["acp"]), &abilities);
    let id = editor.begin("edit");
    let read = editor.asked("fs/read_text_file");
    assert!(read["params"]["path"].as_str().unwrap().ends_with("/work/open.txt"));
    editor.answer(&read, &json!({"content": "unsaved in the editor"}));
    let write = editor.asked("fs/write_text_file");
    assert_eq!(write["params"]["content"], "new in the editor");
    editor.answer(&write, &json!({}));
    assert_eq!(editor.end(id).said(), "done");
    assert_eq!(fs::read_to_string(home.work().join("open.txt")).unwrap(), "old on disk");
}

#[test]
fn a_read_error_of_the_client_is_passed_to_the_model() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    fs::write(home.work().join("a"), "x").unwrap();
    endpoint.will(Answer::empty().call("read_file", json!({"path": "a"}))).will(Answer::text("hm"));
    let mut editor = Editor::with(&home, home.command(["acp"]), &json!({"fs": {"readTextFile": true}}));
    let id = editor.begin("read");
    let read = editor.asked("fs/read_text_file");
    let error = json!({"code": -32000, "message": "the buffer is locked"});
    editor.host.send(&json!({"jsonrpc": "2.0", "id": read["id"], "error": error}));
    editor.end(id);
    assert!(endpoint.request(1).says("the buffer is locked"));
}

/// Z-028: the log of a task is outside the project; only its session may read it.
#[test]
fn only_logs_of_the_same_session_can_be_read() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let foreign = home.start("echo not yours");
    home.ended(&foreign);
    let call = json!({"command": "seq 1 5; echo token=$SOME_TOKEN", "run_in_background": true, "env": {"SOME_TOKEN": "s3cr3t-w0rd"}});
    endpoint.will(Answer::empty().call("shell", call)).will(Answer::text("started"));
    let mut editor = Editor::of(&home, home.command(["acp", "--mode", "safe"]));
    editor.turn("start it");
    let list = home.mw(["list", "--all", "--json"]).json();
    let tasks = list["tasks"].as_array().unwrap().clone();
    let own =
        tasks.iter().find(|task| task["id"] != foreign.as_str()).unwrap()["id"].as_str().unwrap().to_owned();
    home.ended(&own);
    let (directory, other) = (home.task_dir(&own), home.task_dir(&foreign));
    symlink(other.join("output.log"), home.work().join("link")).unwrap();
    let read = |path: std::path::PathBuf| json!({"path": path});
    let log = directory.join("output.log");
    let mut part = read(log.clone());
    part["offset"] = 2.into();
    part["limit"] = 1.into();
    endpoint.will(
        Answer::empty()
            .call("read_file", part)
            .call("read_file", read(directory.join("result.json")))
            .call("read_file", read(directory.join("spec.json")))
            .call("read_file", read(other.join("output.log")))
            .call("read_file", read("link".into()))
            .call("read_file", read(directory.join("../../meanwhile.db")))
            .call("read_file", read(directory.clone()))
            .call("grep", json!({"pattern": "1", "path": log}))
            .call("write_file", json!({"path": log, "content": "forged"})),
    );
    endpoint.will(Answer::text("read"));
    let results = editor.turn("read it").results();
    assert_eq!(
        results[0],
        ("completed".to_owned(), "2\n[lines 2 to 2 of 6; continue with offset 3]".to_owned())
    );
    assert!(results[1].0 == "completed" && results[1].1.contains("exit_code"), "{results:?}");
    for (status, text) in &results[2..] {
        assert_eq!(status, "failed", "{text}");
    }
    assert!(results[3].1.contains("outside the project"), "{results:?}");
    endpoint.will(Answer::empty().call("read_file", read(log))).will(Answer::text("whole"));
    let whole = editor.turn("all of it").results().pop().unwrap().1;
    assert!(whole.starts_with("1\n2\n3\n4\n5\ntoken=") && !whole.contains("s3cr3t"), "{whole}");
}
