//! Every reply is bounded, and says what it leaves out.

use mw_model::TaskId;
use mw_tools::Dialect;
use mw_tools::call::Reply;
use serde_json::{Value, json};

use crate::world::World;

/// The maximum size of a reply without the output.
const FRAME: usize = 2000;

/// Every call that returns output of a task.
fn looks(world: &World, id: &TaskId) -> Vec<(&'static str, Reply)> {
    let mut looks = Vec::new();
    let mut look = |tool, given: Value| looks.push((tool, world.done(tool, given)));
    match world.tools.specs(mw_tools::call::Background::On)[0].name.as_str() {
        "Bash" => look("TaskOutput", json!({"task_id": id})),
        "background_task" => look("background_output", json!({"task_id": id})),
        "bg_start" => {
            look("bg_output", json!({"id": id}));
            look("bg_output", json!({"id": id, "lines": 1_000_000_000}));
            look("bg_output", json!({"id": id, "since_last_read": false}));
            look("bg_output", json!({"id": id, "since_last_read": false, "lines": 1_000_000_000}));
            look("bg_status", json!({}));
        }
        "start_background_task" => {
            look("check_task_status", json!({"task_id": id}));
            look("list_background_tasks", json!({}));
        }
        "shell" => {
            look("task_output", json!({"task_id": id}));
            look("task_output", json!({"task_id": id, "lines": 1_000_000}));
            look("task_output", json!({"task_id": id, "offset": 5}));
            look("task_output", json!({"task_id": id, "pattern": "."}));
            look("task_wait", json!({"task_ids": [id]}));
            look("task_list", json!({}));
        }
        other => panic!("{other}"),
    }
    looks
}

/// The dialects with a tool that reads output.
const READERS: [Dialect; 5] =
    [Dialect::Canonical, Dialect::Mycode, Dialect::BackgroundTask, Dialect::Opta, Dialect::CoCli];

fn check(script: &str, reply_bytes: usize) {
    for dialect in READERS {
        let mut world = World::new(dialect);
        world.call_settings.reply_bytes = reply_bytes as u64;
        let task = world.finished(script);
        for (tool, reply) in looks(&world, &task.id) {
            assert!(reply.text.len() <= reply_bytes + FRAME, "{tool}: {} bytes", reply.text.len());
            for name in ["output", "result", "stdout", "stderr"] {
                let part = reply.data[name].as_str().unwrap_or_default();
                assert!(part.len() <= reply_bytes + 100, "{tool}: {} bytes of {name}", part.len());
            }
        }
    }
}

#[test]
fn replies_are_bounded_for_a_hundred_megabytes() {
    check("yes 0123456789abcdef | head -c 100000000", 4000);
}

#[test]
fn replies_are_bounded_for_one_line_of_ten_megabytes() {
    check("head -c 10000000 /dev/zero | tr '\\0' x", 4000);
}

#[test]
fn replies_are_bounded_for_multibyte_and_invalid_characters() {
    check("yes '€ä日本語😀' | head -c 300000", 1001);
    check("head -c 300000 /dev/zero | tr '\\0' '\\377'", 1000);
    check("head -c 300000 /dev/urandom", 1000);
}

