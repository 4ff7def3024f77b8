//! Every outcome in the terms of every dialect, and which replies deliver it.

use meanwhile::engine::{DeliveryPolicy, Moment};
use mw_tools::Dialect;
use serde_json::{Value, json};

use crate::world::{Ending, SLEEPER, World};

#[test]
fn zidane_reports_an_outcome_as_exited_killed_or_lost() {
    let world = World::new(Dialect::Zidane);
    for (ending, word, code, signal) in [
        (Ending::Exit(0), json!("exited"), json!(0), Value::Null),
        (Ending::Exit(3), json!("exited"), json!(3), Value::Null),
        (Ending::Crash, json!("exited"), json!(139), json!("SIGSEGV")),
        (Ending::KilledByModel, json!("killed"), json!(143), json!("SIGTERM")),
        (Ending::KilledByUser, json!("killed"), json!(143), json!("SIGTERM")),
        (Ending::TimeLimit, json!("killed"), json!(143), json!("SIGTERM")),
        (Ending::Lost, Value::Null, Value::Null, Value::Null),
    ] {
        let task = world.ended(ending);
        let reply = world.done("shell_kill", json!({"task_id": task.id}));
        assert_eq!(reply.data["status"], word, "{ending:?}");
        assert_eq!(reply.data["exit_code"], code, "{ending:?}");
        assert_eq!(reply.data["signal"], signal, "{ending:?}");
        assert_eq!(reply.reported, [task.id], "{ending:?}");
        let lost = ending == Ending::Lost;
        assert_eq!(reply.text.contains("is lost"), lost, "{}", reply.text);
        assert_eq!(reply.text.contains("was not running"), !lost, "{}", reply.text);
    }
}

#[test]
fn mycode_gives_a_reason_for_crashes_time_limits_and_lost_tasks() {
    let world = World::new(Dialect::Mycode);
    for (ending, word, code, error) in [
        (Ending::Exit(0), "completed", 0, None),
        (Ending::Exit(3), "error", 3, None),
        (Ending::Crash, "error", -1, Some("SIGSEGV")),
        (Ending::KilledByModel, "cancelled", -1, None),
        (Ending::KilledByUser, "cancelled", -1, None),
        (Ending::TimeLimit, "error", -1, Some("limit")),
        (Ending::Lost, "error", -1, Some("")),
    ] {
        let task = world.ended(ending);
        let reply = world.done("TaskOutput", json!({"task_id": task.id}));
        assert_eq!(reply.data["success"], true, "{ending:?}");
        assert_eq!(reply.data["status"], word, "{ending:?}");
        assert_eq!(reply.data["exit_code"], code, "{ending:?}");
        assert_eq!(reply.data["output"], "out\n", "{ending:?}");
        match error {
            Some(part) => assert!(reply.data["error"].as_str().unwrap().contains(part), "{}", reply.data),
            None => assert_eq!(reply.data["error"], Value::Null, "{ending:?}"),
        }
        assert_eq!(reply.reported, [task.id], "{ending:?}");
    }
    // A program that handles the time limit with its own exit code is still timed out.
    let task = world.start_with("trap 'exit 7' TERM; while :; do sleep 0.05; done", |request| {
        request.limits.run_timeout_ms = Some(200);
    });
    let reply = world.done("TaskOutput", json!({"task_id": world.over(&task.id).id}));
    assert_eq!((&reply.data["status"], &reply.data["exit_code"]), (&json!("error"), &json!(7)));
    assert!(reply.data["error"].as_str().unwrap().contains("limit"), "{}", reply.data);
}

