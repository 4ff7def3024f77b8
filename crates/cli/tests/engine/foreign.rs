//! Foreign files in a home are reported and left alone: nothing is removed or written through a link, and a
//! home that other users can change is refused.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use mw_testkit::{Home, SOON};

use crate::home;

/// A foreign directory whose files have the names of task files.
fn treasure(home: &Home) -> PathBuf {
    let treasure = home.work().join("treasure");
    fs::create_dir_all(treasure.join("tasks/deep")).unwrap();
    for name in ["thesis.tex", "host-letter", "tasks/deep/photo", "runs"] {
        fs::write(treasure.join(name), "precious").unwrap();
    }
    symlink("/nowhere/at/all", treasure.join("tasks/dangling")).unwrap();
    treasure
}

/// Returns every path below a directory, sorted.
fn contents(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        all.push(entry.path());
        if entry.file_type().unwrap().is_dir() {
            all.extend(contents(&entry.path()));
        }
    }
    all.sort();
    all
}

/// Creates a home with a finished task and a foreign entry with the name of a task.
fn beside(put: impl Fn(&Home, &Path)) -> (Home, String) {
    let home = home().with_env("MEANWHILE_RETENTION_MAX_AGE", "1ms");
    let id = home.start("true");
    home.ended(&id);
    home.wait_until_empty(SOON);
    put(&home, &home.task_dir("bash-aaaaaaaa"));
    (home, id)
}

#[test]
fn a_link_in_place_of_a_task_directory_is_reported_and_not_followed() {
    for has_spec in [false, true] {
        let (home, id) = beside(|home, place| symlink(treasure(home), place).unwrap());
        let treasure = home.work().join("treasure");
        if has_spec {
            // A foreign directory with task files is not a task.
            let spec = fs::read_to_string(home.task_dir(&id).join("spec.json")).unwrap();
            fs::write(treasure.join("spec.json"), spec.replace(&id, "bash-aaaaaaaa")).unwrap();
        }
        let before = contents(&treasure);
        let place = home.task_dir("bash-aaaaaaaa");
        for command in ["status", "output", "restart", "clear"] {
            let error = home.mw([command, "--json", "bash-aaaaaaaa"]).refusal(7);
            assert_eq!(error["code"], "not_a_task", "{command}: {error}");
            assert!(error["message"].as_str().unwrap().contains("symbolic link"), "{command}: {error}");
            assert!(!error["hint"].as_str().unwrap().contains("mw clear"), "{command}: {error}");
            assert!(error["hint"].as_str().unwrap().contains(place.to_str().unwrap()), "{command}: {error}");
        }
        home.delete_database();
        let said = home.mw(["list"]).exits(0).stderr_text();
        assert!(said.contains("bash-aaaaaaaa") && !said.contains("mw clear"), "{said}");
        let _ = home.mw(["clear", "--kill", "--finished"]).ok();
        let _ = home.mw(["clear", "--expired"]).ok();
        assert!(fs::symlink_metadata(&place).is_ok(), "no command removes the link");
        assert_eq!(contents(&treasure), before, "the target of the link is unchanged");
    }
}

#[test]
fn clearing_a_task_whose_directory_became_a_link_does_not_follow_it() {
    let home = home().with_env("MEANWHILE_RETENTION_MAX_AGE", "1ms");
    let ids = [(); 2].map(|()| home.start("true"));
    ids.iter().for_each(|id| drop(home.ended(id)));
    home.wait_until_empty(SOON);
    let treasure = treasure(&home);
    let before = contents(&treasure);
    fs::rename(home.task_dir(&ids[0]), home.work().join("moved")).unwrap();
    symlink(&treasure, home.task_dir(&ids[0])).unwrap();
    let error = home.mw(["clear", "--json", &ids[0]]).refusal(7);
    assert_eq!(error["code"], "not_a_task", "{error}");
    let error = home.mw(["restart", "--json", &ids[0]]).refusal(7);
    assert_eq!(error["code"], "not_a_task", "{error}");
    for args in [["clear", "--json", "--expired"], ["clear", "--json", "--finished"]] {
        let report = home.mw(args).exits(0).json();
        assert_eq!(report["kept"][0]["id"], ids[0].as_str(), "{report}");
    }
    assert!(!home.task_dir(&ids[1]).exists(), "the other task is cleared");
    assert_eq!(contents(&treasure), before);
    fs::remove_file(home.task_dir(&ids[0])).unwrap();
    let _ = home.mw(["clear", &ids[0]]).ok();
    assert_eq!(home.list().len(), 0);
}

