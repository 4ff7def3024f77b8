//! What a task inherits from its caller, byte for byte: environment, umask, search path and arguments.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use mw_testkit::{Home, Outcome, children};

use crate::home;

fn id_of(outcome: Outcome) -> String {
    outcome.exits(0).json()["id"].as_str().unwrap().to_owned()
}

/// Returns the value of a variable as the task's environment has it, taken from a dump of `env -0`.
fn value_in(dump: &[u8], name: &str) -> Vec<Vec<u8>> {
    let prefix = format!("{name}=");
    let entries = dump.split(|byte| *byte == 0);
    entries.filter_map(|entry| entry.strip_prefix(prefix.as_bytes())).map(<[u8]>::to_vec).collect()
}

/// Writes an executable script.
fn executable(path: &Path, script: &str) {
    fs::write(path, script).unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn inherited_variables_for_task_id_and_session_are_replaced() {
    let home = home();
    let outcome = home
        .command(["start", "--json", "--", "env", "-0"])
        .session("mine")
        .env("MEANWHILE_TASK_ID", "bash-foreign1")
        .env("MEANWHILE_TASK_SESSION", "foreign")
        .run();
    let id = id_of(outcome);
    home.ended(&id);
    let dump = home.log(&id);
    assert_eq!(value_in(&dump, "MEANWHILE_TASK_ID"), [id.as_bytes()]);
    assert_eq!(value_in(&dump, "MEANWHILE_TASK_SESSION"), [b"mine"]);
}

/// Reserved variables, which every start sets.
const RESERVED: [&str; 5] =
    ["MEANWHILE_TASK_ID", "MEANWHILE_TASK_SESSION", "MEANWHILE_PROGRESS_FD", "TRACEPARENT", "TRACESTATE"];

#[test]
fn a_reserved_variable_cannot_be_set_by_a_call() {
    let home = home();
    for name in RESERVED {
        let set = format!("{name}=x");
        for command in ["start", "run", "agent", "policy"] {
            let refused = home.mw([command, "--json", "--env", &set, "true"]).refusal(2);
            assert!(refused["message"].as_str().unwrap().starts_with(name), "{command}: {refused}");
        }
    }
    assert_eq!(home.mw(["list", "--json"]).json()["total"], 0);
}

#[test]
fn inherited_values_that_are_not_utf8_are_passed_unchanged() {
    let home = home();
    let odd: Vec<u8> = (1..=255).collect();
    let outcome = home
        .command(["start", "--json", "--", "env", "-0"])
        .env("ODD", OsStr::from_bytes(&odd))
        .env(OsStr::from_bytes(b"N\xffME"), "v")
        .env("EMPTY", "")
        .env("LINES", "a\nb=c\n")
        .run();
    let id = id_of(outcome);
    home.ended(&id);
    let dump = home.log(&id);
    assert_eq!(value_in(&dump, "ODD"), [odd]);
    assert_eq!(value_in(&dump, "EMPTY"), [b""]);
    assert_eq!(value_in(&dump, "LINES"), [b"a\nb=c\n"]);
    assert!(dump.split(|byte| *byte == 0).any(|entry| entry == b"N\xffME=v"));
}

#[test]
fn values_that_are_not_utf8_are_kept_in_the_queue() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let _first = home.start(&children::gated("go", 0));
    let outcome = home
        .command(["start", "--json", "--", "env", "-0"])
        .env("ODD", OsStr::from_bytes(b"a\xff\xfe\n'\"\\"))
        .run();
    let id = id_of(outcome);
    home.open("go");
    home.ended(&id);
    assert_eq!(value_in(&home.log(&id), "ODD"), [b"a\xff\xfe\n'\"\\"]);
}

#[test]
fn a_given_variable_replaces_the_inherited_one_and_the_last_wins() {
    let home = home();
    let given = ["--env", "A=new", "--env", "B=one", "--env", "B=two=2", "--env", "C="];
    let args = ["start", "--json"].iter().chain(&given).chain(&["--", "env", "-0"]);
    let outcome = home.command(args).env("A", "old").env("C", "old").run();
    let id = id_of(outcome);
    home.ended(&id);
    let dump = home.log(&id);
    assert_eq!(value_in(&dump, "A"), [b"new"]);
    assert_eq!(value_in(&dump, "B"), [b"two=2"]);
    assert_eq!(value_in(&dump, "C"), [b""]);
}

#[test]
fn given_values_that_are_not_utf8_are_passed_unchanged() {
    let home = home();
    let outcome = home
        .command(["start", "--json", "--env"])
        .arg(OsStr::from_bytes(b"ODD=\xff\x01\xfe"))
        .arg("--")
        .arg("env")
        .arg("-0")
        .run();
    let id = id_of(outcome);
    home.ended(&id);
    assert_eq!(value_in(&home.log(&id), "ODD"), [b"\xff\x01\xfe"]);
}

#[test]
fn a_variable_that_the_caller_lacks_is_not_set_in_the_task() {
    let home = home();
    let id = id_of(home.command(["start", "--json", "--", "env", "-0"]).without("LANG").run());
    home.ended(&id);
    assert_eq!(value_in(&home.log(&id), "LANG"), [b""; 0]);
}

