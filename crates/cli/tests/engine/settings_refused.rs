//! Invalid settings are refused by name, and nothing is changed.

use mw_testkit::Home;

use crate::home;
use crate::settings::{as_file, setting, variable, with_file};

/// Values that a setting does not accept, however they are given.
const BAD: [(&str, &[&str]); 16] = [
    ("profile", &["Opta", "none", "1", ""]),
    ("queue.max_running", &["0", "10001", "-1", "many", "1.5"]),
    ("queue.max_running_total", &["-1", "100001", "few"]),
    ("queue.at_capacity", &["maybe", "Queue", "1"]),
    ("output.cap", &["1", "511", "1025GiB", "-5", "lots", "10 parsecs"]),
    ("output.log_header", &["perhaps", "1", "yes"]),
    ("stall.ms", &["-1", "86400001", "soon", "45s"]),
    ("kill.grace_ms", &["-1", "3600001", "long", "5s"]),
    ("kill.timeout_grace_ms", &["-1", "3600001", "short", "3s"]),
    ("run.timeout", &["never", "-1s", "366d", "5 parsecs"]),
    ("run.shell", &["", " "]),
    ("limits.memory", &["1", "1048575", "1025TiB", "-5", "lots"]),
    ("limits.cpu_time", &["never", "-1s", "3651d"]),
    ("limits.cpus", &["0.001", "10001", "-1", "1.2345", "many"]),
    ("limits.pids", &["-1", "4194305", "1.5", "few"]),
    ("wait.fallback_ms", &["9", "60001", "0", "-1", "often"]),
];

/// Values at the limit of their range.
const BARELY_GOOD: [(&str, &[&str]); 12] = [
    ("queue.max_running", &["1", "10000"]),
    ("queue.max_running_total", &["0", "100000"]),
    ("output.cap", &["0", "512", "1099511627776"]),
    ("stall.ms", &["0", "86400000"]),
    ("kill.grace_ms", &["0", "3600000"]),
    ("kill.timeout_grace_ms", &["0", "3600000"]),
    ("run.timeout", &["0", "365d"]),
    ("limits.memory", &["0", "1048576", "1125899906842624"]),
    ("limits.cpu_time", &["0", "3650d"]),
    ("limits.cpus", &["0", "0.01", "1.5", "10000"]),
    ("limits.pids", &["0", "1", "4194304"]),
    ("wait.fallback_ms", &["10", "60000"]),
];

/// Returns the description of accepted values of a setting.
fn accepted(name: &str) -> String {
    let config = home().mw(["config", "--json"]).exits(0).json();
    let found = config["settings"].as_array().unwrap().iter().find(|setting| setting["name"] == name);
    found.unwrap()["accepts"].as_str().unwrap().to_owned()
}

/// Checks that starts are refused with the name of the setting, and change nothing.
#[track_caller]
pub(crate) fn assert_refused(home: &Home, named: &[&str]) {
    let error = home.mw(["start", "--json", "touch ran"]).refusal(2);
    let message = error["message"].as_str().unwrap();
    for word in named {
        assert!(message.contains(word), "{word} is not named: {error}");
    }
    assert!(!home.has_file("ran"));
    assert!(!home.state().exists(), "something was written: {error}");
}

#[test]
fn an_invalid_value_in_a_variable_is_refused_by_name() {
    for (name, values) in BAD {
        let accepted = accepted(name);
        for value in values {
            let home = home().with_env(variable(name), value);
            assert_refused(&home, &[&variable(name), name, &accepted]);
        }
    }
}

#[test]
fn an_invalid_value_in_the_file_is_refused_by_name() {
    for (name, values) in BAD {
        let accepted = accepted(name);
        for value in values {
            let text = as_file(name, value);
            let line = format!("config.toml:{}:", text.lines().count());
            assert_refused(&with_file(&text), &[name, &line, &accepted]);
        }
    }
}

#[test]
fn a_value_at_the_limit_of_its_range_is_accepted() {
    for (name, values) in BARELY_GOOD {
        for value in values {
            for home in [home().with_env(variable(name), value), with_file(&as_file(name, value))] {
                assert_eq!(setting(&home, name).0, *value, "{name}");
            }
        }
    }
}

#[test]
fn an_unknown_key_is_refused_by_name() {
    for (text, name, line) in [
        ("[queue]\nmax_runing = 3\n", "queue.max_runing", 2),
        ("[output]\ncap = \"1MiB\"\n\ncolour = \"red\"\n", "output.colour", 4),
        ("[cues]\nmax_running = 3\n", "cues.max_running", 2),
        ("# first\nqueue.max.running = 3\n", "queue.max", 2),
    ] {
        assert_refused(&with_file(text), &[name, &format!("config.toml:{line}:")]);
    }
}

#[test]
fn a_key_outside_of_any_section_is_refused_by_name() {
    assert_refused(&with_file("max_running = 3\n"), &["max_running", "config.toml"]);
}

#[test]
fn a_value_of_the_wrong_type_is_refused_by_name() {
    for (text, name) in [
        ("[queue]\nmax_running = { much = 3 }\n", "queue.max_running"),
        ("[queue]\nmax_running = [1, 2]\n", "queue.max_running"),
        ("[queue]\nmax_running = \"3\"\n", "queue.max_running"),
        ("[queue]\nmax_running = 3.0\n", "queue.max_running"),
        ("[[queue]]\nmax_running = 3\n", "queue"),
        ("[output]\ncap = 2048.5\n", "output.cap"),
        ("[output]\nlog_header = \"true\"\n", "output.log_header"),
        ("[run]\nshell = [\"/bin/sh\"]\n", "run.shell"),
        ("[stall]\npatterns = \"*?\"\n", "stall.patterns"),
        ("[stall]\npatterns = [\"*?\", 3]\n", "stall.patterns"),
        ("[output]\nlog_header = 1\n", "output.log_header"),
        ("[stall]\nms = 1979-05-27\n", "stall.ms"),
    ] {
        assert_refused(&with_file(text), &[name, "config.toml"]);
    }
}

#[test]
fn a_file_that_is_not_toml_is_refused_by_name() {
    for (text, line) in [("[queue\n", 1), ("\nqueue.max_running 3", 2), ("\u{0}", 1), ("a = 1\na = 2\n", 2)] {
        assert_refused(&with_file(text), &[&format!("config.toml:{line}:")]);
    }
}

#[test]
fn a_variable_that_is_not_utf8_is_refused_by_name() {
    use std::os::unix::ffi::OsStrExt;

    let home = home().with_env(variable("run.shell"), std::ffi::OsStr::from_bytes(b"/bin/\xff"));
    assert_refused(&home, &["MEANWHILE_RUN_SHELL"]);
}

#[test]
fn start_policy_and_session_commands_refuse_bad_settings() {
    let home = home().with_env(variable("queue.max_running"), "0");
    for args in [
        &["start", "--json", "true"][..],
        &["run", "--json", "true"],
        &["restart", "--json", "x"],
        &["agent", "--json", "hello"],
        &["policy", "--json", "true"],
        &["session", "--json", "run", "work", "--", "true"],
    ] {
        let error = home.mw(args).refusal(2);
        assert!(error.to_string().contains("MEANWHILE_QUEUE_MAX_RUNNING"), "{args:?}: {error}");
    }
    assert!(!home.state().exists());
}

#[test]
fn an_empty_file_equals_a_missing_file() {
    let settings = |home: &Home| home.mw(["config", "--json"]).exits(0).json()["settings"].clone();
    assert_eq!(settings(&with_file("")), settings(&home().gated()));
}
