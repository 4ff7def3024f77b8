//! Every call of every dialect is subject to the policy.

use std::fs;
use std::time::Duration;

use meanwhile::engine::{ApprovalTimeouts, Policy, confined_by_kernel};
use mw_policy::{ConfinementLevel, Mode};
use mw_testkit::{Need, directory_outside, need_program, skip};
use mw_tools::call::Reply;
use mw_tools::dialects::DialectTools;
use mw_tools::{Dialect, Toolset};
use serde_json::{Value, json};

use crate::world::{SLEEPER, World};

const DIALECTS: [Dialect; 6] = [
    Dialect::Canonical,
    Dialect::Zidane,
    Dialect::Mycode,
    Dialect::BackgroundTask,
    Dialect::Opta,
    Dialect::CoCli,
];

/// Creates a world without an approver, in a mode and with the conventions of a dialect.
fn world(dialect: Dialect, mode: Mode) -> World {
    let mut world = World::new(dialect);
    fs::create_dir(world.home.work().join(".git")).unwrap();
    fs::write(world.home.work().join("precious"), "x").unwrap();
    let timeouts = ApprovalTimeouts { wait: Duration::from_millis(20), keep: Duration::from_secs(600) };
    world.call_settings.policy = Policy { mode, dialect, timeouts, ..Policy::default() };
    world
}

/// Returns the calls of a dialect that run a command.
fn starts(dialect: Dialect, command: &str) -> Vec<(&'static str, Value)> {
    let both = |tool| {
        vec![
            (tool, json!({"command": command})),
            (tool, json!({"command": command, "run_in_background": true})),
        ]
    };
    match dialect {
        Dialect::Canonical | Dialect::Zidane => both("shell"),
        Dialect::Mycode => both("Bash"),
        // It starts subagents only.
        Dialect::BackgroundTask => Vec::new(),
        Dialect::Opta => vec![("bg_start", json!({"command": command}))],
        Dialect::CoCli => {
            let start = |shell: bool| json!({"command": command, "description": "x", "shell": shell});
            vec![("start_background_task", start(false)), ("start_background_task", start(true))]
        }
    }
}

fn refused(reply: &Reply) -> bool {
    reply.failed && (reply.text.contains("approval required") || reply.text.contains("not allowed"))
}

#[test]
fn the_policy_is_the_same_for_foreground_and_background_in_every_dialect() {
    for dialect in DIALECTS {
        let world = world(dialect, Mode::Safe);
        for (tool, given) in starts(dialect, "rm precious") {
            let reply = world.call(tool, given);
            assert!(refused(&reply) && reply.asks.is_some(), "{dialect:?} {tool}: {}", reply.text);
            assert!(reply.text.contains("mw approve ask-"), "{dialect:?}: {}", reply.text);
        }
        assert!(world.home.has_file("precious") && world.tasks().is_empty(), "{dialect:?}");
        // opta needs approval for every start; in the others it depends on the command.
        for (tool, given) in starts(dialect, "ls") {
            let reply = world.call(tool, given);
            assert_eq!(refused(&reply), dialect == Dialect::Opta, "{dialect:?} {tool}: {}", reply.text);
        }
    }
}

/// A program whose effects policy does not know runs unasked, and the kernel holds it to the project.
#[test]
fn every_dialect_confines_what_it_starts() {
    need_program("python3");
    for dialect in DIALECTS {
        let mut world = world(dialect, Mode::Safe);
        if confined_by_kernel(world.runtime.settings()) != ConfinementLevel::Fully {
            skip(Need::Confinement, "the kernel offers only a part of it");
        }
        world.call_settings.policy.confined = ConfinementLevel::Fully;
        world.call_settings.policy.mode = if dialect == Dialect::Opta { Mode::Auto } else { Mode::Safe };
        let outside = directory_outside(env!("CARGO_TARGET_TMPDIR"));
        let mark = outside.path().join("mark");
        for (nth, (tool, given)) in starts(dialect, "python3 x.py").into_iter().enumerate() {
            let code = format!("open('inside{nth}', 'w')\nopen('{}', 'w')\n", mark.display());
            fs::write(world.home.work().join("x.py"), code).unwrap();
            let reply = world.call(tool, given);
            assert!(!refused(&reply), "{dialect:?} {tool}: {}", reply.text);
            let task = world.tasks().swap_remove(0);
            world.over(&task.id);
            assert!(world.home.has_file(&format!("inside{nth}")), "{dialect:?} {tool}: {}", reply.text);
            assert!(!mark.exists(), "{dialect:?} {tool}");
            let task = world.task(task.id.as_str());
            assert_eq!(task.confined.unwrap().by.len(), 3, "{dialect:?} {tool}");
        }
    }
}