#[test]
fn the_background_task_specification_keeps_error_details() {
    let world = World::new(Dialect::BackgroundTask);
    for (ending, word, error) in [
        (Ending::Exit(0), "completed", None),
        (Ending::Exit(3), "error", Some("3")),
        (Ending::Crash, "error", Some("SIGSEGV")),
        (Ending::KilledByModel, "cancelled", None),
        (Ending::KilledByUser, "cancelled", None),
        (Ending::TimeLimit, "error", Some("limit")),
        (Ending::Lost, "error", Some("")),
    ] {
        let task = world.ended(ending);
        let reply = world.done("background_output", json!({"task_id": task.id}));
        assert_eq!(reply.data["status"], word, "{ending:?}");
        assert_eq!(reply.data["result"], "out\n", "{ending:?}");
        assert!(reply.data["completedAt"].is_string(), "{}", reply.data);
        match error {
            Some(part) => assert!(reply.data["error"].as_str().unwrap().contains(part), "{}", reply.data),
            None => assert_eq!(reply.data["error"], Value::Null, "{ending:?}"),
        }
        assert_eq!(reply.reported, [task.id], "{ending:?}");
    }
}

#[test]
fn opta_distinguishes_time_limit_and_kill_and_shows_the_signal() {
    let world = World::new(Dialect::Opta);
    for (ending, word, code, rest) in [
        (Ending::Exit(0), "completed", json!(0), "exit=0"),
        (Ending::Exit(3), "failed", json!(3), "exit=3"),
        (Ending::Crash, "killed", Value::Null, "signal=SIGSEGV"),
        (Ending::KilledByModel, "killed", Value::Null, "signal=SIGTERM"),
        (Ending::KilledByUser, "killed", Value::Null, "signal=SIGTERM"),
        (Ending::TimeLimit, "timeout", Value::Null, "signal=SIGTERM"),
        (Ending::Lost, "failed", Value::Null, "error=\""),
    ] {
        let task = world.ended(ending);
        let reply = world.done("bg_status", json!({"id": task.id.suffix()}));
        let process = &reply.data["processes"][0];
        assert_eq!((&process["state"], &process["exitCode"]), (&json!(word), &code), "{ending:?}");
        assert!(reply.text.contains(&format!("state={word} ")), "{}", reply.text);
        assert!(reply.text.contains(rest), "{}", reply.text);
        // Reading the status is not a retrieval.
        assert_eq!(reply.reported, [], "{ending:?}");
        let read = world.done("bg_output", json!({"id": task.id.suffix()}));
        assert_eq!(read.data["stdout"], "out", "{ending:?}");
        assert_eq!(read.text, "[stdout]\nout\n[stderr]\n", "{ending:?}");
        // Output alone does not report the outcome.
        assert_eq!(read.reported, [], "{ending:?}");
    }
}

#[test]
fn co_cli_gives_a_reason_for_a_time_limit_and_a_lost_task() {
    let world = World::new(Dialect::CoCli);
    for (ending, word, code, shown) in [
        (Ending::Exit(0), "completed", json!(0), "Status: completed\n"),
        (Ending::Exit(3), "failed", json!(3), "Status: failed\n"),
        (Ending::Crash, "failed", Value::Null, "Status: failed\n"),
        (Ending::KilledByModel, "cancelled", Value::Null, "Status: cancelled\n"),
        (Ending::KilledByUser, "cancelled", Value::Null, "Status: cancelled\n"),
        (Ending::TimeLimit, "failed", Value::Null, "Status: failed ("),
        (Ending::Lost, "failed", Value::Null, "Status: failed ("),
    ] {
        let task = world.ended(ending);
        let reply = world.done("check_task_status", json!({"task_id": Dialect::CoCli.handle(&task)}));
        assert_eq!((&reply.data["status"], &reply.data["exit_code"]), (&json!(word), &code), "{ending:?}");
        assert!(reply.text.contains(shown), "{}", reply.text);
        assert_eq!(reply.reported, [task.id], "{ending:?}");
    }
}

