//! `mw template`: a saved start, and what is refused.

use std::fs;

use mw_testkit::{Home, SOON};
use serde_json::{Value, json};

use crate::approval::{SESSION, agent, asked, open, project};
use crate::home;

fn save(home: &Home, name: &str, words: &[&str]) {
    let _ = home.mw([&["template", "save", name, "--"], words].concat()).exits(0);
}

fn shown(home: &Home, name: &str) -> Value {
    home.mw(["template", "show", name, "--json"]).exits(0).json()
}

fn names(home: &Home) -> Vec<String> {
    let listed = home.mw(["template", "list", "--json"]).exits(0).json();
    let name = |entry: &Value| entry["name"].as_str().unwrap().to_owned();
    listed["templates"].as_array().unwrap().iter().map(name).collect()
}

#[test]
fn a_template_is_saved_listed_shown_run_and_removed() {
    let home = home();
    let script = "echo \"$A $0\" > ran";
    save(&home, "nightly", &["--env", "A=it is", script, "--batch", "b"]);
    let template = shown(&home, "nightly");
    let expected =
        json!({"name": "nightly", "options": ["--env", "A=it is", "--batch", "b"], "command": [script]});
    assert_eq!(template, expected);
    let listed = home.mw(["template", "list"]).ok();
    assert!(listed.starts_with("nightly  mw start --env 'A=it is' --batch b "), "{listed}");
    let started = home.mw(["template", "run", "nightly", "--name", "tonight", "--json"]).exits(0).json();
    assert_eq!(home.lines_in("ran", 1), "it is /bin/sh\n");
    let task = home.ended(started["id"].as_str().unwrap());
    assert_eq!((&task["name"], &task["batch_id"]), (&"tonight".into(), &"b".into()), "{task}");
    let _ = home.mw(["template", "remove", "nightly"]).exits(0);
    let _ = home.mw(["template", "--json", "run", "nightly"]).refusal(5);
    let _ = home.mw(["template", "--json", "remove", "nightly"]).refusal(5);
    assert_eq!(names(&home), [""; 0]);
    home.wait_until_empty(SOON);
}

/// What a person starts by its name alone is shown to them.
#[test]
fn the_command_of_a_template_is_shown_when_it_runs() {
    let home = home();
    save(&home, "x", &["echo hi; true"]);
    let run = home.mw(["template", "run", "x"]).exits(0);
    assert!(run.stderr_text().contains("template x: mw start 'echo hi; true'"), "{}", run.stderr_text());
}

#[test]
fn options_of_the_run_replace_those_of_the_template() {
    let home = home();
    save(&home, "x", &["--name", "one", "--delay", "1h", "--env", "A=1", "--env", "B=1", "echo $A $B > ran"]);
    let options = ["--name", "two", "--delay", "1ms", "--env", "A=2"];
    let started = home.mw([&["template", "run", "x"], &options[..], &["-q"]].concat()).ok();
    assert_eq!(home.lines_in("ran", 1), "2 1\n");
    assert_eq!(home.ended(started.trim())["name"], "two");
    for words in [&["date"][..], &["--env", "A=1", "--", "date"], &["--nonsense"], &["--at", "soon"]] {
        let _ = home.mw([&["template", "--json", "run", "x"], words].concat()).refusal(2);
    }
    assert_eq!(home.list().len(), 1);
    save(&home, "quiet", &["-q", "true"]);
    let refused = home.mw(["template", "run", "quiet", "--json"]).refusal(2);
    assert!(refused["message"].as_str().unwrap().contains("cannot be used with"), "{refused}");
}

#[test]
fn a_program_after_two_hyphens_runs_without_a_shell() {
    let home = home();
    for (words, command) in [
        (&["--", "printf", "%s", "a  b", "--quiet"][..], json!(["--", "printf", "%s", "a  b", "--quiet"])),
        (&["--cap", "1MiB", "printf", "%s", "a  b", "--quiet"], json!(["printf", "%s", "a  b", "--quiet"])),
        (&["--", "true"], json!(["--", "true"])),
    ] {
        let _ = home.mw([&["template", "save", "--replace", "x", "--"], words].concat()).exits(0);
        assert_eq!(shown(&home, "x")["command"], command);
        let id =
            home.mw(["template", "run", "x", "--json"]).exits(0).json()["id"].as_str().unwrap().to_owned();
        assert_eq!(home.ended(&id)["status"], "completed");
        let expected = if words == ["--", "true"] { "" } else { "a  b--quiet" };
        assert_eq!(home.mw(["output", &id]).text().trim_end(), expected);
    }
}

