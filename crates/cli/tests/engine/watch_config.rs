//! `mw watch`, `mw config`, `mw completions`.

use mw_testkit::contract::has_fields;
use mw_testkit::{Home, SOON, children, wait_until};
use serde_json::Value;

use crate::home;

fn events(home: &Home, options: &[&str]) -> Vec<Value> {
    home.mw(["watch", "--no-follow"].iter().chain(options)).exits(0).json_lines()
}

fn event_names(events: &[Value], id: &str) -> Vec<String> {
    let of_task = events.iter().filter(|event| event["task"] == id);
    of_task.map(|event| event["event"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn events_of_a_task_are_in_order() {
    let home = home();
    let id = home.start("exit 3");
    home.ended(&id);
    let events = events(&home, &[]);
    for event in &events {
        has_fields(event, &["seq", "at", "task", "run", "event"]);
        assert_eq!(event["run"], 1, "{event}");
    }
    let event_names = event_names(&events, &id);
    let place = |word: &str| event_names.iter().position(|found| found == word);
    assert!(place("started").is_some() && place("started") < place("ended"), "{event_names:?}");
    assert_eq!(event_names.iter().filter(|word| *word == "ended").count(), 1, "{event_names:?}");
}

#[test]
fn starts_and_ends_can_be_printed_as_debug_log_lines() {
    let home = home().with_env("MEANWHILE_KILL_GRACE_MS", "60000");
    let id = home.start("true 'a \"b\"\nc'; exec sleep 600");
    let (short, pid) = (id.strip_prefix("bash-").unwrap(), home.pid(&id));
    home.mw(["kill", &id]).ok();
    let other = home.start("exit 3");
    home.ended(&other);
    let log = home.mw(["watch", "--no-follow", "--format", "debug"]).ok();
    let lines: Vec<_> = log.lines().collect();
    let started = format!(r#"bg[{short}] started: pid={pid} cmd="true 'a \"b\"\nc'; exec sleep 600""#);
    assert_eq!(lines[..2], [started, format!("bg[{short}] exited: killed (code=null, signal=SIGTERM)")]);
    let other = other.strip_prefix("bash-").unwrap();
    assert!(lines[2].starts_with(&format!("bg[{other}] started: pid=")), "{log}");
    assert_eq!(lines[3..], [format!("bg[{other}] exited: failed (code=3, signal=null)")]);
}

#[test]
fn event_numbers_increase() {
    let home = home();
    for _ in 0..3 {
        home.ended(&home.start("true"));
    }
    let seqs: Vec<_> = events(&home, &[]).iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert!(seqs.len() >= 9, "each task was reserved, was started and has ended: {seqs:?}");
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "{seqs:?}");
}

#[test]
fn watching_can_begin_at_an_event_number() {
    let home = home();
    home.ended(&home.start("true"));
    let middle = events(&home, &[]).last().unwrap()["seq"].as_u64().unwrap();
    let second = home.start("true");
    home.ended(&second);
    let later = events(&home, &["--from", &middle.to_string()]);
    assert!(later.iter().all(|event| event["seq"].as_u64().unwrap() >= middle), "{later:?}");
    assert!(event_names(&later, &second).contains(&"started".to_owned()), "{later:?}");
}

#[test]
fn watching_can_be_filtered_by_task() {
    let home = home();
    let (one, other) = (home.start("true"), home.start("true"));
    home.ended(&one);
    home.ended(&other);
    let found = events(&home, &["--task", &one]);
    assert!(!found.is_empty());
    assert!(found.iter().all(|event| event["task"] == one.as_str()), "{found:?}");
}

#[test]
fn a_watch_shows_later_events() {
    let home = home();
    let watching = home.command(["watch"]).spawn();
    let id = home.start(&children::gated("go", 0));
    wait_until(SOON, "the start is shown", || {
        event_names(&watching.json_lines(), &id).contains(&"started".to_owned()).then_some(())
    });
    home.open("go");
    wait_until(SOON, "the end is shown", || {
        event_names(&watching.json_lines(), &id).contains(&"ended".to_owned()).then_some(())
    });
    assert!(watching.runs());
    let _ = watching.kill();
}

#[test]
fn a_watch_exits_after_the_given_idle_time() {
    let home = home();
    home.ended(&home.start("true"));
    let outcome = home.mw(["watch", "--idle-exit", "300ms"]).exits(0);
    assert!(!outcome.json_lines().is_empty(), "{outcome}");
}

#[test]
fn a_kill_event_names_the_requester() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let _ = home.mw(["kill", &id]).ok();
    let events = events(&home, &["--task", &id]);
    let asked = events.iter().find(|event| event["event"] == "kill_requested");
    assert!(asked.is_some_and(|event| event["by"].is_string()), "{events:?}");
}

#[test]
fn settings_are_shown_with_their_source() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "3");
    let outcome = home.mw(["config"]).exits(0);
    let line = outcome.text().lines().find(|line| line.contains("max_running")).map(str::to_owned);
    let line = line.unwrap_or_else(|| panic!("{outcome}"));
    assert!(line.contains('3') && line.contains("MEANWHILE_QUEUE_MAX_RUNNING"), "{line}");
    let json = home.mw(["config", "--json"]).exits(0).json();
    assert!(json.to_string().contains("max_running"), "{json}");
}

#[test]
fn an_invalid_setting_is_refused() {
    for (name, value) in [
        ("MEANWHILE_QUEUE_MAX_RUNNING", "-1"),
        ("MEANWHILE_QUEUE_MAX_RUNNING", "many"),
        ("MEANWHILE_OUTPUT_CAP", "-5"),
        ("MEANWHILE_STALL_MS", "soon"),
    ] {
        let home = home();
        let error = home.command(["start", "--json", "touch ran"]).env(name, value).run().refusal(2);
        assert!(error.to_string().contains(name), "{error}");
        assert!(!home.has_file("ran"));
    }
}

#[test]
fn every_shell_has_completions() {
    let home = home();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = home.mw(["completions", shell]).ok();
        assert!(text.contains("mw") && text.contains("COMPLETE"), "{shell}: {text}");
    }
    let _ = home.mw(["completions", "--json", "tcsh"]).refusal(2);
    assert!(!home.state().exists(), "completions need no home");
}

#[test]
fn help_and_version_need_no_home() {
    let home = home();
    assert!(home.mw(["--version"]).ok().contains("mw"));
    assert!(home.mw(["--help"]).ok().contains("start"));
    for command in ["start", "run", "list", "status", "output", "wait", "kill", "input", "attach"] {
        assert!(!home.mw([command, "--help"]).ok().is_empty());
    }
    assert!(!home.state().exists());
}
