//! A project file can make settings stricter but never looser.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use mw_testkit::{Home, children, need_root};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;

use crate::home;
use crate::settings::{as_file, setting, setting_of, variable, with_file};
use crate::settings_refused::assert_refused;

const FILE: &str = ".meanwhile.toml";

/// Puts a project's file into a directory.
fn put(directory: &Path, text: &str) {
    fs::create_dir_all(directory).unwrap();
    fs::write(directory.join(FILE), text).unwrap();
}

/// Returns a home whose working directory has this project file.
fn with_project(text: &str) -> Home {
    let home = home();
    put(&home.work(), text);
    home
}

fn config_in(home: &Home, directory: &Path) -> Value {
    home.command(["config", "--json"]).cwd(directory).run().exits(0).json()
}

/// For each setting that a project can change: the value of the user, and a stricter one.
const STRICTER: [(&str, &str, &str); 18] = [
    ("queue.max_running", "8", "2"),
    ("queue.max_running_total", "0", "5"),
    ("queue.max_running_total", "6", "5"),
    ("queue.at_capacity", "queue", "reject"),
    ("output.cap", "0", "2048"),
    ("output.cap", "4096", "2048"),
    ("output.log_header", "false", "true"),
    ("stall.ms", "0", "1000"),
    ("stall.ms", "45000", "1000"),
    ("kill.grace_ms", "5000", "0"),
    ("kill.timeout_grace_ms", "3000", "100"),
    ("run.timeout", "0", "1m"),
    ("run.timeout", "90s", "1m"),
    ("limits.memory", "0", "67108864"),
    ("limits.memory", "67108865", "67108864"),
    ("limits.cpu_time", "0", "1m"),
    ("limits.cpus", "2", "1.5"),
    ("limits.pids", "200", "100"),
];

#[test]
fn a_stricter_project_value_is_used() {
    for (name, users, projects) in STRICTER {
        let home = with_file(&as_file(name, users));
        put(&home.work(), &as_file(name, projects));
        let (value, source) = setting(&home, name);
        assert_eq!(value, projects, "{name}");
        assert!(source.starts_with("project ") && source.ends_with(".meanwhile.toml:2"), "{name}: {source}");
    }
}

#[test]
fn a_looser_project_value_is_ignored_with_a_warning() {
    for (name, stricter, looser) in STRICTER.map(|(name, users, projects)| (name, projects, users)) {
        let home = with_file(&as_file(name, stricter));
        put(&home.work(), &as_file(name, looser));
        let config = config_in(&home, &home.work());
        let (value, source) = setting_of(&config, name);
        assert_eq!(value, stricter, "{name}");
        assert!(source.contains("config.toml"), "{name}: {source}");
        let asked = &config["not_taken"][0];
        assert_eq!(
            (&asked["name"], &asked["value"], &asked["line"]),
            (&name.into(), &looser.into(), &2.into())
        );
        let text = home.mw(["config"]).ok();
        assert!(text.contains(&format!("{name} = {looser} ignored, because it is less strict")), "{text}");
    }
}

#[test]
fn project_settings_without_a_strictness_order_are_refused() {
    for (name, value) in
        [("profile", "opta"), ("run.shell", "/bin/sh"), ("wait.fallback_ms", "100"), ("stall.patterns", "*")]
    {
        let text = as_file(name, value);
        let line = format!("{FILE}:{}:", text.lines().count());
        assert_refused(&with_project(&text), &[name, &line, "project"]);
    }
}

#[test]
fn invalid_project_settings_are_refused_by_name() {
    for (text, named) in [
        ("[queue]\nmax_running = 0\n", ["queue.max_running", ".meanwhile.toml:2:", "1 to 10000"]),
        ("[queue]\nmax_runing = 3\n", ["queue.max_runing", ".meanwhile.toml:2:", "no such setting"]),
        ("[output]\ncap = true\n", ["output.cap", ".meanwhile.toml:2:", "512"]),
        ("[behavior]\nmaxBackgroundTasks = 3\n", ["behavior.maxBackgroundTasks", ".meanwhile.toml:2:", ""]),
        ("\n\n[queue", ["", ".meanwhile.toml:3:", ""]),
    ] {
        assert_refused(&with_project(text), &named);
    }
}

