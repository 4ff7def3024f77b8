//! Tasks started inside a task are separate tasks.

use mw_testkit::contract::{RECEIPT_FIELDS, count, has_fields, pids};
use mw_testkit::{Home, SOON, alive, children, wait_until};

use crate::home;

/// A home whose scripts call the `mw` under test as `"$MW"`.
fn nesting() -> Home {
    home().with_env("MW", env!("CARGO_BIN_EXE_mw")).with_env("MEANWHILE_KILL_GRACE_MS", "60000")
}

/// Returns a script that starts another one as a task of this name.
fn start_named(name: &str, script: &str) -> String {
    format!("\"$MW\" start --name {name} '{script}' >/dev/null")
}

/// Waits until a task of this name runs, and returns its id.
fn running_named(home: &Home, name: &str) -> String {
    wait_until(SOON, &format!("{name} runs"), || {
        let tasks = home.list();
        let found = tasks.iter().find(|task| task["name"] == name && task["status"] == "running")?;
        Some(found["id"].as_str().unwrap().to_owned())
    })
}

/// Starts a task that starts another; both keep running. Returns the ids of the outer and the inner task.
fn outer_and_inner(home: &Home) -> (String, String) {
    let outer = home.start(&format!("{}; exec sleep 600", start_named("inner", children::SLEEPER)));
    let inner = running_named(home, "inner");
    (outer, inner)
}

#[track_caller]
fn assert_supervised(home: &Home, id: &str, pid: u32) {
    assert!(alive(pid), "the process of {id} is dead");
    assert_eq!(home.status(id)["status"], "running");
    let _ = home.pair(id);
}

#[test]
fn killing_an_outer_task_leaves_its_inner_task_running_and_supervised() {
    let home = nesting();
    let (outer, inner) = outer_and_inner(&home);
    let (outer_pid, inner_pid) = (home.pid(&outer), home.pid(&inner));
    let receipt = home.mw(["kill", "--json", &outer]).exits(0).json();
    assert_eq!(receipt["status"], "cancelled", "{receipt}");
    assert!(!pids(&receipt["killed"]).contains(&u64::from(inner_pid)), "{receipt}");
    assert_eq!(receipt["survivors"], serde_json::json!([]), "{receipt}");
    assert!(!alive(outer_pid));
    wait_until(SOON, "the supervisors of the outer task have exited", || {
        home.supervisors_of(&outer).is_empty().then_some(())
    });
    assert_supervised(&home, &inner, inner_pid);
}

#[test]
fn an_inner_task_can_be_killed_after_its_outer_task() {
    let home = nesting();
    let (outer, inner) = outer_and_inner(&home);
    let pid = home.pid(&inner);
    let _ = home.mw(["kill", &outer]).ok();
    let receipt = home.mw(["kill", "--json", &inner]).exits(0).json();
    has_fields(&receipt, &RECEIPT_FIELDS);
    assert_eq!(receipt["id"], inner.as_str(), "{receipt}");
    assert_eq!(receipt["status"], "cancelled", "{receipt}");
    assert!(receipt["requested_by"].is_string(), "{receipt}");
    assert_eq!(receipt["signals"].as_array().map(Vec::len), Some(1), "{receipt}");
    assert_eq!(pids(&receipt["killed"]), [u64::from(pid)], "{receipt}");
    assert_eq!(receipt["survivors"], serde_json::json!([]), "{receipt}");
    assert!(!alive(pid));
    home.wait_until_empty(SOON);
}

#[test]
fn an_inner_task_is_not_a_survivor_of_its_outer_task() {
    let home = nesting();
    let outer = home.start(&format!("{}; exit 3", start_named("inner", children::SLEEPER)));
    let task = home.ended(&outer);
    assert_eq!((&task["status"], &task["exit_code"]), (&"failed".into(), &3.into()), "{task}");
    assert_eq!(count(&task["survivors"]), 0, "{task}");
    wait_until(SOON, "the supervisors of the outer task have exited", || {
        home.supervisors_of(&outer).is_empty().then_some(())
    });
    assert_eq!(count(&home.status(&outer)["survivors"]), 0);
    let inner = running_named(&home, "inner");
    assert_supervised(&home, &inner, home.pid(&inner));
}

