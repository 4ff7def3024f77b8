//! Foreground commands: they use the same engine and never wait for a slot.

use std::time::Duration;

use meanwhile::Task;
use mw_model::Status;
use mw_testkit::children::{gate, leave_setsid};
use mw_testkit::{SOON, wait_until};
use mw_tools::Dialect;
use mw_tools::call::{Background, Caller, WaitDecision};
use serde_json::json;

use crate::world::{LeavesWhen, SLEEPER, World};

const SHELLS: [(Dialect, &str); 3] =
    [(Dialect::Canonical, "shell"), (Dialect::Zidane, "shell"), (Dialect::Mycode, "Bash")];

#[test]
fn a_full_queue_does_not_delay_foreground_commands() {
    for (dialect, tool) in SHELLS {
        let world = World::new(dialect);
        world.fill();
        let reply = world.done(tool, json!({"command": "echo at once"}));
        assert_eq!((&reply.data["output"], &reply.data["exit_code"]), (&json!("at once\n"), &json!(0)));
    }
}

/// Returns the first time in seconds in a text.
fn time_in(text: &str) -> f64 {
    let is_time = |word: &str| word.trim_end_matches([';', ',', ':', '.']).strip_suffix('s')?.parse().ok();
    text.split_whitespace().find_map(is_time).unwrap_or_else(|| panic!("no time: {text}"))
}

#[test]
fn a_command_beyond_the_call_limit_continues_and_the_reply_says_so() {
    for (dialect, tool, says) in [
        (Dialect::Canonical, "shell", "it continues in the background as bash-"),
        (Dialect::Zidane, "shell", "so the command continues in the background:\nStarted bash_1 (pid "),
        (Dialect::Mycode, "Bash", "it continues in the background.\n\n┌─ Background Task Started"),
    ] {
        let mut world = World::new(dialect);
        world.call_settings.longest_call = Duration::from_millis(1100);
        let reply = world.done(tool, json!({"command": format!("echo begun; {}; touch ran", gate("go"))}));
        assert!(reply.text.contains(says), "{}", reply.text);
        assert!(time_in(&reply.text.replace("begun", "")) >= 1.0, "{}", reply.text);
        assert!(reply.text.contains("begun"), "the output so far: {}", reply.text);
        assert_eq!(reply.data["output"], "begun\n");
        assert_eq!(reply.reported, [], "{dialect:?}: it is still running");
        let task = world.task(reply.data["task_id"].as_str().unwrap());
        assert!(!task.status.is_terminal());
        world.home.open("go");
        assert_eq!(world.over(&task.id).status, Status::Completed);
        assert!(world.home.has_file("ran"));
    }
}

/// Moves the foreground command to the background once it has printed something.
struct Moves<'w>(&'w World);

impl Caller for Moves<'_> {
    fn while_waiting(&self, tasks: &[Task]) -> WaitDecision {
        let has_printed = |task: &&Task| !self.0.home.log(task.id.as_str()).is_empty();
        for task in tasks.iter().filter(has_printed) {
            self.0.runtime.live().move_to_background(&task.id).unwrap();
        }
        WaitDecision::Continue
    }

    fn poll_interval(&self) -> Duration {
        Duration::from_millis(20)
    }
}

#[test]
fn a_command_moved_by_a_person_is_not_reported_as_too_long() {
    for (dialect, tool, says) in [
        (Dialect::Canonical, "shell", "moved to the background by the user after "),
        (Dialect::Zidane, "shell", "The user moved the command to the background after "),
        (Dialect::Mycode, "Bash", "Moved to the background by the user after "),
    ] {
        let world = World::new(dialect);
        let given = json!({"command": format!("echo begun; {SLEEPER}")});
        let reply = world.call_as(tool, &given, &Moves(&world));
        assert!(reply.text.contains(says), "{}", reply.text);
        assert!(reply.text.contains("begun"), "the output so far: {}", reply.text);
        for word in ["longer than", "till running"] {
            assert!(!reply.text.contains(word), "{}", reply.text);
        }
        assert!(!world.task(reply.data["task_id"].as_str().unwrap()).status.is_terminal());
    }
}

