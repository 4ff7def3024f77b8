//! `mw config get`, `set` and `unset`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use mw_testkit::Home;

use crate::home;

/// A home without variables that override the file.
fn file(home: &Home) -> std::path::PathBuf {
    home.user().join(".config/meanwhile/config.toml")
}

#[test]
fn a_setting_is_written_to_the_user_file_and_applies() {
    let home = home();
    let said = home.mw(["config", "set", "queue.max_running_total", "3"]).ok();
    assert!(said.contains("queue.max_running_total is set in") && said.contains("its value is 3"), "{said}");
    assert_eq!(fs::read_to_string(file(&home)).unwrap(), "[queue]\nmax_running_total = 3\n");
    assert_eq!(fs::metadata(file(&home)).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(home.mw(["config", "get", "queue.max_running_total"]).ok(), "3\n");
    home.mw(["config", "set", "queue.max_running_total", "5"]).ok();
    assert_eq!(home.mw(["config", "get", "queue.max_running_total", "--json"]).json()["value"], "5");
    home.mw(["config", "unset", "queue.max_running_total"]).ok();
    assert_eq!(fs::read_to_string(file(&home)).unwrap(), "[queue]\n");
}

#[test]
fn comments_links_and_permissions_stay() {
    let home = home();
    let real = home.user().join("dotfiles.toml");
    let text = "# mine\n[queue] # limits\nmax_running_total = 4 # enough\n";
    fs::write(&real, text).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir_all(file(&home).parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&real, file(&home)).unwrap();
    home.mw(["config", "set", "queue.max_running_total", "6"]).ok();
    assert_eq!(fs::read_to_string(&real).unwrap(), text.replace("= 4", "= 6"));
    assert!(file(&home).is_symlink());
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn what_is_not_accepted_changes_nothing() {
    let home = home();
    home.mw(["config", "set", "queue.max_running_total", "3"]).ok();
    let before = fs::read_to_string(file(&home)).unwrap();
    for (name, value, why) in [
        ("queue.max_running_total", "many", "a whole number"),
        ("queue.max_running_total", "-1", "a whole number"),
        ("queue.max_running_totall", "3", "did you mean queue.max_running_total"),
        ("nothing.like_it", "3", "mw config lists"),
    ] {
        let refused = home.mw(["config", "set", name, value]).exits(2);
        assert!(refused.to_string().contains(why), "{refused}");
        assert_eq!(fs::read_to_string(file(&home)).unwrap(), before);
    }
    fs::write(file(&home), "queue = { max_running_total = 3 ").unwrap();
    let _ = home.mw(["config", "set", "kill.grace_ms", "100"]).exits(2);
}

#[test]
fn only_the_user_changes_settings() {
    let home = home();
    let _ = home.command(["config", "set", "queue.max_running_total", "3"]).session("s").run().exits(2);
    let mw = env!("CARGO_BIN_EXE_mw");
    let id = home.start(&format!(
        "env -i HOME=\"$HOME\" MEANWHILE_HOME=\"$MEANWHILE_HOME\" {mw} config set queue.max_running_total 3; echo code $?"
    ));
    home.until_logged(&id, "code 2");
    assert!(!file(&home).exists());
}
