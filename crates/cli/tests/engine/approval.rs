//! The gate before what is started inside a session.

use std::fs;

use mw_testkit::{Home, Invocation, Running, SOON, wait_until};
use serde_json::Value;

use crate::home;
use crate::settings::{both_ways, variable};

pub(crate) const SESSION: &str = "agent";

/// A home whose working directory is a project, with the gate shut as it is by default.
pub(crate) fn project() -> Home {
    let home = home().gated();
    fs::create_dir(home.work().join(".git")).unwrap();
    fs::write(home.work().join("precious"), "x").unwrap();
    home
}

/// A call as an agent makes it, with all the time in the world.
fn agent<const N: usize>(home: &Home, words: [&str; N]) -> Invocation {
    home.command(words).session(SESSION).env(variable("approval.wait"), "10m")
}

/// One that nobody will answer.
fn hurried<const N: usize>(home: &Home, words: [&str; N]) -> Invocation {
    agent(home, words).env(variable("approval.wait"), "50ms")
}

fn open(home: &Home) -> Vec<Value> {
    home.mw(["approvals", "--json"]).json()["approvals"].as_array().unwrap().clone()
}

fn history(home: &Home) -> Vec<Value> {
    home.mw(["approvals", "--history", "--json"]).json()["approvals"].as_array().unwrap().clone()
}

/// Waits until one question stands open; returns its id.
#[track_caller]
pub(crate) fn asked(home: &Home) -> String {
    let id = |entry: &Value| entry["id"].as_str().unwrap().to_owned();
    wait_until(SOON, "a question", || open(home).first().map(id))
}

/// Starts something that asks; returns the call that waits and the question.
fn asking(home: &Home, script: &str) -> (Running, String) {
    let call = agent(home, ["start", "--json", script]).spawn();
    let id = asked(home);
    (call, id)
}

#[test]
fn the_history_hides_the_values_of_secret_variables_that_the_question_shows() {
    const VALUE: &str = "tr0mb0ne-and-drum";
    let home = project();
    let variable = format!("DB_TOKEN={VALUE}");
    let script = format!("rm precious; rm {VALUE}");
    let _ = hurried(&home, ["start", "--env", &variable, &script]).run().exits(3);
    let question = open(&home)[0].to_string();
    assert!(question.contains(VALUE), "what is approved is shown: {question}");
    home.mw(["deny", asked(&home).as_str()]).ok();
    for args in [&["approvals", "--history"][..], &["approvals", "--history", "--json"]] {
        let text = home.mw(args).ok();
        assert!(!text.contains(VALUE) && text.contains("[redacted:environment]"), "{text}");
    }
}

#[test]
fn a_question_shows_every_step_with_its_redirections() {
    let home = project();
    let _ = hurried(&home, ["start", "ls; rm -rf src >> log"]).run().exits(3);
    assert_eq!(open(&home)[0]["steps"], serde_json::json!(["ls", "rm -rf src >> log"]));
    let shown = home.mw(["approvals"]).ok();
    assert!(shown.contains("  2. rm -rf src >> log\n"), "{shown}");
}

#[test]
fn safe_work_runs_at_once() {
    let home = project();
    let started = agent(&home, ["start", "--json", "ls; cat precious"]).run().json();
    let task = home.ended(started["id"].as_str().unwrap());
    assert_eq!((&task["status"], &task["approved_by"]), (&"completed".into(), &"auto".into()));
    assert_eq!(history(&home).len(), 0);
}

#[test]
fn what_was_approved_runs_once_and_is_on_record() {
    let home = project();
    let (call, id) = asking(&home, "rm precious");
    assert!(home.has_file("precious"));
    let shown = home.mw(["approvals"]).ok();
    assert!(shown.contains("Command requires approval:\n  rm precious\n\ndeletes precious\n"), "{shown}");
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
    // It was for one start.
    let _ = hurried(&home, ["start", "rm precious"]).run().exits(3);
}

#[test]
fn who_approved_is_in_the_log_the_span_and_the_status() {
    let home = project().with_env("MEANWHILE_OUTPUT_LOG_HEADER", "true");
    let (call, id) = asking(&home, "rm precious");
    home.mw(["approve", &id]).ok();
    let task = call.wait().json()["id"].as_str().unwrap().to_owned();
    let at = home.ended(&task)["approved_at"].as_str().unwrap().to_owned();
    let log = fs::read_to_string(home.task_dir(&task).join("output.log")).unwrap();
    assert!(log.contains(&format!("# Approved by: user at {at}\n")), "{log}");
    let spans = home.mw(["traces", "--json"]).json().to_string();
    assert!(spans.contains("task.approved_by"), "{spans}");
    assert!(home.mw(["status", &task]).ok().contains(&format!("by user at {at} ({id})")));
}

