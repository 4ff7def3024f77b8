//! Profiles: the values of each dialect, and its names for settings.

use std::fs;

use mw_model::wire::LOG_FILE;
use mw_testkit::{Home, children, need_program};

use crate::home;
use crate::settings::{both_ways, setting, variable, with_file};
use crate::settings_refused::assert_refused;

const PROFILES: [&str; 6] = ["neutral", "zidane", "mycode", "background-task", "opta", "co-cli"];

/// The values that each profile changes; all others are the defaults.
const FIGURES: [(&str, &str, &str); 11] = [
    ("zidane", "session.end", "kill"),
    ("opta", "session.end", "kill"),
    ("background-task", "retention.max_age", "0"),
    ("mycode", "queue.max_running", "10"),
    ("mycode", "run.shell", "bash"),
    ("opta", "queue.max_running", "5"),
    ("opta", "queue.at_capacity", "reject"),
    ("mycode", "retention.max_age", "1d"),
    ("opta", "run.timeout", "5m"),
    ("co-cli", "queue.max_running", "5"),
    ("co-cli", "output.log_header", "true"),
];

/// Aliases of settings in a profile, each with a value as written in the file and as shown.
const ALIASES: [(&str, &str, &str, &str, &str); 14] = [
    ("opta", "background.maxBufferSize", "4096", "tools.stream_bytes", "4096"),
    ("opta", "background.killOnSessionEnd", "false", "session.kill_tasks", "false"),
    ("zidane", "behavior.maxBackgroundTasks", "3", "queue.max_running", "3"),
    ("zidane", "behavior.backgroundOutputCap", "4096", "output.cap", "4096"),
    ("zidane", "behavior.backgroundStallWatchdogMs", "0", "stall.ms", "0"),
    ("zidane", "behavior.disableBackgroundTasks", "true", "tools.no_background", "true"),
    ("mycode", "maxConcurrentTasks", "3", "queue.max_running", "3"),
    ("mycode", "maxOutputSize", "\"1MiB\"", "output.cap", "1048576"),
    ("mycode", "taskRetention", "5000", "retention.max_age", "5s"),
    ("opta", "background.maxConcurrent", "20", "queue.max_running", "20"),
    ("opta", "background.defaultTimeout", "400", "run.timeout", "400ms"),
    ("co-cli", "background_max_concurrent", "3", "queue.max_running", "3"),
    ("co-cli", "background_task_retention_days", "2", "retention.max_age", "2d"),
    ("co-cli", "background_auto_cleanup", "false", "retention.automatic", "false"),
];

fn with_profile(name: &str) -> Home {
    home().with_env("MEANWHILE_PROFILE", name)
}

#[test]
fn every_profile_has_its_values_and_otherwise_the_defaults() {
    let all = |home: &Home| home.mw(["config", "--json"]).exits(0).json()["settings"].clone();
    let neutral = all(&home());
    for profile in PROFILES {
        let settings = all(&with_profile(profile));
        let (neutral, settings) = (neutral.as_array().unwrap(), settings.as_array().unwrap());
        assert_eq!(neutral.len(), settings.len());
        for (default, found) in neutral.iter().zip(settings) {
            let name = found["name"].as_str().unwrap();
            if name == "profile" {
                assert_eq!(found["value"], profile);
                continue;
            }
            let own = FIGURES.iter().find(|(whose, setting, _)| *whose == profile && *setting == name);
            match own {
                Some((_, _, figure)) => {
                    assert_eq!((&found["value"], &found["origin"]), (&(*figure).into(), &"profile".into()));
                    assert_eq!(found["source"], format!("profile {profile}"), "{name}");
                }
                None => assert_eq!(found, default, "{profile}"),
            }
        }
    }
}

