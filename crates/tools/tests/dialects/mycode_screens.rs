//! mycode's boxes and lists, as in its document but aligned.

use mw_tools::Dialect;
use mw_tools::screens::{self, Layout};
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use crate::world::{Ending, World, briefly};

fn world() -> World {
    World::new(Dialect::Mycode)
}

/// Cuts the box out of a reply; every line of it is as wide as the border.
#[track_caller]
fn panel(text: &str) -> Vec<&str> {
    let lines: Vec<_> = text.lines().take_while(|line| line.starts_with(['┌', '│', '└'])).collect();
    assert!(lines.iter().all(|line| line.width() == 53), "{text}");
    lines
}

#[test]
fn the_start_screen_has_the_format_of_the_source() {
    let world = world();
    let reply = world.done("Bash", json!({"command": "npm test; sleep 600", "run_in_background": true}));
    let id = reply.data["task_id"].as_str().unwrap();
    let lines = panel(&reply.text);
    assert_eq!(lines[0], "┌─ Background Task Started ─────────────────────────┐");
    assert_eq!(lines[1], format!("│ Task ID: {id}                            │"));
    assert_eq!(lines[2], "│ Command: npm test; sleep 600                      │");
    assert_eq!(lines[3], "│ Status: Running                                   │");
    // A path is never shortened, because it must be usable: it continues on the next line.
    let (last, path) = lines[4..].split_last().unwrap();
    let path: String = path.iter().map(|line| line.trim_matches(['│', ' '])).collect();
    assert_eq!(path, format!("Output: {}", reply.data["output_file"].as_str().unwrap()));
    assert_eq!(*last, "└───────────────────────────────────────────────────┘");
    assert!(reply.text.ends_with("┘\n\nYou can continue working. Use /tasks to check status."));
}

/// Wide characters do not break the box either.
#[test]
fn a_long_command_stays_inside_the_box() {
    let world = world();
    let command = format!("printf '日本語\t%s' {}; sleep 600", "x".repeat(200));
    let reply = world.done("Bash", json!({"command": command, "run_in_background": true}));
    let lines = panel(&reply.text);
    assert!(lines[2].starts_with("│ Command: printf '日本語") && lines[2].contains('…'), "{}", lines[2]);
}

#[test]
fn the_status_screen_has_the_format_of_the_source() {
    let world = world();
    let script = "echo first; echo; echo PASS src/tools/edit.test.ts; echo 'PASS src/tools/glob.test.ts'
        printf 'Running: src/agent/agent.test.ts...'; exec sleep 600";
    let task = world.start(script);
    world.home.until_logged(task.id.as_str(), "agent.test.ts...");
    let reply = world.done("TaskOutput", json!({"task_id": task.id, "block": false}));
    let elapsed = briefly(reply.data["elapsed_ms"].as_u64().unwrap());
    assert_eq!(
        panel(&reply.text),
        [
            "┌─ Task Status ─────────────────────────────────────┐".to_owned(),
            format!("│ Task ID: {}                            │", task.id),
            format!("│ {:<50}│", format!("Status: Running ({elapsed} elapsed)")),
            "│ Recent Output:                                    │".to_owned(),
            "│   PASS src/tools/edit.test.ts                     │".to_owned(),
            "│   PASS src/tools/glob.test.ts                     │".to_owned(),
            "│   Running: src/agent/agent.test.ts...             │".to_owned(),
            "└───────────────────────────────────────────────────┘".to_owned(),
        ]
    );
}

#[test]
fn the_completion_screen_has_the_format_of_the_source() {
    let world = world();
    let task = world.finished("echo 日本語日本語日本語日本語日本語日本語日本語日本語日本語 60 tests passed");
    let reply = world.done("TaskOutput", json!({"task_id": task.id, "block": true, "timeout": 60_000}));
    let lines = panel(&reply.text);
    assert_eq!(lines[0], "┌─ Task Completed ──────────────────────────────────┐");
    assert_eq!(lines[1], format!("│ Task ID: {}                            │", task.id));
    assert_eq!(lines[2], "│ Status: Completed                                 │");
    assert_eq!(lines[3], "│ Exit Code: 0                                      │");
    let took = briefly(reply.data["elapsed_ms"].as_u64().unwrap());
    assert_eq!(lines[4], format!("│ {:<50}│", format!("Duration: {took}")));
    assert_eq!(lines[5], "│ Summary:                                          │");
    assert!(lines[6].starts_with("│   日本語") && lines[6].contains('…'), "{}", lines[6]);
    assert!(lines.iter().all(|line| line.width() == 53), "{lines:#?}");
    for (ending, word) in [(Ending::Exit(3), "Error"), (Ending::KilledByUser, "Cancelled")] {
        let task = world.ended(ending);
        let reply = world.done("TaskOutput", json!({"task_id": task.id}));
        assert!(reply.text.contains(&format!("│ Status: {word} ")), "{}", reply.text);
    }
}

