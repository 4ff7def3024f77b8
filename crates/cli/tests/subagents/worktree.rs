//! Agents in a separate worktree.

use std::fs;
use std::path::PathBuf;

use crate::world::World;

fn repository(world: &World) {
    let script = "git init -q -b main . && git config user.email a@b && git config user.name a && \
                  echo one > file.txt && mkdir sub && echo x > sub/s && git add -A && git commit -qm first";
    let outcome = world.home.program("sh").arg("-c").arg(script).run();
    assert_eq!(outcome.code, Some(0), "{outcome}");
}

fn git(world: &World, arguments: &[&str]) -> String {
    let git = arguments.iter().fold(world.home.program("git"), |git, argument| git.arg(argument));
    git.run().text()
}

#[test]
fn changes_stay_in_the_worktree_and_are_reported_as_a_diff() {
    let world = World::new();
    repository(&world);
    let prompt = "run echo two >> file.txt; echo new > fresh.txt; pwd";
    let id = world.ask_with(&["--agent", "good", "--worktree"], prompt);
    let task = world.completed(&id);
    let place = task["agent"]["worktree"].as_str().unwrap().to_owned();
    assert_eq!(task["agent"]["answer"], place.as_str());
    assert_eq!(task["cwd"], place.as_str());
    assert_eq!(fs::read_to_string(world.work("file.txt")).unwrap(), "one\n", "the project is untouched");
    let diff = fs::read_to_string(task["agent"]["diff_path"].as_str().unwrap()).unwrap();
    assert!(diff.contains("+two") && diff.contains("fresh.txt") && diff.contains("+new"), "{diff}");
    assert!(PathBuf::from(&place).join("fresh.txt").exists(), "a changed worktree is kept");
    assert_eq!(git(&world, &["status", "--porcelain", "file.txt", ".meanwhile"]), "");
}

#[test]
fn a_clean_worktree_is_removed() {
    let world = World::new();
    repository(&world);
    let id = world.ask_with(&["--agent", "good", "--worktree"], "say nothing to do");
    let task = world.completed(&id);
    assert!(!PathBuf::from(task["agent"]["worktree"].as_str().unwrap()).exists(), "{task}");
    assert_eq!(task["agent"]["diff_path"], serde_json::Value::Null);
    assert_eq!(git(&world, &["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_worktree_without_a_repository_is_refused() {
    let world = World::new();
    let outcome = world.mw(&["agent", "--agent", "good", "--worktree", "--json", "say x"]);
    assert_eq!(outcome.code, Some(2), "{outcome}");
    assert!(outcome.json()["error"]["message"].as_str().unwrap().contains("repository"), "{outcome}");
    assert_eq!(world.home.list().len(), 0);
}

/// Applied to the initial commit, the diff gives the same files, and nothing is staged in the worktree.
#[test]
fn a_diff_of_any_bytes_can_be_applied_and_nothing_is_staged() {
    let world = World::new();
    repository(&world);
    let prompt =
        "run printf 'caf\\351\\n' > latin1.txt; printf '\\000\\001\\377' > raw.bin; rm sub/s; echo done";
    let id = world.ask_with(&["--agent", "good", "--worktree"], prompt);
    let task = world.completed(&id);
    let place = task["agent"]["worktree"].as_str().unwrap().to_owned();
    let diff = task["agent"]["diff_path"].as_str().unwrap();
    assert_eq!(git(&world, &["-C", &place, "diff", "--cached", "--name-only"]), "", "nothing is staged");
    let applied = world.home.program("git").arg("apply").arg(diff).run();
    assert_eq!(applied.code, Some(0), "{applied}");
    assert_eq!(fs::read(world.work("latin1.txt")).unwrap(), b"caf\xe9\n");
    assert_eq!(fs::read(world.work("raw.bin")).unwrap(), b"\x00\x01\xff");
    assert!(!world.work("sub/s").exists());
}

#[test]
fn a_worktree_with_commits_but_no_diff_is_kept_and_reported() {
    let world = World::new();
    repository(&world);
    let prompt = "run echo x > y; git add y; git commit -qm one; git rm -q y; git commit -qm two; echo done";
    let id = world.ask_with(&["--agent", "good", "--worktree"], prompt);
    let task = world.completed(&id);
    assert!(PathBuf::from(task["agent"]["worktree"].as_str().unwrap()).exists());
    let log = String::from_utf8(world.home.log(&id)).unwrap();
    assert!(log.contains("was kept because it has commits") && !log.contains("removed"), "{log}");
}