#[test]
fn mycode_and_co_cli_use_the_home_directories_of_the_original_tools() {
    need_program("bash");
    for (profile, root) in [("mycode", ".mycode"), ("co-cli", ".co-cli"), ("opta", ".local/state/meanwhile")]
    {
        let home = home();
        let start = || home.command(["start", "--json", "true"]).without("MEANWHILE_HOME");
        let started = start().env("MEANWHILE_PROFILE", profile).run().exits(0).json();
        let log = home.user().join(root).join("tasks").join(started["id"].as_str().unwrap()).join(LOG_FILE);
        assert_eq!(started["output_path"], log.to_str().unwrap(), "{profile}");
        // `mw settle` and later commands find the task there.
        let ended =
            home.command(["wait", "--json", started["id"].as_str().unwrap()]).without("MEANWHILE_HOME");
        ended.env("MEANWHILE_PROFILE", profile).run().ok();
        // An explicit home takes precedence.
        let named = home.command(["start", "--json", "true"]).env("MEANWHILE_PROFILE", profile).run();
        assert!(
            named.exits(0).json()["output_path"]
                .as_str()
                .unwrap()
                .starts_with(home.state().to_str().unwrap())
        );
    }
    // The file selects the profile like the variable; the dialect of a server does not.
    let home = with_file("profile = \"mycode\"\n");
    let config = home.command(["config", "--json"]).without("MEANWHILE_HOME").run().exits(0).json();
    assert_eq!(config["home"], home.user().join(".mycode").to_str().unwrap());
}

#[test]
fn opta_runs_five_tasks_and_rejects_the_sixth() {
    let home = with_profile("opta");
    for _ in 0..5 {
        let id = home.start(children::SLEEPER);
        assert_eq!(home.status(&id)["status"], "running");
    }
    let _ = home.mw(["start", "--json", "true"]).refusal(6);
}

#[test]
fn mycode_runs_ten_tasks_in_bash() {
    need_program("bash");
    let home = with_profile("mycode");
    let ids = [(); 11].map(|()| home.start(children::SLEEPER));
    let words = ids.map(|id| home.status(&id)["status"].clone());
    assert_eq!(words.iter().filter(|word| *word == "running").count(), 10);
    assert_eq!(words[10], "pending");
    let id = with_profile("mycode");
    let task = id.start("echo \"${BASH_VERSION:+bash}\"");
    id.ended(&task);
    assert_eq!(id.log(&task), b"bash\n");
}

#[test]
fn co_cli_queues_the_sixth_task_and_writes_log_headers() {
    let home = with_profile("co-cli");
    let ids = [(); 6].map(|()| home.start(children::SLEEPER));
    assert_eq!(home.status(&ids[4])["status"], "running");
    assert_eq!(home.status(&ids[5])["status"], "pending");
    let log = fs::read_to_string(home.task_dir(&ids[0]).join(LOG_FILE)).unwrap();
    assert!(log.starts_with("# "), "{log}");
}

#[test]
fn the_setting_aliases_of_a_profile_are_accepted() {
    for (profile, alias, written, name, shown) in ALIASES {
        let home = with_file(&format!("profile = \"{profile}\"\n{alias} = {written}\n"));
        let (value, source) = setting(&home, name);
        assert_eq!(value, shown, "{alias}");
        assert!(source.ends_with("config.toml:2"), "{alias}: {source}");
        assert_eq!(setting(&home, "profile").0, profile);
    }
}

#[test]
fn the_setting_aliases_of_a_profile_are_refused_in_other_profiles() {
    for (profile, alias, written, name, _) in ALIASES {
        for other in PROFILES.iter().filter(|other| **other != profile) {
            let home = with_file(&format!("profile = \"{other}\"\n{alias} = {written}\n"));
            let error = home.mw(["start", "--json", "true"]).refusal(2);
            assert!(error["message"].as_str().unwrap().contains(alias), "{error}");
            let hint = error["hint"].as_str().unwrap();
            assert!(hint.contains(profile) && hint.contains(name), "{error}");
        }
    }
}