/// The example of the source: an outcome of three lines.
#[test]
fn the_summary_of_an_unknown_tool_is_its_last_lines() {
    let world = world();
    let task = world.finished("echo begun; echo 60 tests passed; echo 0 tests failed; echo Coverage: 87.3%");
    let reply = world.done("TaskOutput", json!({"task_id": task.id}));
    let lines = panel(&reply.text);
    assert_eq!(
        lines[5..],
        [
            "│ Summary:                                          │",
            "│   60 tests passed                                 │",
            "│   0 tests failed                                  │",
            "│   Coverage: 87.3%                                 │",
            "└───────────────────────────────────────────────────┘",
        ]
    );
}

#[test]
fn a_script_of_several_lines_is_marked_as_shortened() {
    let world = world();
    let given = json!({"command": "\nnpm ci\nsleep 600\n", "run_in_background": true});
    let reply = world.done("Bash", given);
    assert_eq!(panel(&reply.text)[2], "│ Command: npm ci …                                 │");
}

/// Format L5.
#[test]
fn the_boxed_list_has_the_format_of_the_source() {
    let world = world();
    let described = |text: &str| {
        let text = text.to_owned();
        move |request: &mut meanwhile::engine::TaskRequest| request.description = Some(text)
    };
    let done = world.start_with("true", described("Run npm test"));
    let failed = world.start_with("exit 1", described("Build a docker image that is called 日本語"));
    let tasks = [world.over(&done.id), world.over(&failed.id), world.start("exec sleep 600")];
    let drawn = screens::tasks(&tasks, Layout::Boxed, Dialect::Mycode);
    let took = |at: usize| briefly(tasks[at].duration_ms.unwrap_or(0));
    let lines: Vec<_> = drawn.lines().collect();
    assert_eq!(lines[0], "Background Tasks:");
    assert_eq!(lines[1], format!("┌{}┐", "─".repeat(64)));
    assert_eq!(lines[2], "│ Status  ID              Description              Elapsed       │");
    assert_eq!(lines[3], format!("├{}┤", "─".repeat(64)));
    // The newest first, independent of the input order.
    assert_eq!(lines[6], format!("│ ✓       {}   Run npm test             {:<14}│", tasks[0].id, took(0)));
    assert_eq!(lines[5], format!("│ ✗       {}   Build a docker image th… {:<14}│", tasks[1].id, took(1)));
    assert_eq!(lines[4], format!("│ ⏳      {}   exec sleep 600           {:<14}│", tasks[2].id, took(2)));
    assert_eq!(lines[7], format!("└{}┘", "─".repeat(64)));
    assert!(lines[1..].iter().all(|line| line.width() == 66), "{drawn}");
    assert_eq!(screens::tasks(&[], Layout::Boxed, Dialect::Mycode), "No background tasks.");
}

/// Format L10.
#[test]
fn the_plain_list_has_the_format_of_the_source() {
    let world = world();
    let long = "a description of more than thirty characters";
    let task = world.start_with("true", |request| request.description = Some(long.to_owned()));
    let cancelled = world.ended(Ending::KilledByUser);
    let tasks = [world.over(&task.id), cancelled];
    let rule = "─".repeat(70);
    let wanted = format!(
        "\nBackground Tasks:\n{rule}\n⊘  {}   echo out; exec sleep 600         {}\n✓  {}   a description of more than thi   {}\n{rule}\nUse TaskOutput tool to get task output.",
        tasks[1].id,
        briefly(tasks[1].duration_ms.unwrap()),
        tasks[0].id,
        briefly(tasks[0].duration_ms.unwrap())
    );
    assert_eq!(screens::tasks(&tasks, Layout::Plain, Dialect::Mycode), wanted);
    // With other tools, the hint names another call.
    let other = screens::tasks(&tasks, Layout::Plain, Dialect::Canonical);
    assert!(
        other.ends_with("\nUse /status ID to get task output.") && !other.contains("TaskOutput"),
        "{other}"
    );
    assert_eq!(screens::tasks(&[], Layout::Plain, Dialect::Mycode), "No background tasks.");
    assert_eq!(screens::tasks(&[], Layout::Table, Dialect::CoCli), "No background tasks.");
}

#[test]
fn the_columns_of_the_plain_list_are_aligned() {
    let world = world();
    let family = "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}";
    let described =
        |text: String| move |request: &mut meanwhile::engine::TaskRequest| request.description = Some(text);
    let done = world.start_with("true", described(format!("日本語 {}", family.repeat(20))));
    let running = world.start_with("exec sleep 600", described("plain".to_owned()));
    let tasks = [world.over(&done.id), running];
    let drawn = screens::tasks(&tasks, Layout::Plain, Dialect::Mycode);
    let rows: Vec<_> = drawn.lines().filter(|line| line.starts_with(['✓', '⏳'])).collect();
    let columns = |row: &str, text: &str| row[..row.find(text).unwrap()].width();
    assert_eq!([columns(rows[0], "bash-"), columns(rows[1], "bash-")], [3; 2], "{drawn}");
    let time = |row: &str| row[..row.rfind(' ').unwrap()].width();
    assert_eq!([time(rows[0]), time(rows[1])], [51; 2], "{drawn}");
    let cut = rows.iter().find(|row| row.contains('日')).unwrap();
    assert!(cut.contains(&format!("日本語 {} ", family.repeat(11))), "whole characters: {drawn}");
}