/// Starts a task under a umask, creates a file in it, and returns the mode of the file.
fn mode_under(home: &Home, mask: &str, file: &str) -> u32 {
    home.ended(&touch_under(home, mask, file));
    mode_of(home, file)
}

fn mode_of(home: &Home, file: &str) -> u32 {
    fs::metadata(home.work().join(file)).unwrap().permissions().mode() & 0o777
}

/// Starts a task that makes a file; returns its id.
fn touch_under(home: &Home, mask: &str, file: &str) -> String {
    let outcome = home
        .program("/bin/sh")
        .arg("-c")
        .arg("umask \"$2\"; exec \"$0\" start --json \"$1\"")
        .arg(env!("CARGO_BIN_EXE_mw"))
        .arg(format!("touch {file}; mkdir {file}.d"))
        .arg(mask)
        .run();
    id_of(outcome)
}

#[test]
fn a_task_creates_files_with_the_callers_umask() {
    let home = home();
    for (mask, mode) in [("022", 0o644), ("027", 0o640), ("077", 0o600), ("000", 0o666), ("002", 0o664)] {
        assert_eq!(mode_under(&home, mask, mask), mode, "umask {mask}");
    }
}

#[test]
fn a_queued_task_keeps_the_callers_umask() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let first = home.start(&children::gated("go", 0));
    let queued = touch_under(&home, "013", "file");
    assert_eq!(home.status(&queued)["status"], "pending");
    home.open("go");
    home.ended(&first);
    home.ended(&queued);
    assert_eq!(mode_of(&home, "file"), 0o664);
}

#[test]
fn programs_are_searched_in_the_callers_path() {
    let home = home();
    let place = home.work().join("tools");
    fs::create_dir(&place).unwrap();
    executable(&place.join("tool"), "#!/bin/sh\necho \"tool in $PATH\"\n");
    let path = format!("{}:/usr/bin:/bin", place.display());
    let _ = home.mw(["start", "--json", "--", "tool"]).refusal(127);
    for args in [["start", "--json", "--", "tool"].as_slice(), &["start", "--json", "tool"]] {
        let id = id_of(home.command(args).env("PATH", &path).run());
        home.ended(&id);
        assert_eq!(home.log(&id), format!("tool in {path}\n").as_bytes());
    }
}

#[test]
fn a_given_path_is_used_to_find_the_program() {
    let home = home();
    let place = home.work().join("tools");
    fs::create_dir(&place).unwrap();
    executable(&place.join("tool"), "#!/bin/sh\necho found\n");
    let path = format!("PATH={}:/usr/bin:/bin", place.display());
    let id = id_of(home.mw(["start", "--json", "--env", &path, "--", "tool"]));
    home.ended(&id);
    assert_eq!(home.log(&id), b"found\n");
}

#[test]
fn the_first_match_in_the_path_is_used() {
    let home = home();
    for (place, word) in [("first", "one"), ("second", "two")] {
        fs::create_dir(home.work().join(place)).unwrap();
        executable(&home.work().join(place).join("tool"), &format!("#!/bin/sh\necho {word}\n"));
    }
    let at = |place: &str| home.work().join(place).display().to_string();
    let path = format!("{}:{}:/usr/bin:/bin", at("first"), at("second"));
    let id = id_of(home.command(["start", "--json", "--", "tool"]).env("PATH", &path).run());
    home.ended(&id);
    assert_eq!(home.log(&id), b"one\n");
}

#[test]
fn arguments_with_newlines_and_quotes_are_passed_unchanged() {
    let home = home();
    let words =
        ["a\nb", "it's", "say \"hi\"", "`x`", "$HOME", "\\", "\t", "", " ", "*", "-n", "--json", "a\rb"];
    let args = ["start", "--json", "--", "printf", "%s\\0"].iter().chain(&words);
    let id = id_of(home.mw(args));
    home.ended(&id);
    assert_eq!(home.log(&id), words.map(|word| format!("{word}\0")).concat().as_bytes());
}

#[test]
fn arguments_that_are_not_utf8_are_passed_unchanged() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let every: Vec<u8> = (1..=255).collect();
    let start = || {
        let command = home.command(["start", "--json", "--", "printf", "%s\\0"]);
        id_of(command.arg(OsStr::from_bytes(&every)).arg(OsStr::from_bytes(b"\xc3")).run())
    };
    let expected = [&every[..], b"\0\xc3\0"].concat();
    let at_once = start();
    home.ended(&at_once);
    assert_eq!(home.log(&at_once), expected);
    let _holder = home.start(&children::gated("go", 0));
    let queued = start();
    home.open("go");
    home.ended(&queued);
    assert_eq!(home.log(&queued), expected);
}

#[test]
fn a_script_that_is_not_utf8_is_passed_unchanged() {
    let home = home();
    let id = id_of(home.command(["start", "--json"]).arg(OsStr::from_bytes(b"printf '%s' '\xff\xfe'")).run());
    home.ended(&id);
    assert_eq!(home.log(&id), b"\xff\xfe");
}
