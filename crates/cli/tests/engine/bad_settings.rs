//! Bad settings: commands that read or kill work with a warning, commands that start are refused.

use mw_testkit::{Home, children};

use crate::home;

/// Creates a home with a running task, and then adds a mistake to its settings.
fn broken(text: &str) -> (Home, String) {
    let home = home();
    let id = home.start_with(&["--name", "web"], children::SLEEPER);
    let folder = home.user().join(".config/meanwhile");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), text).unwrap();
    (home, id)
}

#[test]
fn read_and_kill_commands_work_with_a_warning() {
    for text in ["[queue]\nmax_runing = 3\n", "[queue\n", "[queue]\nmax_running = \"many\"\n"] {
        let (home, id) = broken(text);
        let commands: [(&[&str], i32); 8] = [
            (&["list"], 0),
            (&["status", "web"], 0),
            (&["output", "web"], 0),
            (&["wait", "web", "--timeout", "1ms"], 124),
            (&["config"], 0),
            (&["completions", "bash"], 0),
            (&["watch", "--no-follow"], 0),
            (&["kill", "web"], 0),
        ];
        for (words, code) in commands {
            let said = home.mw(words).exits(code).stderr_text();
            assert!(said.contains("warning: ") && said.contains("config.toml:"), "{words:?}: {said}");
        }
        assert_eq!(home.status(&id)["status"], "cancelled");
    }
}

#[test]
fn start_commands_are_refused_with_a_suggestion() {
    let (home, _) = broken("[queue]\nmax_runing = 3\n");
    for words in [&["start", "true"][..], &["run", "true"], &["restart", "web"]] {
        let said = home.mw(words).exits(2).stderr_text();
        assert!(said.starts_with("error: ") && said.contains("config.toml:2: queue.max_runing"), "{said}");
        assert!(said.contains("hint: did you mean queue.max_running?"), "{said}");
    }
    let in_session = home.command(["kill", "web"]).session("agent").run().exits(2).stderr_text();
    assert!(in_session.starts_with("error: "), "the settings decide what an agent may do: {in_session}");
}

#[test]
fn the_other_settings_still_apply() {
    let (home, _) = broken("[queue]\nmax_runing = 3\nmax_running = 5\n");
    let answer = home.mw(["config", "--json"]).exits(0).json();
    let settings = answer["settings"].as_array().unwrap();
    let setting = settings.iter().find(|setting| setting["name"] == "queue.max_running").unwrap();
    assert_eq!(setting["value"], "5");
    let problem = &answer["problems"][0];
    assert!(problem["message"].as_str().unwrap().contains("queue.max_runing"), "{problem}");
}

#[test]
fn doctor_works_with_bad_settings() {
    let (home, _) = broken("[queue]\nmax_runing = 3\n");
    let answer = home.mw(["doctor", "--json"]).exits(1).json();
    let checks = answer["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "settings").unwrap();
    assert_eq!(check["verdict"], "problem");
    assert!(check["next"].as_str().unwrap().contains("did you mean queue.max_running?"), "{check}");
}