#[test]
fn a_project_applies_to_its_subdirectories() {
    let home = with_project("[queue]\nmax_running = 2\n");
    let below = home.work().join("src/deep");
    fs::create_dir_all(&below).unwrap();
    assert_eq!(setting_of(&config_in(&home, &below), "queue.max_running").0, "2");
    assert_eq!(setting_of(&config_in(&home, &home.user()), "queue.max_running").0, "8");
    // Only the nearest project file is used.
    put(&home.work().join("src"), "[output]\ncap = 2048\n");
    let config = config_in(&home, &below);
    assert_eq!(setting_of(&config, "queue.max_running").0, "8");
    assert_eq!(setting_of(&config, "output.cap").0, "2048");
    assert_eq!(config["project_file"], home.work().join("src").join(FILE).to_str().unwrap());
}

#[test]
fn a_project_file_above_the_users_home_does_not_apply_inside_it() {
    let home = home();
    put(home.work().parent().unwrap(), "[queue]\nmax_running = 1\n");
    assert_eq!(setting(&home, "queue.max_running").0, "1");
    let below = home.user().join("project");
    fs::create_dir_all(&below).unwrap();
    assert_eq!(setting_of(&config_in(&home, &below), "queue.max_running").0, "8");
    put(&home.user(), "[queue]\nmax_running = 3\n");
    assert_eq!(setting_of(&config_in(&home, &below), "queue.max_running").0, "3");
}

#[test]
fn the_state_directory_is_not_a_project() {
    let home = home();
    home.ended(&home.start("true"));
    put(home.state(), "[queue]\nmax_running = 1\n");
    assert_eq!(setting_of(&config_in(&home, home.state()), "queue.max_running").0, "8");
    assert_eq!(setting_of(&config_in(&home, &home.state().join("tasks")), "queue.max_running").0, "8");
}

#[test]
fn a_project_value_applies_to_its_queued_tasks() {
    let home = with_project("[queue]\nmax_running = 1\n");
    let first = home.start(&children::gated("go", 0));
    for number in 1..=3 {
        let id = home.start(&format!("mkdir run && echo {number} >> order; sleep 0.1; rmdir run"));
        assert_eq!(home.status(&id)["status"], "pending");
    }
    assert_eq!(home.status(&first)["status"], "running");
    home.open("go");
    // The next tasks are started from another directory, with the limit of their start.
    assert_eq!(home.lines_in("order", 3), "1\n2\n3\n", "all have run one after the other");
}

#[test]
fn variables_and_options_take_precedence_over_a_project() {
    let home = with_project("[run]\ntimeout = \"400ms\"\n").with_env(variable("run.timeout"), "1h");
    assert_eq!(setting(&home, "run.timeout").0, "1h");
    let home = with_project("[output]\ncap = 512\n");
    let id = home.start_with(&["--cap", "0"], &children::numbers(1000));
    assert_eq!(home.ended(&id)["dropped_bytes"], 0);
}

#[test]
fn a_special_or_too_long_project_file_is_refused_without_blocking() {
    let pipe = home();
    mknodat(CWD, pipe.work().join(FILE), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let directory = home();
    fs::create_dir(directory.work().join(FILE)).unwrap();
    let long = with_project(&"#".repeat(2 << 20));
    for home in [pipe, directory, long] {
        assert_refused(&home, &[FILE]);
    }
}

#[test]
fn project_files_of_other_users_in_shared_directories_are_ignored() {
    need_root();
    let home = with_project("[queue]\nmax_running = 1\n");
    std::os::unix::fs::chown(home.work().join(FILE), Some(54_321), None).unwrap();
    assert_eq!(setting(&home, "queue.max_running").0, "1", "it applies in a directory that is not shared");
    fs::set_permissions(home.work(), PermissionsExt::from_mode(0o1777)).unwrap();
    assert_eq!(setting(&home, "queue.max_running").0, "8");
}
