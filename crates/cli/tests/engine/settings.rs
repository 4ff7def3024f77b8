//! Every setting takes effect, set by a variable or in the configuration file.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use mw_model::wire::LOG_FILE;
use mw_testkit::processes::voluntary_switches;
use mw_testkit::{Home, SOON, children, wait_until};
use serde_json::Value;

use crate::home;

/// Every setting. Each has a test whose name contains that of the setting and `takes_effect`.
const SETTINGS: [&str; 66] = [
    "profile",
    "mode",
    "theme",
    "queue.max_running",
    "queue.max_running_total",
    "queue.at_capacity",
    "output.cap",
    "output.log_header",
    "stall.ms",
    "stall.patterns",
    "kill.grace_ms",
    "kill.timeout_grace_ms",
    "session.grace_ms",
    "session.end",
    "session.kill_tasks",
    "run.timeout",
    "run.shell",
    "limits.memory",
    "limits.cpu_time",
    "limits.cpus",
    "limits.pids",
    "wait.fallback_ms",
    "wait.notify_after",
    "retention.max_age",
    "retention.max_tasks",
    "retention.max_disk",
    "retention.automatic",
    "redact.enabled",
    "redact.patterns",
    "hooks.before",
    "hooks.start",
    "hooks.exit",
    "hooks.stall",
    "hooks.ready",
    "hooks.reassign",
    "hooks.webhook",
    "confine.models",
    "confine.user",
    "hooks.desktop",
    "hooks.timeout_ms",
    "tools.reply_bytes",
    "tools.stream_bytes",
    "tools.longest_call",
    "tools.wait",
    "tools.no_background",
    "tools.notices",
    "chat.auto_wake",
    "chat.layout",
    "policy.ci_reads",
    "policy.writable",
    "approval.wait",
    "approval.keep",
    "agent.model",
    "agent.base_url",
    "agent.key_file",
    "agent.context_tokens",
    "agent.max_requests",
    "agent.max_calls",
    "agent.silence_ms",
    "subagent.max_running",
    "subagent.max_depth",
    "subagent.cancel_ms",
    "subagent.silence",
    "subagent.linger",
    "subagent.default",
    "notices.batch",
];

/// Returns the variable of a setting.
pub(crate) fn variable(name: &str) -> String {
    format!("MEANWHILE_{}", name.to_uppercase().replace('.', "_"))
}

/// Returns a home with this configuration file in the directory that `XDG_CONFIG_HOME` names.
pub(crate) fn with_file(text: &str) -> Home {
    let home = home().gated();
    let place = home.user().join("configuration");
    fs::create_dir_all(place.join("meanwhile")).unwrap();
    fs::write(place.join("meanwhile/config.toml"), text).unwrap();
    home.with_env("XDG_CONFIG_HOME", place)
}

/// Writes a setting as the file has it.
pub(crate) fn as_file(name: &str, value: &str) -> String {
    let bare = value.parse::<i64>().is_ok() || value.parse::<bool>().is_ok();
    let value = if bare { value.to_owned() } else { format!("{value:?}") };
    match name.split_once('.') {
        Some((section, key)) => format!("[{section}]\n{key} = {value}\n"),
        None => format!("{name} = {value}\n"),
    }
}

/// Returns two homes with a setting, one by the variable and one in the file. Checks that `mw config` shows it.
#[track_caller]
pub(crate) fn both_ways(name: &str, value: &str) -> [Home; 2] {
    let by_variable = home().gated().with_env(variable(name), value);
    let in_file = with_file(&as_file(name, value));
    for (home, source) in [(&by_variable, variable(name)), (&in_file, "config.toml".to_owned())] {
        let (shown, from) = setting(home, name);
        assert_eq!(shown, value, "{name}");
        assert!(from.contains(&source), "{name} comes from {from}");
    }
    [by_variable, in_file]
}

/// Returns a setting's value and its source.
#[track_caller]
pub(crate) fn setting(home: &Home, name: &str) -> (String, String) {
    setting_of(&home.mw(["config", "--json"]).exits(0).json(), name)
}