#[test]
fn the_setting_aliases_of_a_profile_have_its_ranges() {
    for (profile, alias, written, range) in [
        ("opta", "background.maxConcurrent", "21", "1 to 20"),
        ("opta", "background.maxConcurrent", "0", "1 to 20"),
        ("opta", "background.defaultTimeout", "-1", "milliseconds from 0"),
        ("opta", "background.defaultTimeout", "\"5m\"", "milliseconds from 0"),
        ("zidane", "behavior.maxBackgroundTasks", "0", "1 to 10000"),
        ("mycode", "maxOutputSize", "100", "512"),
        ("co-cli", "background_max_concurrent", "\"five\"", "1 to 10000"),
        ("co-cli", "background_task_retention_days", "3651", "days from 0 to 3650"),
        ("co-cli", "background_auto_cleanup", "1", "true or false"),
    ] {
        let home = with_file(&format!("profile = \"{profile}\"\n\n{alias} = {written}\n"));
        assert_refused(&home, &[alias, "config.toml:3:", range]);
    }
}

#[test]
fn the_alias_of_opta_for_the_time_limit_takes_effect() {
    let home = with_file("profile = \"opta\"\n[background]\ndefaultTimeout = 400\n");
    assert_eq!(home.ended(&home.start(children::SLEEPER))["status"], "timed_out");
}

#[test]
fn a_setting_and_its_alias_cannot_both_be_in_a_file() {
    let both = "profile = \"opta\"\nbackground.maxConcurrent = 3\nqueue.max_running = 4\n";
    assert_refused(&with_file(both), &["queue.max_running", "config.toml:3:", "line 2"]);
}

#[test]
fn the_variables_of_a_profile_apply_only_in_that_profile() {
    const OTHER: &str = "CO_BACKGROUND_MAX_CONCURRENT";
    let home = with_profile("co-cli").with_env(OTHER, "2");
    let (value, source) = setting(&home, "queue.max_running");
    assert_eq!(value, "2");
    assert!(source.contains(OTHER), "{source}");
    let home = home.with_env(variable("queue.max_running"), "3");
    assert_eq!(
        setting(&home, "queue.max_running").0,
        "3",
        "the variable of the setting itself takes precedence"
    );
    assert_eq!(setting(&with_profile("opta").with_env(OTHER, "2"), "queue.max_running").0, "5");
    assert_refused(&with_profile("co-cli").with_env(OTHER, "0"), &[OTHER, "queue.max_running", "1 to 10000"]);
}

#[test]
fn the_retention_variables_of_co_cli_apply_only_in_its_profile() {
    for (variable, given, name, shown) in [
        ("CO_BACKGROUND_TASK_RETENTION_DAYS", "3", "retention.max_age", "3d"),
        ("CO_BACKGROUND_AUTO_CLEANUP", "false", "retention.automatic", "false"),
    ] {
        let (value, source) = setting(&with_profile("co-cli").with_env(variable, given), name);
        assert_eq!(value, shown, "{variable}");
        assert!(source.contains(variable), "{source}");
        assert_ne!(setting(&with_profile("opta").with_env(variable, given), name).0, shown);
    }
}

#[test]
fn a_retention_alias_of_zero_days_keeps_all_tasks() {
    // The alias counts days, so a test cannot wait for any other value.
    let home = with_file("profile = \"co-cli\"\nbackground_task_retention_days = 0\n");
    let id = home.start("true");
    home.ended(&id);
    let expired = |home: &Home| home.mw(["clear", "--expired", "--json"]).exits(0).json()["cleared"].clone();
    assert_eq!(expired(&home), serde_json::json!([]));
    let home = home.with_env("MEANWHILE_RETENTION_MAX_AGE", "1ms");
    assert_eq!(expired(&home), serde_json::json!([id]));
}

#[test]
fn profile_takes_effect() {
    for home in both_ways("profile", "opta") {
        assert_eq!(setting(&home, "queue.max_running"), ("5".to_owned(), "profile opta".to_owned()));
    }
}

#[test]
fn a_variable_overrides_the_profile_of_the_file() {
    let home = with_file("profile = \"opta\"\n").with_env("MEANWHILE_PROFILE", "mycode");
    assert_eq!(setting(&home, "queue.max_running").0, "10");
    assert!(setting(&home, "profile").1.contains("MEANWHILE_PROFILE"));
}