#[test]
fn without_background_tasks_a_command_is_killed_at_the_call_limit() {
    for (dialect, tool) in SHELLS {
        let mut world = World::new(dialect);
        world.call_settings.longest_call = Duration::from_millis(300);
        world.call_settings.background = Background::Off;
        // On a busy machine it may not print in time.
        let reply = wait_until(SOON, "a command that printed before the limit", || {
            let reply = world.done(tool, json!({"command": format!("echo begun; {SLEEPER}")}));
            Some(reply).filter(|reply| reply.text.contains("begun"))
        });
        assert!(reply.text.to_lowercase().contains("ended: the time limit of a call is 0"), "{}", reply.text);
        let tasks = world.tasks();
        assert!(!tasks.is_empty() && tasks.iter().all(|task| task.status == Status::Cancelled), "{tasks:?}");
        assert_eq!(reply.reported.len(), 1);
    }
}

#[test]
fn an_aborted_call_kills_the_command_and_its_tree() {
    for (dialect, tool) in SHELLS {
        let world = World::new(dialect);
        let others = world.start(SLEEPER);
        let work = world.home.work();
        let caller = LeavesWhen::new(|| work.join("child").exists());
        let command = format!("{} echo begun; exec sleep 600", leave_setsid("child"));
        let reply = world.call_as(tool, &json!({"command": command}), &caller);
        let tasks = world.tasks();
        let (ours, rest): (Vec<_>, Vec<_>) = tasks.iter().partition(|task| task.id != others.id);
        assert_eq!(ours[0].status, Status::Cancelled, "{}", reply.text);
        assert!(!rest[0].status.is_terminal(), "other tasks keep running");
        assert!(!reply.text.contains("continues"), "{}", reply.text);
        world.home.until_dead(world.home.pid_in("child"));
    }
}

#[test]
fn directory_and_environment_are_applied() {
    for (dialect, tool) in [(Dialect::Canonical, "shell"), (Dialect::Zidane, "shell")] {
        let world = World::new(dialect);
        let work = world.home.work();
        std::fs::create_dir_all(work.join("a/b")).unwrap();
        let output =
            |given: serde_json::Value| world.done(tool, given).data["output"].as_str().unwrap().to_owned();
        let here = format!("{}\n", work.display());
        assert_eq!(output(json!({"command": "pwd"})), here);
        assert_eq!(output(json!({"command": "pwd", "cwd": ""})), here);
        assert_eq!(output(json!({"command": "pwd", "cwd": "a/b"})), format!("{}/a/b\n", work.display()));
        assert_eq!(
            output(json!({"command": "pwd", "cwd": work.join("a")})),
            format!("{}/a\n", work.display())
        );
        let env = json!({"MINE": "it's \"mine\"", "LANG": "other", "N": 5});
        assert_eq!(
            output(json!({"command": "echo $MINE $LANG $N; test -n \"$PATH\" && echo path", "env": env})),
            "it's \"mine\" other 5\npath\n"
        );
    }
}

#[test]
fn a_failed_start_is_refused_and_leaves_no_task() {
    for (dialect, tool) in SHELLS {
        let mut world = World::new(dialect);
        if dialect != Dialect::Mycode {
            for cwd in ["no/such/place", "/etc/passwd"] {
                for flag in [true, false] {
                    let given = json!({"command": "true", "cwd": cwd, "run_in_background": flag});
                    let reply = world.refused(tool, given);
                    assert!(reply.text.contains("working directory"), "{}", reply.text);
                }
            }
        }
        world.call_settings.shell = "/no/such/shell".into();
        let reply = world.refused(tool, json!({"command": "true", "run_in_background": true}));
        assert!(reply.text.contains("/no/such/shell"), "{}", reply.text);
        for command in [json!(""), json!(" \n"), json!(7), json!(null), json!(["ls"]), json!({"a": 1})] {
            let reply = world.refused(tool, json!({"command": command}));
            assert!(reply.text.contains("command "), "{}", reply.text);
        }
        let reply = world.refused(tool, json!({"command": "a\0b"}));
        assert!(!reply.text.is_empty());
        assert_eq!(world.tasks().len(), 0, "{dialect:?}: no phantom task");
    }
}
