//! A confined task works like any other: streams, kills, adoption, builds and commits.

use std::fs;
use std::path::Path;

use mw_testkit::{SOON, children, wait_until};

use super::{PROJECT, confined, confining};

#[test]
fn terminals_input_progress_and_streams_work() {
    let home = confining();
    let (log, _) =
        confined(&home, &["--confine", "project", "--pty"], "tty; test -t 1 && echo is terminal > /dev/tty");
    assert!(log.contains("/dev/pts/") && log.contains("is terminal"), "{log}");
    let id = home.start_with(&["--confine", "project", "--stdin"], "read line; echo got $line > /dev/stdout");
    home.mw(["input", &id, "hello"]).ok();
    let _ = home.ended(&id);
    home.until_logged(&id, "got hello");
    let script = "echo '{\"percent\":40}' >&$MEANWHILE_PROGRESS_FD; echo told; sleep 600";
    let id = home.start_with(&["--confine", "project", "--progress-fd"], script);
    wait_until(SOON, "progress", || (home.status(&id)["progress"]["percent"] == 40.0).then_some(()));
    home.mw(["kill", &id]).ok();
    let (log, _) =
        confined(&home, &["--confine", "project", "--direct"], "echo direct > /dev/stdout; echo e >&2");
    assert!(log.contains("direct") && log.contains('e'), "{log}");
}

#[test]
fn a_confined_tree_is_killed_completely_and_survivors_are_counted() {
    let home = confining();
    let script = "(setsid sleep 601 &) ; (setsid setsid sleep 602 & echo $! > apart) ; echo begun; sleep 603";
    let id = home.start_with(&PROJECT, script);
    home.until_logged(&id, "begun");
    home.mw(["kill", &id]).ok();
    home.wait_until_empty(SOON);
    let id = home.start_with(&PROJECT, "setsid sleep 604 & echo left");
    let task = home.ended(&id);
    assert_eq!(task["survivors"], 1, "{task}");
    home.mw(["kill", &id]).ok();
    home.wait_until_empty(SOON);
}

#[test]
fn a_confined_task_survives_its_supervisors_and_is_adopted() {
    let home = confining();
    let script =
        format!("echo begun; {}; echo x > /root/escaped 2>/dev/null; echo end; exit 7", children::gate("go"));
    for both in [false, true] {
        let _ = fs::remove_file(home.work().join("go"));
        let id = home.start_with(&PROJECT, &script);
        home.until_logged(&id, "begun");
        let pair = home.pair(&id);
        if both {
            home.kill_supervisors(&id);
            home.mw(["list"]).ok();
        } else {
            home.kill_process(pair.supervisor);
        }
        home.open("go");
        let task = home.ended(&id);
        home.until_logged(&id, "end");
        assert_eq!(task["confined"]["by"][0], "landlock", "{task}");
        assert!(task["exit_code"] == 7 || (both && task["status"] == "lost"), "{task}");
    }
}

#[test]
fn everyday_work_in_a_project_is_possible() {
    let home = confining();
    let script = "git config --global --get user.name; echo text > file && git add file && \
                  git -c user.name=n -c user.email=e@x commit -qm first && git checkout -qb next && \
                  echo more >> file && git -c user.name=n -c user.email=e@x commit -qam second && \
                  git log --oneline | wc -l && git status --short && git stash list && echo all done";
    let (log, task) = confined(&home, &PROJECT, script);
    assert!(log.contains("all done") && task["exit_code"] == 0, "{log}");
    let Ok(cargo) = std::env::var("CARGO") else { return };
    let bin = Path::new(&cargo).parent().unwrap().display().to_string();
    let script = format!(
        "export PATH={bin}:$PATH && cargo init -q --name hello . && cargo build -q --offline && ./target/debug/hello"
    );
    let (log, task) = confined(&home, &PROJECT, &script);
    assert!(log.contains("Hello, world!"), "{log} {task}");
}