/// Returns a setting's value and its source from the output of `mw config`.
#[track_caller]
pub(crate) fn setting_of(config: &Value, name: &str) -> (String, String) {
    let found = config["settings"].as_array().unwrap().iter().find(|setting| setting["name"] == name);
    let found = found.unwrap_or_else(|| panic!("no {name}: {config}"));
    let text = |field: &str| found[field].as_str().unwrap().to_owned();
    assert_eq!(text("variable"), variable(name));
    (text("value"), text("source"))
}

#[test]
fn the_list_of_settings_in_the_tests_is_complete() {
    let config = home().mw(["config", "--json"]).exits(0).json();
    let names =
        config["settings"].as_array().unwrap().iter().map(|setting| setting["name"].as_str().unwrap());
    assert_eq!(names.collect::<BTreeSet<_>>(), BTreeSet::from(SETTINGS));
}

/// Returns the names of the functions in a directory of tests.
fn functions(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            names.extend(functions(&entry));
        } else if entry.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&entry).unwrap();
            let heads = text.lines().filter_map(|line| line.trim_start().strip_prefix("fn "));
            names.extend(heads.filter_map(|head| Some(head.split_once("()")?.0.to_owned())));
        }
    }
    names
}

#[test]
fn every_setting_has_a_test_that_it_takes_effect() {
    let tests = functions(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"));
    let is_tested = |setting: &&str| {
        let words = format!("_{}_", setting.replace('.', "_"));
        tests.iter().any(|test| test.contains("_take") && format!("_{test}_").contains(&words))
    };
    let untested: Vec<_> = SETTINGS.iter().filter(|setting| !is_tested(setting)).collect();
    assert_eq!(untested, Vec::<&&str>::new());
}

/// zidane has no such setting: its tasks end with their session.
#[test]
fn there_is_no_setting_to_keep_tasks_after_a_destroyed_agent() {
    for name in ["backgroundOnDestroy", "background_on_destroy"] {
        let home = with_file(&format!("profile = \"zidane\"\n{name} = true\n"));
        let refused = home.mw(["start", "--json", "true"]).refusal(2);
        assert!(refused["message"].as_str().unwrap().contains(name), "{refused}");
    }
}

#[test]
fn queue_max_running_takes_effect() {
    for home in both_ways("queue.max_running", "2") {
        let ids = [(); 3].map(|()| home.start(children::SLEEPER));
        let words = ids.map(|id| home.status(&id)["status"].clone());
        assert_eq!(words, ["running", "running", "pending"]);
    }
}

#[test]
fn queue_max_running_total_takes_effect() {
    for home in both_ways("queue.max_running_total", "1") {
        let start = |session: &str| {
            let outcome = home.command(["start", "--json", children::SLEEPER]).session(session).run();
            outcome.exits(0).json()["status"].clone()
        };
        assert_eq!([start("one"), start("two")], ["running", "pending"]);
    }
}

#[test]
fn queue_at_capacity_takes_effect() {
    for home in both_ways("queue.at_capacity", "reject") {
        let home = home.with_env(variable("queue.max_running"), "1");
        let _first = home.start(children::SLEEPER);
        let _ = home.mw(["start", "--json", "true"]).refusal(6);
        let answer = home.mw(["start", "--json", "--at-capacity", "queue", "true"]).exits(0).json();
        assert_eq!(answer["status"], "pending", "the option takes precedence: {answer}");
    }
}

#[test]
fn output_cap_takes_effect() {
    for home in both_ways("output.cap", "2048") {
        let id = home.start(&children::numbers(10_000));
        let task = home.ended(&id);
        let kept = task["output_bytes"].as_u64().unwrap() - task["dropped_bytes"].as_u64().unwrap();
        assert!(kept <= 2048, "{task}");
        let whole = home.ended(&home.start_with(&["--cap", "0"], &children::numbers(10_000)));
        assert_eq!(whole["dropped_bytes"], 0, "the option takes precedence: {whole}");
    }
    for written in ["2KiB", "2k"] {
        assert_eq!(setting(&with_file(&as_file("output.cap", written)), "output.cap").0, "2048");
    }
}

#[test]
fn output_log_header_takes_effect() {
    for home in both_ways("output.log_header", "true") {
        let id = home.start("echo one");
        home.ended(&id);
        let log = fs::read_to_string(home.task_dir(&id).join(LOG_FILE)).unwrap();
        assert_eq!(log.lines().filter(|line| line.starts_with("# ")).count(), 4, "{log}");
        assert!(log.ends_with("\none\n"), "{log}");
    }
}

/// Waits for the first stall event, and returns the id of its task.
fn stalled(home: &Home) -> String {
    wait_until(SOON, "a stall is reported", || {
        let events = home.mw(["watch", "--no-follow"]).exits(0).json_lines();
        let found = events.into_iter().find(|event| event["event"] == "stalled")?;
        Some(found["task"].as_str().unwrap().to_owned())
    })
}

#[test]
fn stall_ms_takes_effect() {
    // The default is 45 s, longer than this waits.
    for home in both_ways("stall.ms", "200") {
        let id = home.start("printf 'Continue? (y/n) '; exec sleep 600");
        assert_eq!(stalled(&home), id);
    }
}

#[test]
fn stall_patterns_take_effect() {
    let list = "[stall]\npatterns = [\"*speak, friend*\", \"*enter:\"]\n";
    let by_variable = home().with_env(variable("stall.patterns"), "*speak, friend*\n*enter:");
    for home in [by_variable, with_file(list)] {
        assert_eq!(setting(&home, "stall.patterns").0, "*speak, friend*\n*enter:");
        let home = home.with_env(variable("stall.ms"), "200");
        // This text no longer counts as a prompt, and its task is silent for longer than the one with a prompt.
        let _usual = home.start("printf 'Continue? (y/n) '; exec sleep 600");
        let ours = home.start("printf 'Speak, friend, and '; exec sleep 600");
        assert_eq!(stalled(&home), ours);
    }
}

#[test]
fn kill_grace_ms_takes_effect() {
    for home in both_ways("kill.grace_ms", "300") {
        // Other work may delay some kills, but the default of 5000 would delay all.
        wait_until(SOON, "a kill that takes less than the default", || {
            let id = home.start(children::STUBBORN);
            home.until_logged(&id, "ready");
            let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
            assert_eq!(receipt["signals"].as_array().map(Vec::len), Some(2), "{receipt}");
            let duration = receipt["duration_ms"].as_u64().unwrap();
            assert!(duration >= 300, "{receipt}");
            (duration < 4500).then_some(())
        });
    }
}

#[test]
fn kill_timeout_grace_ms_takes_effect() {
    for home in both_ways("kill.timeout_grace_ms", "300") {
        // A task that has not set its trap in time ends sooner, and a delayed one later: neither counts.
        wait_until(SOON, "a task that takes its time limit and the grace period", || {
            let task = home.ended(&home.start_with(&["--timeout", "500ms"], children::STUBBORN));
            assert_eq!(task["status"], "timed_out", "{task}");
            let duration = task["duration_ms"].as_u64().unwrap();
            // The default gives 3500.
            (800..3400).contains(&duration).then_some(())
        });
    }
}

#[test]
fn session_grace_ms_takes_effect() {
    for home in both_ways("session.grace_ms", "30") {
        // Other work may delay some ends, but the default of 10 s would delay all.
        wait_until(SOON, "a task that ends before the default", || {
            let quiet = "exec sleep 600 >/dev/null 2>&1";
            let host = home.command(["session", "run", "s", "--", "sh", "-c", quiet]).spawn();
            let started = home.command(["start", "--json", "sleep 600"]).session("s").run().json();
            let id = started["id"].as_str().unwrap().to_owned();
            let journal = home.task_dir(&id).join("journal.jsonl");
            wait_until(SOON, "the supervisor knows the host", || {
                fs::read_to_string(&journal).ok()?.contains("hosted").then_some(())
            });
            let _ = host.kill();
            let task = home.ended(&id);
            assert_eq!(task["status"], "cancelled", "{task}");
            (task["duration_ms"].as_u64().unwrap() < 9000).then_some(())
        });
    }
}

#[test]
fn session_kill_tasks_takes_effect() {
    for home in both_ways("session.kill_tasks", "false") {
        let start = |more: &[&str]| {
            let words = [&["start", "--json"][..], more, &["sleep 600"]].concat();
            let started = home.command(words).session("s").run().json();
            started["id"].as_str().unwrap().to_owned()
        };
        let (spared, asked) = (start(&[]), start(&["--lifetime", "session"]));
        let _ = home.mw(["session", "end", "s"]).exits(0);
        assert_eq!(home.status(&spared)["status"], "running");
        assert_eq!(home.status(&asked)["status"], "cancelled");
        home.mw(["kill", &spared]).ok();
    }
}

#[test]
fn run_timeout_takes_effect() {
    for home in both_ways("run.timeout", "400ms") {
        let task = home.ended(&home.start(children::SLEEPER));
        assert_eq!(task["status"], "timed_out", "{task}");
        let id = home.start_with(&["--timeout", "0"], &children::gated("go", 3));
        let other = home.start_with(&["--timeout", "700ms"], children::SLEEPER);
        assert_eq!(home.ended(&other)["status"], "timed_out");
        home.open("go");
        assert_eq!(home.ended(&id)["exit_code"], 3, "the option takes precedence");
    }
}

#[test]
fn run_shell_takes_effect() {
    let place = home();
    let shell = place.work().join("myshell");
    fs::write(&shell, "#!/bin/sh\necho \"shell $1: $2\"\n").unwrap();
    fs::set_permissions(&shell, PermissionsExt::from_mode(0o755)).unwrap();
    for home in both_ways("run.shell", shell.to_str().unwrap()) {
        let id = home.start("the script");
        home.ended(&id);
        assert_eq!(home.log(&id), b"shell -c: the script\n");
        let id = home.start_with(&["--shell", "/bin/sh"], "echo plain");
        home.ended(&id);
        assert_eq!(home.log(&id), b"plain\n", "the option takes precedence");
    }
}

#[test]
fn wait_fallback_ms_takes_effect() {
    for (restless, patient) in
        both_ways("wait.fallback_ms", "10").into_iter().zip(both_ways("wait.fallback_ms", "60000"))
    {
        let watch = |home: &Home| {
            let id = home.start("true");
            home.ended(&id);
            home.wait_until_empty(SOON);
            let watching = home.command(["watch"]).spawn();
            wait_until(SOON, "the watcher shows earlier events", || {
                watching.json_lines().iter().any(|event| event["event"] == "ended").then_some(())
            });
            watching
        };
        let (restless, patient) = (watch(&restless), watch(&patient));
        let (begun, before) = (voluntary_switches(restless.pid()), voluntary_switches(patient.pid()));
        wait_until(SOON, "the first watcher has polled a hundred times", || {
            (voluntary_switches(restless.pid()) >= begun + 100).then_some(())
        });
        let looked = voluntary_switches(patient.pid()) - before;
        assert!(looked < 20, "the second watcher polled {looked} times meanwhile");
    }
}

#[test]
fn a_variable_takes_precedence_over_the_file() {
    let home = with_file("[queue]\nmax_running = 3\n").with_env(variable("queue.max_running"), "1");
    let (value, source) = setting(&home, "queue.max_running");
    assert_eq!(value, "1");
    assert!(source.contains("MEANWHILE_QUEUE_MAX_RUNNING"), "{source}");
    let ids = [(); 2].map(|()| home.start(children::SLEEPER));
    assert_eq!(ids.map(|id| home.status(&id)["status"].clone()), ["running", "pending"]);
}

#[test]
fn the_queue_continues_with_the_settings_of_the_file() {
    let home = with_file("[queue]\nmax_running = 1\n");
    let _first = home.start(&children::gated("go", 0));
    for number in 1..=3 {
        let _ = home.start(&format!("mkdir run && echo {number} >> order; sleep 0.1; rmdir run"));
    }
    home.open("go");
    // The test only reads a file: no command of the test starts the next task.
    assert_eq!(home.lines_in("order", 3), "1\n2\n3\n", "all have run one after the other");
}
