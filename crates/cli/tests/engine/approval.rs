//! Approval of commands that are started inside a session.

use std::fs;

use mw_testkit::{Home, Invocation, Running, SOON, wait_until};
use serde_json::Value;

use crate::home;
use crate::settings::{both_ways, variable};

pub(crate) const SESSION: &str = "agent";

/// Creates a home whose working directory is a project, with the default approval mode.
pub(crate) fn project() -> Home {
    let home = home().gated();
    fs::create_dir(home.work().join(".git")).unwrap();
    fs::write(home.work().join("precious"), "x").unwrap();
    home
}

/// The same on a kernel without Landlock, where no command is confined.
pub(crate) fn project_without_kernel() -> Home {
    project().with_env("MEANWHILE_LACKS", "landlock")
}

/// Prepares a command of an agent that waits long for an answer.
pub(crate) fn agent<const N: usize>(home: &Home, words: [&str; N]) -> Invocation {
    home.command(words).session(SESSION).env(variable("approval.wait"), "10m")
}

/// Prepares a command whose request times out at once.
pub(crate) fn hurried<const N: usize>(home: &Home, words: [&str; N]) -> Invocation {
    agent(home, words).env(variable("approval.wait"), "50ms")
}

pub(crate) fn open(home: &Home) -> Vec<Value> {
    home.mw(["approvals", "--json"]).json()["approvals"].as_array().unwrap().clone()
}

pub(crate) fn history(home: &Home) -> Vec<Value> {
    home.mw(["approvals", "--history", "--json"]).json()["approvals"].as_array().unwrap().clone()
}

/// Waits until one approval request is open; returns its id.
#[track_caller]
pub(crate) fn asked(home: &Home) -> String {
    let id = |entry: &Value| entry["id"].as_str().unwrap().to_owned();
    wait_until(SOON, "an approval request", || open(home).first().map(id))
}

/// Starts a command that needs approval; returns the waiting call and the request.
pub(crate) fn asking(home: &Home, script: &str) -> (Running, String) {
    let call = agent(home, ["start", "--json", script]).spawn();
    let id = asked(home);
    (call, id)
}

#[test]
fn a_safe_command_runs_without_approval() {
    let home = project();
    let started = agent(&home, ["start", "--json", "ls; cat precious"]).run().json();
    let task = home.ended(started["id"].as_str().unwrap());
    assert_eq!((&task["status"], &task["approved_by"]), (&"completed".into(), &"auto".into()));
    assert_eq!(history(&home).len(), 0);
}

#[test]
fn an_unanswered_request_fails_after_its_wait_and_stays_open() {
    let home = project();
    let printed = hurried(&home, ["start", "--json", "rm precious"]).run().exits(3).json();
    assert_eq!(printed["error"]["code"], "approval_needed");
    let id = asked(&home);
    assert!(printed["error"]["hint"].as_str().unwrap().contains(&format!("mw approve {id}")), "{printed}");
    assert!(home.list().is_empty() && home.has_file("precious"));
    // An identical call joins the open request instead of creating another.
    let _ = hurried(&home, ["start", "rm precious"]).run().exits(3);
    assert_eq!(open(&home).len(), 1);
}

#[test]
fn a_late_approval_covers_exactly_the_requested_command() {
    let home = project();
    let _ = hurried(&home, ["start", "rm precious"]).run().exits(3);
    home.mw(["approve", &asked(&home)]).ok();
    fs::create_dir(home.work().join("below")).unwrap();
    let others: [&[&str]; 6] = [
        &["start", "rm -f precious"],
        &["start", "--cwd", "below", "rm precious"],
        &["start", "--env", "A=1", "rm precious"],
        &["start", "--timeout", "9m", "rm precious"],
        &["start", "--lifetime", "detached", "rm precious"],
        &["start", "--", "rm", "precious"],
    ];
    for words in others {
        let call = home.command(words.iter().copied()).session(SESSION);
        let _ = call.env(variable("approval.wait"), "50ms").run().exits(3);
    }
    let call = home.command(["start", "rm precious"]).session("another");
    let _ = call.env(variable("approval.wait"), "50ms").run().exits(3);
    assert!(home.has_file("precious"));
    let started = hurried(&home, ["start", "--json", "rm precious"]).run().json();
    assert_eq!(home.ended(started["id"].as_str().unwrap())["approved_by"], "user");
}

