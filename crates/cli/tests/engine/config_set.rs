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

/// The rest of the file stays as it is, or nothing is changed.
#[test]
fn a_file_that_would_lose_or_break_something_is_not_changed() {
    let home = home();
    fs::create_dir_all(file(&home).parent().unwrap()).unwrap();
    for (text, call) in [
        ("retention = { max_age = 0, max_tasks = 5 }\n", &["unset", "retention.max_tasks"][..]),
        ("retention = { max_age = 0, max_tasks = 5 }\n", &["set", "kill.grace_ms", "5"]),
        ("profile = \"opta\"\n[background]\nmaxConcurrent = 3\n", &["set", "queue.max_running", "4"]),
        ("profile = \"opta\"\n[background]\nmaxConcurrent = 3\n", &["unset", "profile"]),
    ] {
        fs::write(file(&home), text).unwrap();
        let outcome = home.mw(["config"].iter().chain(call));
        let kept = fs::read_to_string(file(&home)).unwrap();
        let is_whole = outcome.code == Some(0) && kept.starts_with(text);
        assert!(is_whole || outcome.code == Some(2) && kept == text, "{outcome}: {kept}");
    }
}

#[test]
fn a_file_that_is_not_regular_or_read_only_is_refused() {
    let home = home();
    fs::create_dir_all(file(&home).parent().unwrap()).unwrap();
    let set = || home.mw(["config", "set", "theme", "dark"]).exits(2);
    std::os::unix::fs::symlink("/no/such/file", file(&home)).unwrap();
    let _ = set();
    assert!(file(&home).is_symlink());
    fs::remove_file(file(&home)).unwrap();
    fs::write(file(&home), "").unwrap();
    fs::set_permissions(file(&home), fs::Permissions::from_mode(0o444)).unwrap();
    assert!(set().to_string().contains("read-only"));
    let null = home.command(["config", "set", "theme", "dark"]).env("MEANWHILE_CONFIG", "/dev/null");
    let _ = null.run().exits(2);
}

#[test]
fn changes_at_the_same_time_are_all_kept() {
    let home = home();
    let settings = ["queue.max_running", "queue.max_running_total", "kill.grace_ms", "chat.layout", "theme"];
    let values = ["3", "4", "500", "auto", "dark"];
    let call = |(name, value): (&&str, &&str)| home.command(["config", "set", *name, *value]).spawn();
    let calls: Vec<_> = settings.iter().zip(&values).map(call).collect();
    for call in calls {
        let _ = call.wait().exits(0);
    }
    let text = fs::read_to_string(file(&home)).unwrap();
    for value in [
        "max_running = 3",
        "max_running_total = 4",
        "grace_ms = 500",
        "layout = \"auto\"",
        "theme = \"dark\"",
    ] {
        assert!(text.contains(value), "{value}: {text}");
    }
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