/// Rules and `mw policy --tool` find a tool by the names that the model lists.
#[test]
fn policy_knows_every_tool_of_every_dialect() {
    for dialect in DIALECTS {
        let sorted = |mut names: Vec<&'static str>| {
            names.sort_unstable();
            names
        };
        let offered =
            DialectTools::of(dialect).definitions.iter().map(|definition| definition.tool.name).collect();
        let listed = dialect.tools().iter().map(|tool| tool.name).collect();
        assert_eq!(sorted(offered), sorted(listed), "{dialect:?}");
    }
}

/// M-031: only opta needs approval to stop a task.
#[test]
fn stopping_a_task_of_the_session_needs_no_approval() {
    for (dialect, tool, parameter) in [
        (Dialect::Canonical, "task_stop", "task_ids"),
        (Dialect::Zidane, "shell_kill", "task_id"),
        (Dialect::Mycode, "KillShell", "shell_id"),
        (Dialect::BackgroundTask, "background_cancel", "task_id"),
        (Dialect::CoCli, "cancel_background_task", "task_id"),
    ] {
        let mut world = world(dialect, Mode::Safe);
        // An old name of a tool is judged as the tool.
        world.tools = Toolset::of(dialect).with_alias("OldName", tool).unwrap();
        for name in [tool, "OldName"] {
            let task = world.start(SLEEPER);
            let reply = world.call(name, json!({parameter: task.id}));
            assert!(!reply.failed && reply.asks.is_none(), "{dialect:?} {name}: {}", reply.text);
            assert!(world.task(task.id.as_str()).status.is_terminal(), "{dialect:?} {name}");
        }
    }
}

/// an argument list is judged as a program, and a script as a shell script.
#[test]
fn argument_lists_and_scripts_are_judged_differently() {
    let world = world(Dialect::CoCli, Mode::Safe);
    let start = |command: &str, shell: bool| {
        let given = json!({"command": command, "description": "x", "shell": shell});
        refused(&world.call("start_background_task", given))
    };
    assert!(!start("ls '; rm precious'", false), "ls gets it as a file name");
    assert!(!start("ls '; rm precious'", true), "in quotes it is a file name to a shell too");
    assert!(start("ls ; rm precious", true), "a shell runs both commands");
    assert!(start("sh -c 'ls ; rm precious'", false), "a shell in an argument list runs both commands too");
    assert!(world.home.has_file("precious"));
}

#[test]
fn plan_mode_allows_reading_only() {
    let world = world(Dialect::Opta, Mode::Plan);
    assert!(!world.call("bg_status", json!({})).failed);
    for (tool, given) in [("bg_start", json!({"command": "ls"})), ("bg_kill", json!({"id": "bash_1"}))] {
        let reply = world.call(tool, given);
        assert!(reply.failed && reply.text.contains("mode plan") && reply.asks.is_none(), "{}", reply.text);
    }
}

#[test]
fn ci_mode_denies_background_operations_without_a_request() {
    let mut world = world(Dialect::Opta, Mode::Ci);
    let calls = [
        ("bg_start", json!({"command": "ls"})),
        ("bg_kill", json!({"id": "bash_1"})),
        ("bg_status", json!({})),
        ("bg_output", json!({"id": "bash_1"})),
    ];
    for (tool, given) in &calls {
        let reply = world.call(tool, given.clone());
        assert!(reply.failed && reply.text.contains("mode ci"), "{tool}: {}", reply.text);
    }
    world.call_settings.policy.ci_reads = true;
    assert!(!world.call("bg_status", json!({})).failed);
    // A call that needs approval is refused at once, because there is no approver.
    let mut world = World::new(Dialect::Canonical);
    let timeouts = ApprovalTimeouts { wait: Duration::from_secs(3600), ..ApprovalTimeouts::default() };
    world.call_settings.policy = Policy { mode: Mode::Ci, timeouts, ..Policy::default() };
    assert!(refused(&world.call("shell", json!({"command": "rm precious"}))));
}