#[test]
fn only_one_of_many_concurrent_calls_uses_the_approval() {
    let home = project();
    let calls: Vec<_> =
        (0..8).map(|_| agent(&home, ["start", "rm -f precious; touch ran"]).spawn()).collect();
    home.mw(["approve", &asked(&home)]).ok();
    wait_until(SOON, "all calls have ended", || {
        // A call after the approval was used creates a new request.
        open(&home).iter().for_each(|entry| drop(home.mw(["deny", entry["id"].as_str().unwrap()])));
        calls.iter().all(|call| !call.runs()).then_some(())
    });
    let passed = calls.into_iter().map(Running::wait).filter(|outcome| outcome.code == Some(0)).count();
    assert_eq!(passed, 1);
    assert_eq!(home.list().len(), 1);
}

#[test]
fn outside_a_session_no_approval_is_needed() {
    let home = project();
    let started = home.mw(["start", "--json", "rm precious"]).json();
    let task = home.ended(started["id"].as_str().unwrap());
    assert_eq!((&task["status"], &task["approved_by"]), (&"completed".into(), &"user".into()));
    assert_eq!(history(&home).len(), 0);
}

#[test]
fn a_task_cannot_answer_approval_requests() {
    let home = project();
    let _ = hurried(&home, ["start", "rm precious"]).run().exits(3);
    let id = asked(&home);
    let mw = env!("CARGO_BIN_EXE_mw");
    let bare = "env -u MEANWHILE_TASK_ID -u MEANWHILE_TASK_SESSION -u MEANWHILE_SESSION";
    let tries = [
        format!("{mw} approve {id}"),
        format!("{bare} {mw} approve {id}"),
        format!("setsid {bare} sh -c '{mw} approve {id}'; true"),
        format!("({bare} setsid {mw} approve {id} &) ; sleep 0.1; true"),
    ];
    for script in &tries {
        let task = home.start(script);
        let _ = home.ended(&task);
        home.until_logged(&task, "cannot be answered from inside task");
    }
    assert_eq!(open(&home).len(), 1, "the request is still open");
    let attempts = history(&home)[0]["refused_answers"].as_array().unwrap().len();
    assert_eq!(attempts, tries.len(), "every attempt is recorded");
    let _ = hurried(&home, ["start", "rm precious"]).run().exits(3);
}

#[test]
fn starts_inside_a_task_have_the_policy_of_its_session() {
    let home = project_without_kernel();
    let mw = env!("CARGO_BIN_EXE_mw");
    let script = format!(
        "env -u MEANWHILE_SESSION MEANWHILE_APPROVAL_WAIT=50ms {mw} start 'rm precious'; echo code $?"
    );
    let (call, id) = asking(&home, &script);
    home.mw(["approve", &id]).ok();
    let task = call.wait().json()["id"].as_str().unwrap().to_owned();
    home.until_logged(&task, "code 3");
    assert!(home.has_file("precious"));
}

#[test]
fn an_approval_of_a_foreground_command_is_not_one_of_a_background_task() {
    let home = project();
    let _ = hurried(&home, ["run", "rm precious"]).run().exits(3);
    let id = open(&home)[0]["id"].as_str().unwrap().to_owned();
    home.mw(["approve", &id]).ok();
    let _ = hurried(&home, ["start", "rm precious"]).run().exits(3);
    assert!(home.has_file("precious"));
    let _ = hurried(&home, ["run", "rm precious"]).run().exits(0);
    assert!(!home.has_file("precious"));
}

/// Variables that the shell itself sets are included.
#[test]
fn the_request_shows_and_binds_variables_of_the_call() {
    let home = project();
    for name in ["OLDPWD", "_", "SHLVL", "FOO"] {
        let script = format!("rm -rf \"${name}/zz\"");
        let (one, two) = (format!("{name}=/one"), format!("{name}=/two"));
        let start = |set: &str| hurried(&home, ["start", "--env", set, &script]).run();
        let _ = start(&one).exits(3);
        let asked = open(&home).into_iter().find(|entry| entry["env"][0] == one.as_str()).unwrap();
        let id = asked["id"].as_str().unwrap();
        let shown = home.mw(["approvals"]).ok();
        assert!(shown.contains(&format!("With these variables:\n  {one}\n")), "{shown}");
        home.mw(["approve", id]).ok();
        let _ = start(&two).exits(3);
        assert_eq!(start(&one).code, Some(0), "{name}");
    }
}