#[test]
fn survivors_of_an_outer_task_are_distinguished_from_its_inner_task() {
    let home = nesting();
    let script = format!(
        "{}\n{}\nwhile [ ! -e kid ]; do :; done; exit 0",
        children::leave_setsid("kid"),
        start_named("inner", children::SLEEPER)
    );
    let outer = home.start(&script);
    let task = home.ended(&outer);
    assert_eq!(count(&task["survivors"]), 1, "{task}");
    let inner = running_named(&home, "inner");
    let (kid, inner_pid) = (home.pid_in("kid"), home.pid(&inner));
    let receipt = home.mw(["kill", "--json", &outer]).exits(0).json();
    assert_eq!(pids(&receipt["killed"]), [u64::from(kid)], "{receipt}");
    assert!(!alive(kid));
    assert_supervised(&home, &inner, inner_pid);
}

#[test]
fn killing_an_inner_task_spares_its_outer_task() {
    let home = nesting();
    let (outer, inner) = outer_and_inner(&home);
    let pid = home.pid(&outer);
    let receipt = home.mw(["kill", "--json", &inner]).exits(0).json();
    assert_eq!(receipt["status"], "cancelled", "{receipt}");
    assert_supervised(&home, &outer, pid);
    let _ = home.mw(["kill", &outer]).ok();
    home.wait_until_empty(SOON);
}

#[test]
fn the_process_tree_of_an_inner_task_ends_only_with_it() {
    let home = nesting();
    // The script would need nested quotes, so it is in a file.
    let leave = [children::leave_setsid("a"), children::leave_double_fork("b")];
    std::fs::write(home.work().join("tree.sh"), format!("{}\nexec sleep 600\n", leave.join("\n"))).unwrap();
    let outer = home.start(&format!("{}; exec sleep 600", start_named("inner", "exec sh tree.sh")));
    let inner = running_named(&home, "inner");
    let kids = [home.pid_in("a"), home.pid_in("b"), home.pid(&inner)];
    let _ = home.mw(["kill", &outer]).ok();
    assert!(
        kids.iter().all(|kid| alive(*kid)),
        "the kill of the outer task reached the tree of the inner one"
    );
    let receipt = home.mw(["kill", "--json", &inner]).exits(0).json();
    for kid in kids {
        assert!(!alive(kid), "{receipt}");
        assert!(pids(&receipt["killed"]).contains(&u64::from(kid)), "{receipt}");
    }
    home.wait_until_empty(SOON);
}

#[test]
fn the_middle_of_three_nested_tasks_is_killed_alone() {
    let home = nesting();
    std::fs::write(
        home.work().join("middle.sh"),
        format!("{}; exec sleep 600\n", start_named("inner", children::SLEEPER)),
    )
    .unwrap();
    let outer = home.start(&format!("{}; exec sleep 600", start_named("middle", "exec sh middle.sh")));
    let (middle, inner) = (running_named(&home, "middle"), running_named(&home, "inner"));
    let (outer_pid, inner_pid) = (home.pid(&outer), home.pid(&inner));
    let receipt = home.mw(["kill", "--json", &middle]).exits(0).json();
    assert_eq!(receipt["status"], "cancelled", "{receipt}");
    assert_supervised(&home, &outer, outer_pid);
    assert_supervised(&home, &inner, inner_pid);
}

#[test]
fn an_inner_task_has_its_own_exit_code_and_output() {
    let home = nesting();
    let script = format!("echo in; {}; exit 7", children::gate("go"));
    let outer = home.start(&format!("{}; exit 0", start_named("inner", &script)));
    home.ended(&outer);
    let inner = running_named(&home, "inner");
    home.open("go");
    let task = home.ended(&inner);
    assert_eq!((&task["status"], &task["exit_code"]), (&"failed".into(), &7.into()), "{task}");
    assert_eq!(home.log(&inner), b"in\n");
    assert_eq!(home.log(&outer), b"");
    assert_eq!(home.status(&outer)["exit_code"], 0);
}

