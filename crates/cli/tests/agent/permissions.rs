//! Permission requests: which actions need one, which are refused, and who answers.

use std::fs;

use mw_testkit::model_endpoint::{Answer, ModelEndpoint};
use mw_testkit::{SOON, wait_until};
use serde_json::json;

use crate::editor::Editor;
use crate::home;

fn deletes() -> Answer {
    Answer::empty().call("shell", json!({"command": "rm precious"}))
}

#[test]
fn a_command_that_needs_approval_runs_when_allowed() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    fs::write(home.work().join("precious"), "").unwrap();
    endpoint.will(deletes()).will(Answer::text("gone"));
    let mut editor = Editor::new(&home);
    let id = editor.begin("delete it");
    let question = editor.permit("allow");
    let options = question["options"].as_array().unwrap();
    let kinds: Vec<_> = options.iter().map(|option| option["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["allow_once", "reject_once"]);
    assert_eq!(question["toolCall"]["title"], "rm precious");
    assert!(question["toolCall"]["content"].to_string().contains("deletes"), "{question}");
    let turn = editor.end(id);
    assert_eq!(turn.said(), "gone");
    assert_eq!(question["toolCall"]["toolCallId"], turn.of("tool_call")[0]["toolCallId"]);
    assert!(!home.work().join("precious").exists());
}

#[test]
fn a_rejected_command_does_not_run_and_the_model_gets_the_reason() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    fs::write(home.work().join("precious"), "").unwrap();
    endpoint.will(deletes()).will(Answer::text("then not"));
    let mut editor = Editor::new(&home);
    let id = editor.begin("delete it");
    editor.permit("reject");
    let turn = editor.end(id);
    assert_eq!((turn.reason(), turn.results()[0].0.as_str()), ("end_turn", "failed"));
    assert!(endpoint.request(1).says("denied by a person"));
    assert!(home.work().join("precious").exists());
}

#[test]
fn a_client_that_cannot_answer_a_permission_request_approves_nothing() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).with_env("MEANWHILE_APPROVAL_WAIT", "0");
    fs::write(home.work().join("precious"), "").unwrap();
    endpoint.will(deletes()).will(deletes()).will(Answer::text("then not"));
    let mut editor = Editor::new(&home);
    let id = editor.begin("delete it");
    let request = editor.asked("session/request_permission");
    let error = json!({"code": -32601, "message": "Method not found"});
    editor.host.send(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}));
    editor.permit("an option nobody offered");
    let turn = editor.end(id);
    assert_eq!(turn.said(), "then not");
    assert!(endpoint.request(1).says("approval required"), "{}", endpoint.request(1).body);
    assert!(endpoint.request(2).says("denied by a person"), "{}", endpoint.request(2).body);
    assert!(home.work().join("precious").exists());
}

#[test]
fn modes_are_offered_and_change_which_commands_need_approval() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    fs::write(home.work().join("precious"), "").unwrap();
    let mut editor = Editor::greeting(home.command(["acp", "--mode", "auto"]), &json!({}));
    let opened = editor.ask("session/new", &json!({"cwd": home.work(), "mcpServers": []}))["result"].clone();
    editor.session = opened["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(opened["modes"]["currentModeId"], "auto");
    let ids: Vec<_> =
        opened["modes"]["availableModes"].as_array().unwrap().iter().map(|mode| &mode["id"]).collect();
    assert_eq!(json!(ids), json!(["ci", "plan", "safe", "auto", "dangerous"]));
    let choose = |editor: &mut Editor, mode: &str| {
        editor.ask("session/set_mode", &json!({"sessionId": editor.session.clone(), "modeId": mode}))
    };
    assert!(choose(&mut editor, "plan").get("result").is_some());
    endpoint.will(
        Answer::empty()
            .call("shell", json!({"command": "ls"}))
            .call("read_file", json!({"path": "precious"})),
    );
    endpoint.will(Answer::text("planned"));
    let turn = editor.turn("look");
    let states: Vec<_> = turn.results().into_iter().map(|(status, _)| status).collect();
    assert_eq!(states, ["failed", "completed"]);
    assert!(endpoint.request(1).says("not allowed in mode plan"));
    choose(&mut editor, "dangerous");
    endpoint.will(deletes()).will(Answer::text("gone"));
    assert_eq!(editor.turn("delete it").said(), "gone");
    assert!(!home.work().join("precious").exists());
    assert_eq!(choose(&mut editor, "reckless")["error"]["code"], -32602);
}