#[test]
fn other_files_in_place_of_a_task_directory_are_left_alone() {
    let directory = |_: &Home, place: &Path| {
        fs::create_dir(place).unwrap();
        fs::write(place.join("notes.txt"), "mine").unwrap();
    };
    let file = |_: &Home, place: &Path| fs::write(place, "mine").unwrap();
    for put in [&directory as &dyn Fn(&Home, &Path), &file] {
        let (home, _) = beside(put);
        let error = home.mw(["clear", "--json", "bash-aaaaaaaa"]).refusal(7);
        assert_eq!(error["code"], "not_a_task", "{error}");
        // The list of new tasks can contain anything.
        fs::write(home.state().join("arrivals"), "bash-aaaaaaaa\n").unwrap();
        let _ = home.list();
        home.delete_database();
        let _ = home.list();
        let _ = home.mw(["clear", "--expired"]).ok();
        let place = home.task_dir("bash-aaaaaaaa");
        let kept = if place.is_dir() { place.join("notes.txt") } else { place };
        assert_eq!(fs::read_to_string(kept).unwrap(), "mine");
    }
}

#[test]
fn links_inside_a_task_directory_are_removed_and_not_followed() {
    let home = home();
    let treasure = treasure(&home);
    let before = contents(&treasure);
    for name in ["runs", "follow-ups", "extra"] {
        let id = home.start("true");
        home.ended(&id);
        symlink(&treasure, home.task_dir(&id).join(name)).unwrap();
        if name == "runs" {
            let error = home.mw(["restart", "--json", &id]).refusal(7);
            assert!(error["message"].as_str().unwrap().contains("runs"), "{error}");
            assert_eq!(home.status(&id)["runs"], 1);
        }
        let _ = home.mw(["clear", &id]).ok();
        assert!(!home.task_dir(&id).exists(), "{name}");
        assert_eq!(contents(&treasure), before, "{name}");
    }
}

#[test]
fn a_link_in_place_of_a_session_directory_is_not_followed() {
    let home = home();
    let treasure = treasure(&home);
    let before = contents(&treasure);
    fs::create_dir_all(home.state().join("sessions")).unwrap();
    fs::set_permissions(home.state(), fs::Permissions::from_mode(0o700)).unwrap();
    symlink(&treasure, home.state().join("sessions/linked")).unwrap();
    let _ = home.command(["notices", "--json"]).session("linked").run();
    let id = home.start("true");
    home.ended(&id);
    let _ = home.mw(["clear", &id]).ok();
    let _ = home.mw(["session", "delete", "linked", "--json"]);
    assert_eq!(contents(&treasure), before);
}

#[test]
fn a_home_writable_by_others_is_refused() {
    for part in ["", "tasks", "sessions", "bells"] {
        for mode in [0o720, 0o702, 0o777] {
            let home = home();
            let id = home.start("true");
            home.ended(&id);
            let part = home.state().join(part);
            fs::set_permissions(&part, fs::Permissions::from_mode(mode)).unwrap();
            for args in [&["list", "--json"][..], &["start", "--json", "true"]] {
                let error = home.mw(args).refusal(7);
                assert!(error["message"].as_str().unwrap().contains("other users can write"), "{error}");
                assert!(error["hint"].as_str().unwrap().contains("chmod go-w"), "{error}");
            }
            fs::set_permissions(&part, fs::Permissions::from_mode(0o755)).unwrap();
            assert_eq!(home.list().len(), 1, "a home that others can only read is accepted");
        }
    }
}

#[test]
fn a_link_as_home_or_as_a_directory_inside_it_is_refused() {
    let home = home();
    home.ended(&home.start("true"));
    let said = |link: &Path, args: &[&str], place: &Path| {
        let error = home.command(args).env("MEANWHILE_HOME", place).run().refusal(7);
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("symbolic link") && message.contains(link.to_str().unwrap()), "{error}");
    };
    let doctor = |place: &Path| {
        let found = home.command(["doctor", "--json"]).env("MEANWHILE_HOME", place).run().exits(1).json();
        let checks = found["checks"].as_array().unwrap().clone();
        let of_home = checks.iter().find(|check| check["name"] == "home").unwrap().clone();
        assert_eq!(of_home["verdict"], "problem", "{found}");
        assert!(of_home["detail"].as_str().unwrap().contains("symbolic link"), "{found}");
    };
    let link = home.work().join("link");
    symlink(home.state(), &link).unwrap();
    for place in [link.clone(), link.join("")] {
        said(&link, &["list", "--json"], &place);
        said(&link, &["start", "--json", "touch ran"], &place);
        doctor(&place);
    }
    for part in ["tasks", "sessions", "bells"] {
        let (place, elsewhere) = (home.state().join(part), home.work().join(part));
        fs::rename(&place, &elsewhere).unwrap();
        symlink(&elsewhere, &place).unwrap();
        said(&place, &["list", "--json"], home.state());
        said(&place, &["start", "--json", "touch ran"], home.state());
        doctor(home.state());
        fs::remove_file(&place).unwrap();
        fs::rename(&elsewhere, &place).unwrap();
    }
    assert!(!home.has_file("ran"));
    assert_eq!(home.list().len(), 1);
}
