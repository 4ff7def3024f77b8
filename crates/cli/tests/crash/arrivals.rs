//! The list of tasks that are not in the database yet: no task is lost if it is incomplete, removed or locked.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use mw_testkit::{Home, SOON, children, need_program, wait_until};

use crate::home;
use crate::truth::assert_true;

fn arrivals(home: &Home) -> PathBuf {
    home.state().join("arrivals")
}

fn ids(home: &Home) -> Vec<String> {
    let mut ids: Vec<_> = home.list().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

/// Waits for the end of a task without a command that would add it to the database.
fn over(home: &Home, id: &str) {
    let record = home.task_dir(id).join("result.json");
    wait_until(SOON, "its exit record is written", || {
        fs::read_to_string(&record).is_ok_and(|text| text.trim_end().ends_with('}')).then_some(())
    });
}

#[test]
fn an_incomplete_line_hides_no_other_task() {
    let home = home();
    let first = home.start("exit 3");
    let _ = home.list();
    let mut file = OpenOptions::new().append(true).open(arrivals(&home)).unwrap();
    // The state after the disk was full for a moment.
    file.write_all(&first.as_bytes()[..7]).unwrap();
    let second = home.start("exit 3");
    let mut expected = [first, second];
    expected.sort();
    assert_eq!(ids(&home), expected);
}

#[test]
fn garbage_in_the_list_of_new_tasks_is_ignored() {
    let home = home();
    let first = home.start("exit 3");
    over(&home, &first);
    let mut text = vec![0, 255, b'\n', b'\xc3', b'\n'];
    text.extend(format!("bash-22222222\n../../x\n{first}\n{first}\n").bytes());
    fs::write(arrivals(&home), text).unwrap();
    assert_eq!(ids(&home), [first]);
    assert_eq!(fs::read(arrivals(&home)).unwrap(), b"");
    assert_true(&home, &["failed"]);
}

#[test]
fn tasks_are_found_after_the_list_was_removed() {
    let home = home();
    let known = home.start("exit 3");
    let _ = home.ended(&known);
    let (ended, running) = (home.start("exit 3"), home.start(children::SLEEPER));
    over(&home, &ended);
    fs::remove_file(arrivals(&home)).unwrap();
    let mut expected = [known, ended, running];
    expected.sort();
    assert_eq!(ids(&home), expected);
}

#[test]
fn a_stopped_start_command_blocks_no_other_command() {
    need_program("flock");
    let home = home();
    let first = home.start("exit 3");
    over(&home, &first);
    // The state of a start command that is stopped between its line and its directory.
    let holder = home.program("flock").arg("--no-fork").arg("-s").arg(arrivals(&home));
    let holder = holder.arg("sh").arg("-c").arg("echo held; exec sleep 600").spawn();
    wait_until(SOON, "the list is held", || holder.printed().contains("held").then_some(()));
    let listed = home.command(["list", "--json"]).limit(Duration::from_secs(40)).run().json();
    assert_eq!(listed["tasks"][0]["id"], first.as_str(), "{listed}");
    let second = home.start("exit 3");
    assert_eq!(ids(&home).len(), 2);
    let _ = holder.kill();
    let mut expected = [first, second];
    expected.sort();
    assert_eq!(ids(&home), expected);
    assert_eq!(fs::read(arrivals(&home)).unwrap(), b"");
}

#[test]
fn a_task_first_seen_on_a_full_disk_stays_known() {
    let home = Home::on_small_disk(env!("CARGO_BIN_EXE_mw"), 8 << 20);
    let _ = home.ended(&home.start("exit 3"));
    let id = home.start("exit 3");
    over(&home, &id);
    let ballast = home.state().join("ballast");
    assert!(fs::write(&ballast, vec![0; 16 << 20]).is_err(), "the disk is not full");
    assert_eq!(home.status(&id)["exit_code"], 3);
    fs::remove_file(&ballast).unwrap();
    assert!(ids(&home).contains(&id));
}

#[test]
fn a_start_that_cannot_be_recorded_leaves_no_files() {
    let home = home();
    let _ = home.list();
    let _ = fs::remove_file(arrivals(&home));
    fs::create_dir(arrivals(&home)).unwrap();
    let refused = home.mw(["start", "--json", "exit 3"]);
    let _ = refused.refusal(7);
    home.wait_until_empty(SOON);
    assert_eq!(fs::read_dir(home.state().join("tasks")).unwrap().count(), 0);
    fs::remove_dir(arrivals(&home)).unwrap();
    let _ = home.ended(&home.start("exit 3"));
    assert_eq!(home.list().len(), 1);
}

#[test]
fn tasks_are_found_by_their_directories_without_a_database() {
    let home = home();
    let _ = home.ended(&home.start("exit 3"));
    let second = home.start("exit 3");
    over(&home, &second);
    home.delete_database();
    let _ = home.ended(&second);
    assert_eq!(home.list().len(), 2);
    assert_true(&home, &["failed"]);
}

#[test]
fn a_start_killed_before_it_wrote_the_spec_leaves_no_task() {
    let home = home();
    let _ = home.list();
    let id = "bash-abcd1234";
    fs::create_dir(home.task_dir(id)).unwrap();
    fs::write(home.task_dir(id).join("spec.json"), "").unwrap();
    fs::write(arrivals(&home), format!("\n{id}\n")).unwrap();
    assert!(ids(&home).is_empty());
    assert!(!home.task_dir(id).exists());
}