/// The task would not get these values, so a request that shows them would be wrong.
#[test]
fn a_reserved_variable_is_refused_without_an_approval_request() {
    let home = project();
    for (at, name) in ["MEANWHILE_PROGRESS_FD", "TRACEPARENT", "TRACESTATE"].into_iter().enumerate() {
        let (set, script) = (format!("{name}=sub"), format!("rm -rf \"${name}precious\""));
        let refused = hurried(&home, ["start", "--json", "--env", &set, &script]).run().refusal(2);
        assert!(refused["message"].as_str().unwrap().contains(name), "{refused}");
        assert_eq!(history(&home).len(), at, "no approval request was created");
        let inherited = hurried(&home, ["start", &script]).env(name, "sub");
        let _ = inherited.run().exits(3);
        let asked = open(&home).remove(0);
        assert_eq!(
            asked["env"].as_array().map_or(0, Vec::len),
            0,
            "the call does not set the variable: {asked}"
        );
        home.mw(["deny", asked["id"].as_str().unwrap()]).ok();
    }
    assert!(home.has_file("precious"));
}

#[test]
fn a_person_on_a_terminal_is_asked() {
    let home = project();
    for (keys, code, left) in [("\x03", 4, true), ("n\r", 4, true), ("maybe\ry\r", 0, false)] {
        // A denied command creates no new request, so each round uses a different command.
        let script = format!("rm precious # {}", keys.len());
        let mut terminal = agent(&home, ["start", &script]).on_terminal();
        wait_until(SOON, "the prompt", || {
            terminal.shown().contains("Start in background? [y/n]").then_some(())
        });
        let shown = terminal.shown();
        assert!(shown.contains("Command requires approval"), "{shown}");
        assert!(shown.contains("deletes precious"), "{shown}");
        terminal.press(keys);
        assert_eq!(terminal.wait(), Some(code), "{keys:?}");
        wait_until(SOON, "the answer takes effect", || (home.has_file("precious") == left).then_some(()));
    }
    let by: Vec<_> = history(&home).iter().map(|entry| entry["answered_by"].clone()).collect();
    assert_eq!(by, vec![Value::from("the terminal"); 3]);
}

#[test]
fn an_answer_from_elsewhere_ends_the_prompt_on_the_terminal() {
    let home = project();
    let terminal = agent(&home, ["start", "rm precious"]).on_terminal();
    home.mw(["approve", &asked(&home)]).ok();
    assert_eq!(terminal.wait(), Some(0));
}

#[test]
fn a_denial_by_the_mode_is_recorded_and_starts_no_task() {
    let home = project().with_env("MEANWHILE_MODE", "plan");
    let printed = agent(&home, ["start", "--json", "ls"]).run().exits(4).json();
    assert!(printed["error"]["message"].as_str().unwrap().contains("mode plan"), "{printed}");
    let record = &history(&home)[0];
    assert_eq!((&record["status"], &record["answered_by"]), (&"denied".into(), &"policy".into()), "{record}");
    assert_eq!(open(&home), Vec::<Value>::new(), "no request waits for an answer");
    assert!(home.list().is_empty());
}

/// A process in a hosted session can change its environment, but that does not loosen the policy.
#[test]
fn a_hosted_session_cannot_loosen_its_policy() {
    let home = project();
    let mw = env!("CARGO_BIN_EXE_mw");
    let loose = home.work().join("loose.toml");
    let rule = "[[rules]]\nname = \"x\"\nmatch = \"rm ...\"\ndecision = \"allow\"\n";
    fs::write(&loose, format!("mode = \"dangerous\"\n{rule}")).unwrap();
    let outside = home.user().join("outside");
    fs::create_dir(&outside).unwrap();
    let (loose, outside) = (loose.to_str().unwrap(), outside.to_str().unwrap());
    for (variables, script, code) in [
        ("MEANWHILE_MODE=dangerous", "rm precious".to_owned(), 3),
        (&format!("MEANWHILE_CONFIG={loose}"), "rm precious".to_owned(), 3),
        (&format!("MEANWHILE_POLICY_WRITABLE={outside}"), format!("touch {outside}/x"), 3),
        (&format!("cd {outside};"), "touch x".to_owned(), 3),
        ("MEANWHILE_MODE=plan", "ls".to_owned(), 4),
        ("", "ls".to_owned(), 0),
    ] {
        let inside =
            format!("export MEANWHILE_APPROVAL_WAIT=50ms; {variables} {mw} start '{script}'; echo code $?");
        let printed = home.mw(["session", "run", "strict", "--", "sh", "-c", &inside]).ok();
        assert!(printed.contains(&format!("code {code}")), "{inside}: {printed}");
    }
    assert!(home.has_file("precious"));
}

