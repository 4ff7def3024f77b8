//! Sources of settings, their precedence, and the default file.

use std::fs;
use std::path::PathBuf;

use mw_testkit::{Home, children};

use crate::home;
use crate::settings::{setting, variable, with_file};
use crate::settings_refused::assert_refused;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");

/// Writes a file into the working directory.
fn written(home: &Home, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = home.work().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn each_layer_takes_precedence_over_the_previous_one() {
    let home = home();
    let expect = |home: &Home, value: &str, origin: &str| {
        let (found, source) = setting(home, "run.timeout");
        assert_eq!(found, value);
        assert!(source.contains(origin), "{source}");
    };
    expect(&home, "0", "default");
    let home = home.with_env("MEANWHILE_PROFILE", "opta");
    expect(&home, "5m", "profile opta");
    fs::create_dir_all(home.user().join(".config/meanwhile")).unwrap();
    fs::write(home.user().join(".config/meanwhile/config.toml"), "[run]\ntimeout = \"200s\"\n").unwrap();
    expect(&home, "200s", ".config/meanwhile/config.toml:2");
    written(&home, ".meanwhile.toml", "[run]\n# a comment\ntimeout = 100\n");
    expect(&home, "100s", ".meanwhile.toml:3");
    let home = home.with_env(variable("run.timeout"), "1h");
    expect(&home, "1h", "MEANWHILE_RUN_TIMEOUT");
    let task = home.ended(&home.start_with(&["--timeout", "300ms"], children::SLEEPER));
    assert_eq!(task["status"], "timed_out", "the option takes precedence");
}

#[test]
fn a_variable_names_the_user_file() {
    let home = with_file("[queue]\nmax_running = 3\n");
    let other = written(&home, "other.toml", "[queue]\nmax_running = 4\n");
    let home = home.with_env("MEANWHILE_CONFIG", &other);
    let (value, source) = setting(&home, "queue.max_running");
    assert_eq!((value.as_str(), source), ("4", format!("{}:2", other.display())));
    let config = home.mw(["config", "--json"]).exits(0).json();
    assert_eq!(config["file"], other.to_str().unwrap());
    let home = home.with_env("MEANWHILE_CONFIG", "");
    assert_eq!(setting(&home, "queue.max_running").0, "3", "an empty variable names no file");
}

#[test]
fn a_missing_settings_file_is_refused_when_named() {
    assert_refused(&home().with_env("MEANWHILE_CONFIG", "/nowhere/at all.toml"), &["/nowhere/at all.toml"]);
}

#[test]
fn an_unreadable_file_is_refused_by_name() {
    let home = home();
    fs::create_dir_all(home.user().join(".config/meanwhile/config.toml")).unwrap();
    assert_refused(&home, &[".config/meanwhile/config.toml"]);
}

#[test]
fn a_file_that_is_not_utf8_is_refused_by_name() {
    let home = home();
    let path = written(&home, "latin.toml", b"[run]\n# caf\xe9\n");
    assert_refused(&home.with_env("MEANWHILE_CONFIG", path), &["latin.toml:2:", "UTF-8"]);
}

#[test]
fn control_characters_of_a_refused_value_are_not_printed() {
    let outcome = with_file("\"\\u001b[2J\" = 1\n").mw(["start", "true"]);
    let text = outcome.exits(2).to_string();
    assert!(text.contains("config.toml:1:") && !text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn json_has_the_origin_of_a_value() {
    let home = with_file("\n[queue]\nmax_running = 3\n");
    let config = home.mw(["config", "--json"]).exits(0).json();
    let settings = config["settings"].as_array().unwrap();
    let found = settings.iter().find(|setting| setting["name"] == "queue.max_running").unwrap();
    assert_eq!((&found["origin"], &found["line"]), (&"user".into(), &3.into()), "{found}");
    assert_eq!(found["file"], config["file"]);
    let other = settings.iter().find(|setting| setting["name"] == "output.cap").unwrap();
    assert_eq!((&other["origin"], &other["file"]), (&"default".into(), &None::<String>.into()), "{other}");
}

#[test]
fn a_misspelt_variable_is_a_warning() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNING", "3").with_env("MEANWHILE_TASK_ID", "x");
    let config = home.mw(["config", "--json"]).exits(0).json();
    assert_eq!(config["unknown_variables"], serde_json::json!(["MEANWHILE_QUEUE_MAX_RUNING"]));
    assert!(home.mw(["config"]).ok().contains("MEANWHILE_QUEUE_MAX_RUNING is set"));
    let started = home.mw(["start", "true"]).exits(0);
    let said = started.stderr_text();
    assert!(said.contains("MEANWHILE_QUEUE_MAX_RUNING is set, but no such setting exists"), "{said}");
    assert!(said.contains("did you mean MEANWHILE_QUEUE_MAX_RUNNING?"), "{said}");
    assert!(!said.contains("TASK_ID"), "{said}");
}

#[test]
fn the_default_file_changes_nothing() {
    let text = home().mw(["config", "--default"]).ok();
    let settings = |home: &Home| home.mw(["config", "--json"]).exits(0).json()["settings"].clone();
    assert_eq!(settings(&with_file(&text)), settings(&home().gated()));
}

#[test]
fn the_default_file_has_every_setting_with_its_default() {
    let text = home().mw(["config", "--default"]).ok();
    let bare =
        |line: &str| line.strip_prefix('#').filter(|rest| !rest.starts_with([' ', '\n'])).map(str::to_owned);
    // The items of a list are indented.
    let is_item = |line: &str| line.starts_with("#  \"");
    let lines: Vec<_> =
        text.lines()
            .map(|line| {
                if is_item(line) {
                    line[1..].to_owned()
                } else {
                    bare(line).unwrap_or_else(|| line.to_owned())
                }
            })
            .collect();
    let home_with_all = with_file(&lines.join("\n"));
    let defaults = home().gated().mw(["config", "--json"]).exits(0).json();
    for default in defaults["settings"].as_array().unwrap() {
        let name = default["name"].as_str().unwrap();
        let (value, source) = setting(&home_with_all, name);
        assert_eq!(default["value"], value, "{name}");
        assert!(source.contains("config.toml"), "{name} comes from {source}");
        assert!(text.contains(default["accepts"].as_str().unwrap()), "{name}");
    }
}

#[test]
fn the_default_file_is_printed_even_if_settings_are_refused() {
    let home = with_file("[queue\n").with_env(variable("output.cap"), "lots");
    assert!(home.mw(["config", "--default"]).ok().contains("[queue]"));
    let json = home.mw(["config", "--default", "--json"]).exits(0).json();
    assert!(json["default_file"].as_str().unwrap().contains("[queue]"));
    assert!(!home.state().exists());
}

#[test]
fn the_documentation_shows_the_default_file() {
    let page = fs::read_to_string(PAGE).unwrap();
    let block = format!("```toml\n{}```\n", home().mw(["config", "--default"]).ok());
    assert!(page.contains(&block), "copy the output of `mw config --default` into docs/configuration.md");
}