#[test]
fn bad_templates_are_refused_and_change_nothing() {
    let home = home();
    let save = |words: &[&str]| home.mw([&["template", "--json", "save"], words].concat());
    for words in [
        &["../x", "--", "true"][..],
        &["", "--", "true"],
        &[".x", "--", "true"],
        &["x y", "--", "true"],
        &["x"],
        &["x", "true"],
        &["x", "--"],
        &["x", "--", "--name", "n"],
        &["x", "--", "--nonsense", "true"],
        &["x", "--", "--help"],
        &["x", "--", "echo 'open"],
        &["x", "--", "--cron", "99 * * * *", "true"],
        &["x", "--", "--at", "2001-01-01", "true"],
        &["x", "--", "--on", "nowhere", "true"],
        &["x", "--", "--cwd", "/nowhere", "true"],
        &["x", "--", "--name", "bash_1", "true"],
        &["x", "--", "no-such-program", "--now"],
    ] {
        let _ = save(words).refusal(if words.contains(&"no-such-program") { 127 } else { 2 });
        assert_eq!(names(&home), [""; 0], "{words:?}");
    }
    let _ = save(&["x", "--", "echo", "one"]).exits(0);
    let _ = save(&["x", "--", "echo", "two"]).refusal(6);
    assert_eq!(shown(&home, "x")["command"][1], "one");
    let _ = save(&["x", "--replace", "--", "echo", "two"]).exits(0);
    assert_eq!(shown(&home, "x")["command"][1], "two");
    let file = home.user().join(".config/meanwhile/templates/x.json");
    for text in ["{\"version\":1,", "{\"version\":9,\"words\":[\"true\"]}"] {
        fs::write(&file, text).unwrap();
        let _ = home.mw(["template", "--json", "run", "x"]).refusal(2);
        assert_eq!(names(&home), [""; 0]);
    }
    let _ = save(&["x", "--replace", "--", "true"]).exits(0);
    assert_eq!(names(&home), ["x"]);
    assert!(home.list().is_empty());
}

#[test]
fn secrets_of_a_template_are_not_shown() {
    let home = home();
    save(&home, "x", &["--env", "API_TOKEN=hunter2hunter2", "echo hunter2hunter2"]);
    for words in [&["show", "x"][..], &["show", "x", "--json"], &["list"], &["list", "--json"], &["run", "x"]]
    {
        let outcome = home.mw([&["template"], words].concat()).exits(0);
        assert!(
            !outcome.text().contains("hunter2") && !outcome.stderr_text().contains("hunter2"),
            "{words:?}"
        );
    }
}

/// A template would otherwise be a way to have a person run the command of an agent.
#[test]
fn agents_and_tasks_cannot_change_templates() {
    let home = project();
    save(&home, "x", &["echo mine"]);
    let changes = [
        &["template", "save", "y", "--", "true"][..],
        &["template", "save", "x", "--replace", "--", "true"],
        &["template", "remove", "x"],
    ];
    for words in changes {
        let refused = home.command(words.iter().copied()).session(SESSION).run().exits(2);
        assert!(
            refused.stderr_text().contains("only the user can change templates"),
            "{}",
            refused.stderr_text()
        );
    }
    let mw = env!("CARGO_BIN_EXE_mw");
    let bare = "env -u MEANWHILE_TASK_ID -u MEANWHILE_TASK_SESSION -u MEANWHILE_SESSION";
    let tries: Vec<_> =
        changes.iter().map(|words| format!("{bare} {mw} {}; echo code $?", words.join(" "))).collect();
    let id = home.start(&tries.join("; "));
    home.ended(&id);
    let log = String::from_utf8(home.log(&id)).unwrap();
    assert_eq!(log.matches("code 2").count(), 3, "{log}");
    assert_eq!(names(&home), ["x"]);
    assert_eq!(shown(&home, "x")["command"], json!(["echo mine"]));
}

#[test]
fn a_template_that_an_agent_runs_is_judged_like_its_command() {
    let home = project();
    save(&home, "wipe", &["rm -rf precious ~/x"]);
    let call = agent(&home, ["template", "run", "wipe", "--json"]).spawn();
    let id = asked(&home);
    assert!(open(&home)[0].to_string().contains("rm -rf precious"), "{:?}", open(&home));
    let _ = home.mw(["deny", &id]).exits(0);
    let _ = call.wait().refusal(4);
    assert!(home.has_file("precious"));
    save(&home, "look", &["ls"]);
    let started = agent(&home, ["template", "run", "look", "--json"]).run().exits(0).json();
    let task = home.ended(started["id"].as_str().unwrap());
    assert_eq!((&task["session"], &task["approved_by"]), (&SESSION.into(), &"auto".into()), "{task}");
}