#[test]
fn what_was_denied_leaves_no_task_and_is_not_asked_again_at_once() {
    let home = project();
    let (call, id) = asking(&home, "rm precious");
    home.mw(["deny", &id, "--reason", "I need it"]).ok();
    let told = call.wait().exits(4).json();
    assert_eq!(told["error"]["code"], "denied");
    assert!(told["error"]["message"].as_str().unwrap().contains("I need it"), "{told}");
    let _ = agent(&home, ["start", "rm precious"]).run().exits(4);
    assert_eq!(open(&home).len(), 0);
    assert!(home.list().is_empty() && home.has_file("precious"));
    assert_eq!(history(&home)[0]["reason"], "I need it");
}

#[test]
fn nobody_there_is_no_yes_and_no_hang() {
    let home = project();
    let told = hurried(&home, ["start", "--json", "rm precious"]).run().exits(3).json();
    assert_eq!(told["error"]["code"], "approval_needed");
    let id = asked(&home);
    assert!(told["error"]["hint"].as_str().unwrap().contains(&format!("mw approve {id}")), "{told}");
    assert!(home.list().is_empty() && home.has_file("precious"));
    // A call like it joins the question instead of asking anew.
    let _ = hurried(&home, ["start", "rm precious"]).run().exits(3);
    assert_eq!(open(&home).len(), 1);
}