#[test]
fn a_start_fails_if_the_policy_of_its_session_cannot_be_read() {
    let home = project();
    home.mw(["session", "run", "strict", "--", "true"]).ok();
    let path = home.state().join("sessions/strict/house.json");
    let text = fs::read_to_string(&path).unwrap();
    for spoilt in [text.replace("\"version\":1", "\"version\":9"), text[..20].to_owned(), String::new()] {
        fs::write(&path, spoilt).unwrap();
        let _ = home.command(["start", "ls"]).session("strict").run().exits(7);
    }
}

#[test]
fn a_working_directory_outside_the_project_does_not_become_the_project() {
    let home = project();
    let outside = home.user().join("outside");
    fs::create_dir(&outside).unwrap();
    let outside = outside.to_str().unwrap();
    let _ = hurried(&home, ["start", "--cwd", outside, "touch x"]).run().exits(3);
    let _ = hurried(&home, ["start", "--cwd", outside, "ls"]).run().exits(0);
    let _ = home.mw(["policy", "--cwd", "/etc", "touch x"]).exits(3);
}

#[test]
fn a_custom_shell_and_a_restart_by_name_do_not_bypass_policy() {
    let home = project();
    let mine = home.work().join("sh");
    fs::copy("/bin/sh", &mine).unwrap();
    let _ = hurried(&home, ["start", "--shell", mine.to_str().unwrap(), "ls"]).run().exits(3);
    let script = "rm -f precious; sleep 600";
    let call = agent(&home, ["start", "--json", "--name", "it", script]).spawn();
    let second = wait_until(SOON, "the second request", || open(&home).get(1).cloned());
    home.mw(["approve", second["id"].as_str().unwrap()]).ok();
    let task = call.wait().json()["id"].as_str().unwrap().to_owned();
    let again = ["start", "--name", "it", "--if-running", "restart", "ls"];
    let _ = hurried(&home, again).run().exits(4);
    let again = ["start", "--name", "it", "--if-running", "restart", script];
    let _ = hurried(&home, again).run().exits(3);
    assert_eq!(home.status(&task)["runs"], 1);
}

#[test]
fn a_spec_changed_in_the_queue_does_not_run() {
    let home = project().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let holder = agent(&home, ["start", "--json", "sleep 600"]).run().json();
    let (call, id) = asking(&home, "rm -f other");
    home.mw(["approve", &id]).ok();
    let waiting = call.wait().json();
    assert_eq!(waiting["status"], "pending");
    let task = waiting["id"].as_str().unwrap();
    let spec = home.task_dir(task).join("spec.json");
    let text = fs::read_to_string(&spec).unwrap();
    assert!(text.contains("rm -f other"));
    fs::write(&spec, text.replace("rm -f other", "rm precious")).unwrap();
    home.mw(["kill", holder["id"].as_str().unwrap()]).ok();
    let ended = home.ended(task);
    assert_eq!(ended["status"], "failed", "{ended}");
    assert!(ended["cause"].as_str().unwrap().contains("differs from the approved command"), "{ended}");
    assert!(home.has_file("precious"));
}

#[test]
fn restarts_and_input_need_approval() {
    let home = project();
    let (call, id) = asking(&home, "rm -f precious");
    home.mw(["approve", &id]).ok();
    let task = call.wait().json()["id"].as_str().unwrap().to_owned();
    let _ = home.ended(&task);
    let _ = hurried(&home, ["restart", &task]).run().exits(3);
    let reader = agent(&home, ["start", "--json", "--stdin", "cat"]).run().json()["id"].clone();
    let reader = reader.as_str().unwrap();
    let _ = hurried(&home, ["input", reader, "hello"]).run().exits(3);
    let asked = open(&home);
    assert_eq!(asked[1]["command"], format!("type into {reader}: hello\n"));
    home.mw(["approve", asked[1]["id"].as_str().unwrap()]).ok();
    let _ = hurried(&home, ["input", reader, "hello"]).run().exits(0);
    home.until_logged(reader, "hello");
}

#[test]
fn approval_wait_takes_effect() {
    for home in both_ways("approval.wait", "20ms") {
        let printed = home.gated().command(["start", "rm -rf x"]).session(SESSION).run();
        let _ = printed.exits(3);
    }
}