#[test]
fn a_project_file_makes_the_policy_of_its_directory_stricter() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    let project = home.work().join("strict");
    fs::create_dir(&project).unwrap();
    fs::write(project.join(".meanwhile.toml"), "mode = \"plan\"\n").unwrap();
    let mut editor = Editor::greeting(home.command(["acp"]), &json!({}));
    let opened = editor.ask("session/new", &json!({"cwd": project, "mcpServers": []}))["result"].clone();
    assert_eq!(opened["modes"]["currentModeId"], "plan");
    fs::write(project.join(".meanwhile.toml"), "mode = nonsense\n").unwrap();
    let refused = editor.ask("session/new", &json!({"cwd": project, "mcpServers": []}));
    assert!(refused["error"]["message"].as_str().unwrap().contains(".meanwhile.toml"), "{refused}");
}

#[test]
fn reading_a_secret_file_and_writing_a_hook_need_approval() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    fs::write(home.work().join(".env"), "PASSWORD=x").unwrap();
    let hook = json!({"path": ".git/hooks/pre-commit", "content": "evil"});
    endpoint.will(Answer::empty().call("read_file", json!({"path": ".env"})).call("write_file", hook));
    endpoint.will(Answer::text("fine"));
    let mut editor = Editor::new(&home);
    let id = editor.begin("look around");
    editor.permit("reject");
    editor.permit("reject");
    assert_eq!(editor.end(id).said(), "fine");
    assert!(!endpoint.request(1).says("PASSWORD"));
    assert!(!home.work().join(".git").exists());
}

#[test]
fn a_permission_request_can_be_answered_from_a_terminal() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    fs::write(home.work().join("precious"), "").unwrap();
    endpoint.will(deletes()).will(Answer::text("gone"));
    let mut editor = Editor::new(&home);
    let id = editor.begin("delete it");
    editor.asked("session/request_permission");
    let open = home.mw(["approvals", "--json"]).json();
    let proposal = open["approvals"][0]["id"].as_str().unwrap_or_else(|| panic!("{open}")).to_owned();
    home.mw(["approve", &proposal]).ok();
    assert_eq!(editor.end(id).said(), "gone");
    assert!(!home.work().join("precious").exists());
}

/// Neither variables of its environment nor a mode request change the policy.
#[test]
fn an_agent_inside_a_task_has_the_policy_of_the_enclosing_session() {
    let endpoint = ModelEndpoint::new();
    // In a confined task there would be no agent.
    let home = home(&endpoint).with_env("MEANWHILE_LACKS", "landlock");
    let other = home.command(["start", "--json", "exit 3"]).session("other").run().json();
    let other = other["id"].as_str().unwrap().to_owned();
    let _ = home.ended(&other);
    let mw = env!("CARGO_BIN_EXE_mw");
    let script = "exec env -u MEANWHILE_TASK_ID -u MEANWHILE_TASK_SESSION MEANWHILE_SESSION=other MEANWHILE_MODE=dangerous";
    let script = format!("{script} {mw} acp");
    let host = home.command(["session", "run", "hosted", "--", mw, "run", &script]);
    let mut editor = std::thread::scope(|scope| {
        // The command needs approval.
        scope.spawn(|| {
            let open =
                || home.mw(["approvals", "--json"]).json()["approvals"][0]["id"].as_str().map(str::to_owned);
            let id = wait_until(SOON, "the approval request", open);
            home.mw(["approve", &id]).ok();
        });
        Editor::of(&home, host)
    });
    endpoint.will(Answer::empty().call("task_list", json!({})));
    endpoint.will(Answer::empty().call("shell", json!({"command": "rm precious"})));
    endpoint.will(Answer::text("done"));
    fs::write(home.work().join("precious"), "x").unwrap();
    let refused =
        editor.ask("session/set_mode", &json!({"sessionId": editor.session, "modeId": "dangerous"}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("cannot set mode dangerous"), "{refused}");
    let turn = editor.begin("go");
    let _ = editor.permit("reject");
    let _ = editor.end(turn);
    let listed = endpoint.request(1).body["messages"].to_string();
    assert!(!listed.contains(&other), "{listed}");
    assert!(home.has_file("precious"));
}