#[test]
fn an_inner_task_has_its_own_id_in_the_environment() {
    let home = nesting();
    std::fs::write(home.work().join("tell.sh"), "echo $MEANWHILE_TASK_ID\n").unwrap();
    let outer = home.start(&format!("{}; echo $MEANWHILE_TASK_ID", start_named("inner", "exec sh tell.sh")));
    home.ended(&outer);
    let inner = home.list().iter().find(|task| task["name"] == "inner").unwrap()["id"].clone();
    let inner = inner.as_str().unwrap();
    home.ended(inner);
    assert_eq!(home.log(&outer), format!("{outer}\n").as_bytes());
    assert_eq!(home.log(inner), format!("{inner}\n").as_bytes());
}

#[test]
fn an_inner_task_waits_for_the_slot_of_its_outer_task() {
    let home = nesting().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let _outer = home.start(&format!("{}; {}", start_named("inner", "touch ran"), children::gate("go")));
    wait_until(SOON, "the inner task is queued", || {
        home.list().iter().any(|task| task["name"] == "inner" && task["status"] == "pending").then_some(())
    });
    assert!(!home.has_file("ran"));
    home.open("go");
    home.file("ran");
}

/// An upgrade replaces the files of running executables.
#[test]
fn killing_an_outer_task_of_another_build_spares_its_inner_task() {
    let home = nesting();
    let old = home.work().join("mw-old");
    std::fs::create_dir(&old).unwrap();
    for name in ["mw", "mw-engine", "mw-supervisor"] {
        let from = std::path::Path::new(env!("CARGO_BIN_EXE_mw")).with_file_name(name);
        std::fs::copy(from, old.join(name)).unwrap();
    }
    let script = format!("{}; exec sleep 600", start_named("inner", children::SLEEPER));
    let start = home.program(old.join("mw")).arg("start").arg("--json").arg(&script).run();
    let outer = start.json()["id"].as_str().unwrap().to_owned();
    let inner = running_named(&home, "inner");
    let inner_pid = home.pid(&inner);
    let outer_pid = home.pid(&outer);
    wait_until(SOON, "the outer task has started the inner one", || {
        mw_testkit::processes::command_line(outer_pid)
            .first()
            .is_some_and(|word| word == "sleep")
            .then_some(())
    });
    std::fs::remove_dir_all(&old).unwrap();
    let receipt = home.mw(["kill", "--json", &outer]).exits(0).json();
    assert_eq!(pids(&receipt["killed"]).len(), 1, "{receipt}");
    assert_supervised(&home, &inner, inner_pid);
    let _ = home.mw(["kill", &inner]).ok();
}

#[test]
fn the_settle_command_of_an_inner_task_is_not_a_survivor_of_its_outer_task() {
    let hook = "while [ ! -e settled ]; do sleep 0.02; done";
    let home = nesting().with_env("MEANWHILE_HOOKS_EXIT", hook);
    let (begin, end) = (children::gate("begin"), children::gate("end"));
    let outer = home.start(&format!("{begin}; {}; {end}; exit 0", start_named("inner", "true")));
    let supervisor = home.pair(&outer).supervisor;
    let settles =
        |pid: &u32| mw_testkit::processes::command_line(*pid).get(1).is_some_and(|word| word == "settle");
    wait_until(SOON, "the start of the outer task is settled", || {
        (!home.tagged().iter().any(settles)).then_some(())
    });
    home.open("begin");
    wait_until(SOON, "the inner task is being settled", || {
        let is_inside =
            |pid: &u32| mw_testkit::processes::stat(*pid).is_some_and(|stat| stat.parent == supervisor);
        home.tagged().into_iter().find(|pid| settles(pid) && is_inside(pid))
    });
    home.open("end");
    let task = home.ended(&outer);
    assert_eq!(count(&task["survivors"]), 0, "{task}");
    home.open("settled");
}
