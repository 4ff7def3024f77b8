//! The example of an agent loop with its own tools.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use mw_testkit::{Conversation, Home, SOON, beside, children};

use crate::world::SESSION;

/// Calls a tool and returns the line with its reply.
fn call(model: &mut Conversation, line: &str) -> String {
    model.say(format!("{line}\n").as_bytes()).unwrap();
    model.read_line(SOON).unwrap()
}

#[test]
fn an_agent_loop_can_add_its_own_tool() {
    let home = Home::new(beside("mw"));
    let script = home.work().join("verify.sh");
    fs::write(&script, format!("#!/bin/sh\n{}\n", children::gated("go", 3))).unwrap();
    fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let mut model = home.program(beside("examples/tool_set")).arg(SESSION).converse();
    let started = call(&mut model, "verify");
    let id = home.list()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(started, format!("The checks run as {id}."));
    assert_eq!(call(&mut model, "verify"), started);
    assert_eq!(call(&mut model, "task_clear"), "There is no tool task_clear.");
    let said = call(&mut model, r#"bash {"command": "touch go; echo opened"}"#);
    assert!(said.contains("opened"), "{said}");
    assert_eq!(home.ended(&id)["exit_code"], 3);
    // The next reply follows the notification, once.
    model.say(b"task_nothing\n").unwrap();
    let mut heard = Vec::new();
    while heard.last().is_none_or(|line| line != "There is no tool task_nothing.") {
        heard.push(model.read_line(SOON).unwrap());
    }
    assert_eq!(heard.iter().filter(|line| line.contains(&format!("<task-id>{id}"))).count(), 1, "{heard:?}");
    assert_eq!(call(&mut model, "task_nothing"), "There is no tool task_nothing.");
    model.close();
    assert_eq!(model.wait(SOON), Some(0), "{}", model.stderr_text());
}
