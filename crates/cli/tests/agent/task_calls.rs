//! `mw` inside a confined task of the built-in agent: the agent answers it.

use std::fs;
use std::path::PathBuf;

use mw_testkit::model_endpoint::{Answer, ModelEndpoint};
use mw_testkit::{Home, Need, SOON, skip};
use serde_json::json;

use crate::editor::Editor;
use crate::home;

const MW: &str = env!("CARGO_BIN_EXE_mw");

/// Creates a home whose working directory is a project, on a kernel that confines everything.
fn project(endpoint: &ModelEndpoint) -> Home {
    let home = home(endpoint).needing("python3");
    fs::create_dir(home.work().join(".git")).unwrap();
    let judged = home.command(["policy", "--json", "python3 x.py"]).without("MEANWHILE_MODE").run().json();
    if judged["decision"] != "allow" {
        skip(Need::Confinement, "the kernel offers only a part of it");
    }
    home
}

/// Has the model run a script confined; returns its output.
fn inside(home: &Home, endpoint: &ModelEndpoint, editor: &mut Editor, script: &str) -> String {
    let program = format!("import subprocess\nsubprocess.run(['sh', '-c', {}])\n", json!(script));
    fs::write(home.work().join("inside.py"), program).unwrap();
    endpoint.will(Answer::empty().call("shell", json!({"command": "python3 inside.py"})));
    endpoint.will(Answer::text("Done."));
    let turn = editor.turn("go on");
    turn.results().iter().map(|(_, result)| result.as_str()).collect()
}

#[test]
fn the_built_in_agent_answers_the_tasks_of_its_session_by_its_policy() {
    let endpoint = ModelEndpoint::new();
    let home = project(&endpoint);
    let mut editor = Editor::of(&home, home.command(["acp"]).env("MEANWHILE_APPROVAL_WAIT", "50ms"));
    let script = format!(
        "id=$({MW} start --quiet 'echo from inside; exit 3'); {MW} wait $id; echo waited $?; {MW} output $id; \
         {MW} start 'rm -rf .git'; echo delete $?; {MW} approvals; echo approvals $?; {MW} list"
    );
    let said = inside(&home, &endpoint, &mut editor, &script);
    for part in ["waited 3", "from inside", "delete 3", "approvals 7"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let tasks = home.list();
    let started = tasks.iter().find(|task| task["command"] == "echo from inside; exit 3").unwrap();
    assert_eq!(started["session"], format!("acp:{}", editor.session), "{started}");
    assert!(home.work().join(".git").exists());
    let calls = PathBuf::from(format!("{}.calls", home.state().display()));
    assert_eq!(fs::read_dir(&calls).unwrap().count(), 2, "a socket and its lock");
    editor.host.server.close();
    assert_eq!(editor.host.server.wait(SOON), Some(0));
    assert_eq!(fs::read_dir(&calls).unwrap().count(), 0, "nothing is left");
}