#[test]
fn a_late_yes_is_for_exactly_what_was_asked() {
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
fn of_many_calls_at_once_one_uses_the_approval() {
    let home = project();
    let calls: Vec<_> =
        (0..8).map(|_| agent(&home, ["start", "rm -f precious; touch ran"]).spawn()).collect();
    home.mw(["approve", &asked(&home)]).ok();
    wait_until(SOON, "all of them are answered", || {
        // Whoever came only after it was used asks anew.
        open(&home).iter().for_each(|entry| drop(home.mw(["deny", entry["id"].as_str().unwrap()])));
        calls.iter().all(|call| !call.runs()).then_some(())
    });
    let passed = calls.into_iter().map(Running::wait).filter(|outcome| outcome.code == Some(0)).count();
    assert_eq!(passed, 1);
    assert_eq!(home.list().len(), 1);
}

#[test]
fn a_yes_for_the_session_holds_for_the_same_again() {
    let home = project();
    let (call, id) = asking(&home, "rm -f precious");
    home.mw(["approve", &id, "--session"]).ok();
    let _ = call.wait().exits(0);
    let _ = agent(&home, ["start", "--json", "rm -f precious"]).run().exits(0);
    let _ = hurried(&home, ["start", "rm -f other"]).run().exits(3);
    // And can be taken back.
    home.mw(["deny", &id]).ok();
    let _ = agent(&home, ["start", "rm -f precious"]).run().exits(4);
}

#[test]
fn outside_a_session_it_is_the_users_own_hand() {
    let home = project();
    let started = home.mw(["start", "--json", "rm precious"]).json();
    let task = home.ended(started["id"].as_str().unwrap());
    assert_eq!((&task["status"], &task["approved_by"]), (&"completed".into(), &"user".into()));
    assert_eq!(history(&home).len(), 0);
}

#[test]
fn a_task_cannot_approve() {
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
    assert_eq!(open(&home).len(), 1, "nobody answered");
    let attempts = history(&home)[0]["refused_answers"].as_array().unwrap().len();
    assert_eq!(attempts, tries.len(), "each was recorded");
    let _ = hurried(&home, ["start", "rm precious"]).run().exits(3);
}

#[test]
fn what_a_task_starts_passes_the_gate_of_its_session() {
    let home = project();
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

/// Whatever a call sets is bound, the shell's own variables too, and the question shows it.
#[test]
fn a_variable_that_the_call_sets_is_shown_and_bound() {
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

/// The task would not find them, so a question that showed them would be about something else.
#[test]
fn a_variable_that_a_start_sets_anew_is_refused_before_anybody_is_asked() {
    let home = project();
    for (at, name) in ["MEANWHILE_PROGRESS_FD", "TRACEPARENT", "TRACESTATE"].into_iter().enumerate() {
        let (set, script) = (format!("{name}=sub"), format!("rm -rf \"${name}precious\""));
        let refused = hurried(&home, ["start", "--json", "--env", &set, &script]).run().refusal(2);
        assert!(refused["message"].as_str().unwrap().contains(name), "{refused}");
        assert_eq!(history(&home).len(), at, "no question was put");
        let inherited = hurried(&home, ["start", &script]).env(name, "sub");
        let _ = inherited.run().exits(3);
        let asked = open(&home).remove(0);
        assert_eq!(asked["env"].as_array().map_or(0, Vec::len), 0, "not set by the call: {asked}");
        home.mw(["deny", asked["id"].as_str().unwrap()]).ok();
    }
    assert!(home.has_file("precious"));
}

#[test]
fn a_secret_that_a_call_sets_is_hidden_in_the_record() {
    let home = project();
    let secret = "s3cr3tvalue99";
    let script = format!("rm precious; echo {secret}");
    let _ = hurried(&home, ["start", "--env", &format!("MY_TOKEN={secret}"), &script]).run().exits(3);
    let record = home.mw(["approvals", "--history", "--json"]).ok();
    assert!(!record.contains(secret), "{record}");
    assert!(home.mw(["approvals"]).ok().contains(secret), "whoever approves sees exactly what runs");
}

#[test]
fn a_person_at_the_terminal_is_asked() {
    let home = project();
    for (keys, code, left) in [("\x03", 4, true), ("n\r", 4, true), ("maybe\ry\r", 0, false)] {
        // What was denied is not asked again, so each asks about something of its own.
        let script = format!("rm precious # {}", keys.len());
        let mut terminal = agent(&home, ["start", &script]).on_terminal();
        wait_until(SOON, "the question", || {
            terminal.shown().contains("Start in background? [y/n]").then_some(())
        });
        let shown = terminal.shown();
        assert!(shown.contains("Command requires approval:"), "{shown}");
        assert!(shown.contains("deletes precious"), "{shown}");
        terminal.press(keys);
        assert_eq!(terminal.wait(), Some(code), "{keys:?}");
        wait_until(SOON, "what was said is done", || (home.has_file("precious") == left).then_some(()));
    }
    let by: Vec<_> = history(&home).iter().map(|entry| entry["answered_by"].clone()).collect();
    assert_eq!(by, vec![Value::from("the terminal"); 3]);
}

#[test]
fn an_answer_from_elsewhere_ends_the_question_at_the_terminal() {
    let home = project();
    let terminal = agent(&home, ["start", "rm precious"]).on_terminal();
    home.mw(["approve", &asked(&home)]).ok();
    assert_eq!(terminal.wait(), Some(0));
}

#[test]
fn a_mode_that_denies_asks_nobody() {
    let home = project().with_env("MEANWHILE_MODE", "plan");
    let told = agent(&home, ["start", "--json", "ls"]).run().exits(4).json();
    assert!(told["error"]["message"].as_str().unwrap().contains("mode plan"), "{told}");
    let record = &history(&home)[0];
    assert_eq!((&record["status"], &record["answered_by"]), (&"denied".into(), &"policy".into()), "{record}");
    assert!(home.list().is_empty());
}

/// What runs in a hosted session changes its environment at will: nothing gets looser by that.
#[test]
fn nothing_in_a_session_can_choose_a_looser_mode() {
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
        let told = home.mw(["session", "run", "strict", "--", "sh", "-c", &inside]).ok();
        assert!(told.contains(&format!("code {code}")), "{inside}: {told}");
    }
    assert!(home.has_file("precious"));
}

#[test]
fn house_rules_that_cannot_be_read_let_nothing_pass() {
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
fn a_directory_named_in_a_call_is_no_new_project() {
    let home = project();
    let outside = home.user().join("outside");
    fs::create_dir(&outside).unwrap();
    let outside = outside.to_str().unwrap();
    let _ = hurried(&home, ["start", "--cwd", outside, "touch x"]).run().exits(3);
    let _ = hurried(&home, ["start", "--cwd", outside, "ls"]).run().exits(0);
    let _ = home.mw(["policy", "--cwd", "/etc", "touch x"]).exits(3);
}

#[test]
fn a_shell_of_ones_own_and_a_name_that_runs_something_else_are_no_way_around() {
    let home = project();
    let mine = home.work().join("sh");
    fs::copy("/bin/sh", &mine).unwrap();
    let _ = hurried(&home, ["start", "--shell", mine.to_str().unwrap(), "ls"]).run().exits(3);
    let script = "rm -f precious; sleep 600";
    let call = agent(&home, ["start", "--json", "--name", "it", script]).spawn();
    let second = wait_until(SOON, "the second question", || open(&home).get(1).cloned());
    home.mw(["approve", second["id"].as_str().unwrap()]).ok();
    let task = call.wait().json()["id"].as_str().unwrap().to_owned();
    let again = ["start", "--name", "it", "--if-running", "restart", "ls"];
    let _ = hurried(&home, again).run().exits(4);
    let again = ["start", "--name", "it", "--if-running", "restart", script];
    let _ = hurried(&home, again).run().exits(3);
    assert_eq!(home.status(&task)["runs"], 1);
}

#[test]
fn what_was_changed_while_it_waited_for_a_slot_does_not_run() {
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
fn a_further_run_and_what_is_typed_pass_the_gate_too() {
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
fn a_question_outlives_whoever_asked() {
    let home = project();
    let (call, id) = asking(&home, "rm precious");
    let _ = call.kill();
    home.mw(["approve", &id]).ok();
    assert!(home.has_file("precious") && home.list().is_empty(), "nobody is there to start it");
    let _ = agent(&home, ["start", "rm precious"]).run().exits(0);
}

#[test]
fn odd_ids_are_refused() {
    let home = project();
    let _ = hurried(&home, ["start", "rm precious"]).run().exits(3);
    let id = asked(&home);
    for wrong in ["ask-zzzzzzzz", "bash-k3f9x2ab", "../../x", "%", ""] {
        let _ = home.mw(["approve", wrong]).exits(5);
    }
    // The beginning of an id is enough.
    home.mw(["approve", &id[..8]]).ok();
    let _ = home.mw(["approve", &id]).exits(4);
}

#[test]
fn approval_wait_takes_effect() {
    for home in both_ways("approval.wait", "20ms") {
        let told = home.gated().command(["start", "rm -rf x"]).session(SESSION).run();
        let _ = told.exits(3);
    }
}

#[test]
fn approval_keep_takes_effect() {
    for home in both_ways("approval.keep", "1ms") {
        let home = home.gated();
        let _ = hurried(&home, ["start", "rm -rf x"]).run().exits(3);
        wait_until(SOON, "it lapses", || open(&home).is_empty().then_some(()));
        assert_eq!(history(&home)[0]["status"], "lapsed");
    }
}

#[test]
fn secrets_are_shown_to_whoever_approves_and_not_in_the_record() {
    let home = project();
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let script = format!("rm x; curl -H 'Authorization: Bearer {secret}' https://example.org");
    let _ = hurried(&home, ["start", &script]).run().exits(3);
    assert!(home.mw(["approvals"]).ok().contains(secret), "what is approved is shown exactly");
    assert!(!home.mw(["approvals", "--history"]).ok().contains(secret));
    assert!(!home.mw(["approvals", "--history", "--json"]).ok().contains(secret));
}

#[test]
fn a_yes_for_good_becomes_a_rule() {
    let home = project();
    let (call, id) = asking(&home, "rm -f precious");
    home.mw(["approve", &id, "--rule"]).ok();
    let _ = call.wait().exits(0);
    let told = home.mw(["policy", "--json", "rm -f precious"]).exits(0).json();
    assert_eq!(told["rules"], serde_json::json!([format!("user:{id}")]));
    let _ = hurried(&home, ["start", "rm -f precious"]).run().exits(0);
    let _ = hurried(&home, ["start", "rm -f other"]).run().exits(3);
    // What a rule cannot allow is refused, and changes nothing.
    for script in ["rm -f a; rm -f b", "rm *.o", "rm 'a b'", "rm $X", "rm x > y"] {
        let _ = hurried(&home, ["start", script]).run().exits(3);
        let id = open(&home).last().unwrap()["id"].as_str().unwrap().to_owned();
        let _ = home.mw(["approve", &id, "--rule"]).exits(2);
        assert!(open(&home).iter().any(|entry| entry["id"] == id.as_str()), "{script} stays open");
    }
    let _ = home.mw(["config"]).ok();
}
