//! Confined commands as a model and its user see them: the question with the grant, the refusal, and the retry.

use std::fs;

use mw_testkit::host::{Host, text};
use mw_testkit::{Home, Need, directory_outside, skip};
use serde_json::json;

/// Creates a home whose working directory is a project, with the default settings, on a kernel that confines everything.
pub(crate) fn project() -> Home {
    let home = crate::home().gated().needing("python3");
    fs::create_dir(home.work().join(".git")).unwrap();
    let probe = home.mw(["policy", "--json", "python3 x.py"]).json();
    if probe["decision"] != "allow" {
        skip(Need::Confinement, "the kernel offers only a part of it");
    }
    home
}

fn host(home: &Home) -> Host {
    let mut host = Host::silent(home.command(["mcp"]).session("host"));
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let id = host.ask("initialize", &hello);
    let _ = host.answer(id);
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    host
}

/// Calls the shell; every question is accepted. Returns the reply and the questions.
fn call(host: &mut Host, command: &str) -> (String, Vec<String>) {
    let call = host.begin("shell", &json!({"command": command}));
    let mut questions = Vec::new();
    loop {
        let message = host.until("an answer or a question", |message| {
            message["id"] == call || message["method"] == "elicitation/create"
        });
        if message["method"] != "elicitation/create" {
            return (text(&message["result"]), questions);
        }
        questions.push(message["params"]["message"].as_str().unwrap().to_owned());
        let accepted = json!({"action": "accept", "content": {}});
        host.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": accepted}));
    }
}

/// Returns the first two lines of the only question.
#[track_caller]
fn head(questions: &[String]) -> String {
    assert_eq!(questions.len(), 1, "{questions:?}");
    questions[0].lines().take(2).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_refused_command_says_how_to_ask_for_more_and_the_retry_asks_once() {
    let home = project();
    let outside = directory_outside(env!("CARGO_TARGET_TMPDIR"));
    let mark = outside.path().join("mark");
    fs::write(home.work().join("x.py"), format!("open('{}', 'w')\n", mark.display())).unwrap();
    let mut host = host(&home);
    let (reply, questions) = call(&mut host, "python3 x.py");
    assert!(questions.is_empty() && !mark.exists(), "{reply}");
    for said in ["Read-only file system", "retry with approval", "# ask: "] {
        assert!(reply.contains(said), "{said}: {reply}");
    }
    let retry = "# ask: it writes a file next to the project\npython3 x.py";
    let (reply, questions) = call(&mut host, retry);
    let head = head(&questions);
    assert!(head.contains("it writes a file next to the project"), "{head}");
    assert!(head.contains("may do everything that you may"), "{head}");
    assert!(mark.exists() && !reply.contains("retry with approval"), "{reply}");
}

#[test]
fn a_question_shows_the_grant_that_a_yes_gives_and_the_task_gets_it() {
    let home = project();
    fs::write(home.work().join("precious"), "x").unwrap();
    let mut host = host(&home);
    let (reply, questions) = call(&mut host, "rm precious; sleep 600 &");
    let grant = "reads files except secrets, writes in the project, no network";
    assert!(head(&questions).contains(grant), "{questions:?}");
    assert!(!home.has_file("precious"), "{reply}");
    // The task stays, because a process of it is alive.
    let task = home.status(home.list()[0]["id"].as_str().unwrap());
    assert_eq!(task["confined"]["grant"], grant, "{task}");
}

/// The directory would otherwise become one that the command may change.
#[test]
fn a_call_that_names_another_directory_for_temporary_files_needs_approval() {
    let home = project();
    let outside = directory_outside(env!("CARGO_TARGET_TMPDIR"));
    let there = outside.path().join("tmp");
    fs::create_dir(&there).unwrap();
    fs::write(home.work().join("x.py"), format!("open('{}/mark', 'w')\n", there.display())).unwrap();
    let mut host = Host::of(home.command(["mcp"]).session("host").env("MEANWHILE_APPROVAL_WAIT", "50ms"));
    let with = |directory: &std::path::Path| json!({"command": "python3 x.py", "env": {"TMPDIR": directory}});
    let reply = host.call("shell", &with(&there));
    let said = text(&reply);
    assert!(reply["isError"] == true && said.contains("it may change the files there"), "{said}");
    assert!(!there.join("mark").exists(), "{said}");
    // Where every command may write, it changes nothing.
    let said = text(&host.call("shell", &with(std::path::Path::new("/var/tmp"))));
    assert!(said.contains("Read-only file system") && !there.join("mark").exists(), "{said}");
}