#[test]
fn the_canonical_set_has_a_status_for_each_outcome() {
    let world = World::new(Dialect::Canonical);
    for (ending, word) in [
        (Ending::Exit(0), "completed"),
        (Ending::Exit(3), "failed"),
        (Ending::Crash, "failed"),
        (Ending::KilledByModel, "cancelled"),
        (Ending::KilledByUser, "cancelled"),
        (Ending::TimeLimit, "timed_out"),
        (Ending::Lost, "lost"),
    ] {
        let task = world.ended(ending);
        let reply = world.done("task_output", json!({"task_id": task.id}));
        assert_eq!(reply.data["status"], word, "{ending:?}");
        assert!(reply.text.starts_with(&format!("{} {word}", task.id)), "{}", reply.text);
        assert!(reply.text.contains("\nout\n"), "{}", reply.text);
        assert_eq!(reply.reported, [task.id], "{ending:?}");
    }
}

///
#[test]
fn no_reply_about_a_running_task_reports_an_end() {
    for (dialect, calls) in [
        (Dialect::Canonical, vec![("task_output", "task_id"), ("task_list", "")]),
        (Dialect::Mycode, vec![("TaskOutput", "task_id")]),
        (Dialect::BackgroundTask, vec![("background_output", "task_id"), ("background_block", "task_ids")]),
        (Dialect::Opta, vec![("bg_output", "id"), ("bg_status", "id")]),
        (Dialect::CoCli, vec![("check_task_status", "task_id"), ("list_background_tasks", "")]),
    ] {
        let world = World::new(dialect);
        let task = world.start(SLEEPER);
        for (tool, name) in calls {
            let mut given = json!({"timeout": 0, "block": false});
            if !name.is_empty() {
                given[name] = json!(task.id);
            }
            let reply = world.done(tool, given);
            assert_eq!(reply.reported, [], "{tool}");
            assert!(!world.task(task.id.as_str()).status.is_terminal());
        }
    }
}

#[test]
fn a_queued_task_is_shown_in_the_terms_of_each_dialect() {
    for (dialect, tool, name, field, word) in [
        (Dialect::Canonical, "task_output", "task_id", "status", "pending"),
        (Dialect::Mycode, "TaskOutput", "task_id", "status", "pending"),
        (Dialect::BackgroundTask, "background_output", "task_id", "status", "running"),
        (Dialect::CoCli, "check_task_status", "task_id", "status", "pending"),
    ] {
        let world = World::new(dialect);
        world.fill();
        let waiting = world.start(SLEEPER);
        let reply = world.done(tool, json!({name: waiting.id, "block": false}));
        assert_eq!(reply.data[field], word, "{dialect:?}");
        if dialect == Dialect::BackgroundTask {
            assert_eq!(reply.data["queued"], true);
            assert!(reply.text.contains("(queued)"), "{}", reply.text);
        }
    }
    let world = World::new(Dialect::Opta);
    world.fill();
    let waiting = world.start(SLEEPER);
    let reply = world.done("bg_status", json!({"id": waiting.id.suffix()}));
    assert!(reply.text.contains(" state=running pid=- ") && reply.text.contains(" queued"), "{}", reply.text);
}

/// an end by a kill of the user is notified.
#[test]
fn an_end_reported_by_a_reply_is_not_notified_again() {
    let world = World::new(Dialect::Canonical);
    let (read, partly) = (world.finished("echo a"), world.finished("seq 100000"));
    let (stopped, killed) = (world.start(SLEEPER), world.ended(Ending::KilledByUser));
    for (tool, given) in [
        ("task_output", json!({"task_id": read.id})),
        ("task_output", json!({"task_id": partly.id})),
        ("task_list", json!({})),
        ("task_stop", json!({"task_ids": [stopped.id]})),
    ] {
        for id in world.done(tool, given).reported {
            world.runtime.notifications().note_known(&id).unwrap();
        }
    }
    let host = world.runtime.notifications().host(crate::world::SESSION, DeliveryPolicy::Immediate).unwrap();
    let delivery = host.drain(Moment::Idle).unwrap();
    let mut notified: Vec<_> = delivery.notices().iter().map(|notice| notice.task.clone()).collect();
    notified.sort();
    let mut wanted = vec![partly.id, killed.id];
    wanted.sort();
    assert_eq!(notified, wanted);
}
