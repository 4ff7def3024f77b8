//! Restarts without enough resources: the task continues, or the error says that it was ended.

use std::fs;

use mw_testkit::{Home, alive, children};

use crate::home;

#[test]
fn a_restart_on_a_full_disk_leaves_the_task_running() {
    let home = Home::on_small_disk(env!("CARGO_BIN_EXE_mw"), 8 << 20);
    let id = home.start_with(&["--name", "web"], children::SLEEPER);
    let pid = home.pid(&id);
    home.until_status(&id, "running");
    let ballast = home.state().join("ballast");
    assert!(fs::write(&ballast, vec![0; 16 << 20]).is_err(), "the disk is not full");
    let error = home.mw(["restart", "--json", "web"]).refusal(7);
    assert!(error["message"].as_str().unwrap().contains("keeps running"), "{error}");
    assert!(alive(pid));
    fs::remove_file(&ballast).unwrap();
    let task = home.status("web");
    assert_eq!((&task["status"], &task["runs"]), (&"running".into(), &1.into()), "{task}");
    let _ = home.mw(["restart", "web"]).ok();
    assert!(!alive(pid));
    assert_eq!(home.status("web")["runs"], 2);
    assert!(!home.task_dir(&id).join(".restart").exists());
}

#[test]
fn a_restart_without_a_supervisor_leaves_the_task_running() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let pid = home.pid(&id);
    let refused = home.command(["restart", &id]).env("MEANWHILE_SUPERVISOR", "/nonexistent").run();
    assert!(refused.code != Some(0) && alive(pid), "{refused}");
    assert_eq!(home.status(&id)["status"], "running");
}

/// The obstacle to recording the next run appears while the current one ends.
#[test]
fn a_restart_that_fails_after_the_kill_says_that_the_task_was_ended() {
    let home = home();
    let flag = home.state().join("waiting");
    let script = format!(
        "trap 'ln -s no/where {}; exit 0' TERM; echo ready; while :; do sleep 0.02; done",
        flag.display()
    );
    let id = home.start(&script);
    home.until_logged(&id, "ready");
    let pid = home.pid(&id);
    let error = home.mw(["restart", "--json", &id]).refusal(7);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("was ended but could not be restarted: cannot write"), "{error}");
    assert!(error["hint"].as_str().unwrap().ends_with(&format!("then: mw restart {id}")), "{error}");
    assert!(!alive(pid));
    let task = home.status(&id);
    assert_eq!((&task["status"], &task["runs"]), (&"cancelled".into(), &1.into()), "{task}");
    fs::remove_file(&flag).unwrap();
    let _ = home.mw(["restart", &id]).ok();
    home.until_logged(&id, "ready");
    assert_eq!(home.status(&id)["runs"], 2);
    let _ = home.mw(["kill", "--signal", "KILL", &id]).ok();
}

#[test]
fn a_restart_with_too_few_descriptors_leaves_the_task_running() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let mut refusals = 0;
    for files in 5..24 {
        let before = home.status(&id);
        let pid = home.pid(&id);
        let script = format!("ulimit -n {files} && exec \"$0\" \"$@\"");
        let program = home.program("sh").arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_mw"));
        let done = program.arg("restart").arg(&id).run();
        if done.code == Some(0) {
            assert!(!alive(pid), "{files}: {done}");
            assert!(refusals > 0, "no descriptors were missing");
            return;
        }
        let said = format!("{done}");
        assert!(alive(pid), "{files}: the lack must be found before the kill: {said}");
        // With very few descriptors the loader ends the program before it begins.
        refusals += u32::from(done.stderr_text().starts_with("error: "));
        assert!(!said.contains("corrupt"), "{files}: {said}");
        assert_eq!(home.status(&id)["runs"], before["runs"], "{files}: {said}");
    }
    panic!("24 descriptors are not enough");
}
