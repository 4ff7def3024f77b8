//! Names of running tasks.

use mw_testkit::{alive, children};

use crate::home;

#[test]
fn a_task_is_found_by_its_name() {
    let home = home();
    let id = home.start_with(&["--name", "dev-server"], children::SLEEPER);
    assert_eq!(home.status("dev-server")["id"], id.as_str());
    let receipt = home.mw(["kill", "--json", "dev-server"]).exits(0).json();
    assert_eq!(receipt["id"], id.as_str(), "{receipt}");
}

#[test]
fn the_name_of_a_running_task_is_refused() {
    let home = home();
    let id = home.start_with(&["--name", "dev"], children::SLEEPER);
    for extra in [&[][..], &["--if-running", "refuse"]] {
        let args = ["start", "--json", "--name", "dev"].iter().chain(extra).chain(&["touch ran"]);
        let _ = home.mw(args).refusal(6);
    }
    let ids: Vec<_> = home.list().iter().map(|task| task["id"].clone()).collect();
    assert_eq!(ids, [id.as_str()]);
    assert!(!home.has_file("ran"));
}

#[test]
fn if_running_can_return_the_running_task() {
    let home = home();
    let id = home.start_with(&["--name", "dev"], children::SLEEPER);
    let pid = home.pid(&id);
    let args = ["start", "--json", "--name", "dev", "--if-running", "return", "touch ran"];
    let answer = home.mw(args).exits(0).json();
    assert_eq!((&answer["id"], &answer["pid"]), (&id.as_str().into(), &pid.into()), "{answer}");
    assert!(!home.has_file("ran"));
}

#[test]
fn if_running_can_restart_the_running_task() {
    let home = home();
    let id = home.start_with(&["--name", "dev"], children::SLEEPER);
    let before = home.pid(&id);
    let args = ["start", "--json", "--name", "dev", "--if-running", "restart", children::SLEEPER];
    let answer = home.mw(args).exits(0).json();
    assert!(!alive(before), "the old process is still alive");
    assert_eq!(answer["status"], "running", "{answer}");
    let task = home.status("dev");
    assert_eq!(task["status"], "running", "{task}");
    assert_ne!(task["pid"], before, "{task}");
}

#[test]
fn a_running_task_is_not_restarted_for_a_different_command() {
    let home = home();
    let id = home.start_with(&["--name", "dev"], children::SLEEPER);
    let pid = home.pid(&id);
    let place = home.state().to_owned();
    let place = place.to_str().unwrap();
    let restart = ["start", "--json", "--name", "dev", "--if-running", "restart"];
    for other in [&["touch ran"][..], &["--cwd", place, children::SLEEPER]] {
        let error = home.mw(restart.iter().chain(other)).refusal(6);
        assert!(error["message"].to_string().contains("another command or directory"), "{error}");
    }
    assert!(alive(pid) && !home.has_file("ran"));
    assert_eq!(home.status(&id)["runs"], 1);
}

#[test]
fn a_name_is_free_when_its_task_has_ended() {
    let home = home();
    for code in [3, 4] {
        let id = home.start_with(&["--name", "build"], &format!("exit {code}"));
        assert_eq!(home.ended(&id)["exit_code"], code);
    }
    assert_eq!(home.status("build")["exit_code"], 4, "a name refers to its newest task");
}

#[test]
fn a_queued_task_holds_its_name() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let _first = home.start(children::SLEEPER);
    let _second = home.start_with(&["--name", "dev"], "true");
    let _ = home.mw(["start", "--json", "--name", "dev", "true"]).refusal(6);
}

#[test]
fn two_sessions_can_use_the_same_name() {
    let home = home();
    let mut ids = Vec::new();
    for session in ["one", "two"] {
        let args = ["start", "--json", "--name", "dev", children::SLEEPER];
        let outcome = home.command(args).session(session).run().exits(0);
        ids.push(outcome.json()["id"].clone());
    }
    for (session, id) in ["one", "two"].iter().zip(&ids) {
        let task = home.command(["status", "--json", "dev"]).session(session).run().exits(0).json();
        assert_eq!(&task["id"], id);
    }
    // Outside a session the name is ambiguous.
    let _ = home.mw(["status", "--json", "dev"]).refusal(5);
}

#[test]
fn only_one_of_several_concurrent_starts_gets_the_name() {
    let home = home();
    let args = ["start", "--json", "--name", "dev", children::SLEEPER];
    let both: Vec<_> = (0..6).map(|_| home.command(args).spawn()).collect();
    let mut codes: Vec<_> = both.into_iter().map(|one| one.wait().code).collect();
    codes.sort_unstable();
    assert_eq!(codes, [Some(0), Some(6), Some(6), Some(6), Some(6), Some(6)]);
    assert_eq!(home.list().len(), 1);
}

#[test]
fn a_name_that_looks_like_an_id_or_handle_is_refused() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let suffix = id.strip_prefix("bash-").unwrap();
    let names =
        [&id, suffix, &id[..9], "bash-", "bash_1", "bash_77", "agent_1", "task_20260209_143022_pytest"];
    for name in names {
        let refusal = home.mw(["start", "--json", "--name", name, "touch ran"]).refusal(2);
        assert!(refusal.to_string().contains(name), "{refusal}");
    }
    for handle in [&id, suffix, &id[..9], "bash-", "bash_1"] {
        assert_eq!(home.status(handle)["id"], id.as_str(), "{handle}");
    }
    assert!(!home.has_file("ran"));
    let _ = home.start_with(&["--name", "frontend"], "true");
}

#[test]
fn a_named_task_is_shown_with_its_name_first() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let done = home.start_with(&["--name", "quick"], "true");
    let waited = home.mw(["wait", "quick"]).ok();
    assert!(waited.contains(&format!("quick ({done}) completed")), "{waited}");
    assert!(waited.trim_end().ends_with("true"), "{waited}");
    let id = home.start_with(&["--name", "web"], children::SLEEPER);
    let run = home.command(["run", "--at-capacity", "queue", "--name", "next", "true"]).spawn();
    let first = mw_testkit::wait_until(mw_testkit::SOON, "the tasks in the slots are named", || {
        Some(run.stderr_text()).filter(|said| said.contains("slots are in use"))
    });
    assert!(first.contains("next is queued") && first.contains("(web)"), "{first}");
    let killed = home.mw(["kill", "web"]).ok();
    assert!(killed.starts_with(&format!("web ({id}) cancelled: SIGTERM")), "{killed}");
    assert_eq!(run.wait().code, Some(0));
}

/// People know their tasks by name, and programs by id.
#[test]
fn an_error_has_the_given_name_and_the_id() {
    let home = home();
    let id = home.start_with(&["--name", "web"], "exit 3");
    home.ended(&id);
    let message = |words: &[&str]| home.mw(words).refusal(6)["message"].as_str().unwrap().to_owned();
    assert_eq!(
        message(&["input", "--json", "web", "x"]),
        format!("web ({id}) has failed: it is not running")
    );
    assert_eq!(message(&["input", "--json", &id, "x"]), format!("{id} has failed: it is not running"));
    assert_eq!(
        message(&["input", "--json", "bash_1", "x"]),
        format!("bash_1 ({id}) has failed: it is not running")
    );
    assert_eq!(message(&["attach", "--json", "web"]), format!("web ({id}) has no input to attach to"));
    let refused = home.mw(["resume", "--json", "web", "x"]).refusal(2);
    let said = refused["message"].as_str().unwrap();
    assert!(said.starts_with(&format!("web ({id}) is not an agent's task")), "{said}");
}