#[test]
fn no_character_is_split() {
    for most in 97..107 {
        let mut world = World::new(Dialect::Mycode);
        world.call_settings.reply_bytes = most;
        let task = world.finished("yes '日本語😀' | head -n 200");
        let reply = world.done("TaskOutput", json!({"task_id": task.id}));
        let output = reply.data["output"].as_str().unwrap();
        assert!(!output.contains('\u{fffd}'), "{most}: {output}");
        let left: u64 = output.split("[… ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        let marker = format!("\n[… {left} bytes omitted …]\n");
        let (head, tail) = output.split_once(&marker).unwrap();
        let line_ends = 2800 - left - tail.len() as u64 - head.len() as u64;
        assert!(line_ends <= 1, "{most}: the shown and the omitted bytes are not the whole");
        assert_eq!(reply.data["truncated"], true);
        let file = reply.data["task"]["output_file"].as_str().unwrap();
        assert!(reply.text.contains(&format!("Full output: {file}")));
    }
}

#[test]
fn a_shortened_foreground_reply_names_the_log_with_the_rest() {
    for (dialect, tool) in
        [(Dialect::Canonical, "shell"), (Dialect::Zidane, "shell"), (Dialect::Mycode, "Bash")]
    {
        let mut world = World::new(dialect);
        world.call_settings.reply_bytes = 1000;
        let reply = world.done(tool, json!({"command": "echo first; seq 100000; echo last; exit 4"}));
        assert!(reply.text.len() < 1000 + FRAME, "{}", reply.text.len());
        let output = reply.data["output"].as_str().unwrap();
        assert!(output.starts_with("first\n1\n2\n") && output.ends_with("\n100000\nlast\n"), "{output}");
        assert!(output.contains(" bytes omitted …]"), "{output}");
        assert_eq!(reply.data["exit_code"], 4);
        let task = &world.tasks()[0];
        let log = match dialect {
            Dialect::Mycode => task.output_path.replace("/output.log", ".log"),
            _ => task.output_path.clone(),
        };
        assert!(reply.text.contains(&log), "{}", reply.text);
    }
}

#[test]
fn a_reply_is_marked_as_truncated_if_the_cap_dropped_output() {
    let world = World::new(Dialect::Opta);
    let task = world.start_with("seq 100000", |request| request.limits.output_cap = 4096);
    world.over(&task.id);
    let reply = world.done("bg_output", json!({"id": task.id.suffix()}));
    assert_eq!(reply.data["truncated"], true);
    let world = World::new(Dialect::Mycode);
    let task = world.start_with("seq 100000", |request| request.limits.output_cap = 4096);
    world.over(&task.id);
    let reply = world.done("TaskOutput", json!({"task_id": task.id}));
    assert_eq!(reply.data["truncated"], true);
}

#[test]
fn long_commands_and_titles_are_shortened_everywhere() {
    let long = format!("true '{}'", "x\u{1b}[31m\n\"é".repeat(10_000));
    for dialect in Dialect::ALL {
        let world = World::new(dialect).open();
        let title = "t".repeat(100_000);
        let task = world.start_with(&long, |request| request.description = Some(title.clone()));
        world.over(&task.id);
        let specs = world.tools.specs(mw_tools::call::Background::On);
        let (start, given) = match dialect {
            Dialect::Canonical => ("shell", json!({"run_in_background": true, "description": title})),
            Dialect::Zidane => ("shell", json!({"run_in_background": true})),
            Dialect::Mycode => ("Bash", json!({"run_in_background": true, "description": title})),
            Dialect::Opta => ("bg_start", json!({"label": title})),
            Dialect::CoCli => ("start_background_task", json!({"description": title})),
            Dialect::BackgroundTask => ("", json!({})),
        };
        let mut replies = Vec::new();
        if !start.is_empty() {
            let mut given = given;
            given["command"] = json!(long);
            replies.push(world.done(start, given));
        }
        if dialect != Dialect::Zidane {
            replies.extend(looks(&world, &task.id).into_iter().map(|(_, reply)| reply));
        }
        assert!(!specs.is_empty() && !replies.is_empty());
        for reply in replies {
            assert!(reply.text.len() < 5000, "{dialect:?}: {} bytes", reply.text.len());
            assert!(reply.data.to_string().len() < 8000, "{dialect:?}: {}", reply.data.to_string().len());
            assert!(!reply.text.contains('\u{1b}'), "{}", reply.text);
        }
    }
}

#[test]
fn a_long_list_has_the_number_of_omitted_tasks() {
    for (dialect, tool, says) in [
        (Dialect::Canonical, "task_list", "older tasks not shown"),
        (Dialect::Opta, "bg_status", "older tasks not shown"),
        (Dialect::CoCli, "list_background_tasks", "older tasks not shown"),
    ] {
        let mut world = World::new(dialect);
        world.call_settings.reply_bytes = 2000;
        for _ in 0..12 {
            world.finished("true");
        }
        let reply = world.done(tool, json!({}));
        assert!(reply.text.contains(says), "{}", reply.text);
        assert!(reply.text.len() + reply.data.to_string().len() < 2000 + FRAME, "{dialect:?}");
        let count = |name: &str| reply.data[name].as_array().map_or(0, Vec::len);
        let shown = count("tasks") + count("processes");
        assert!((1..12).contains(&shown), "{shown}");
        assert!(reply.text.contains(&(12 - shown).to_string()), "{}", reply.text);
        world.call_settings.reply_bytes = 1;
        let least = world.done(tool, json!({}));
        assert_eq!(least.data["tasks"].as_array().or(least.data["processes"].as_array()).unwrap().len(), 1);
    }
}

#[test]
fn a_shortened_wait_reply_delivers_only_the_shown_ends() {
    for (dialect, tool) in [(Dialect::Canonical, "task_wait"), (Dialect::BackgroundTask, "background_block")]
    {
        let mut world = World::new(dialect);
        world.call_settings.reply_bytes = 2000;
        let ids: Vec<_> = (0..12).map(|_| world.finished("true").id).collect();
        let reply = world.done(tool, json!({"task_ids": ids}));
        let shown = reply.data["tasks"].as_array().unwrap().len();
        assert!((1..12).contains(&shown), "{shown}");
        assert_eq!(reply.reported, ids[..shown]);
        assert!(reply.text.contains(&format!("{} more not shown", 12 - shown)), "{}", reply.text);
    }
}
