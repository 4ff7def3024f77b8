//! Commands that cannot be executed.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::home;

/// Starts a program that cannot be executed and checks that there is no task.
fn refused(program: &str, code: i32) {
    let home = home();
    fs::write(home.work().join("plain.txt"), "no program").unwrap();
    let error = home.mw(["start", "--json", "--", program, "x"]).refusal(code);
    assert!(error["message"].as_str().unwrap().contains(program), "{error}");
    assert_eq!(home.list(), [serde_json::Value::Null; 0], "a phantom task");
    home.wait_until_empty(mw_testkit::SOON);
}

#[test]
fn an_unknown_program_is_refused() {
    refused("no-such-program-here", 127);
}

#[test]
fn a_path_without_a_file_is_refused() {
    refused("./no/such/file", 127);
}

#[test]
fn a_file_that_is_not_executable_is_refused() {
    refused("./plain.txt", 126);
}

#[test]
fn a_directory_as_program_is_refused() {
    refused("/", 126);
}

#[test]
fn a_missing_shell_is_refused() {
    let home = home();
    let _ = home.mw(["start", "--json", "--shell", "/no/such/shell", "true"]).refusal(127);
    assert_eq!(home.list().len(), 0);
}

#[test]
fn a_program_with_a_broken_interpreter_is_refused() {
    let home = home();
    let path = home.work().join("broken");
    fs::write(&path, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let error = home.mw(["start", "--json", "--", "./broken"]).refusal(127);
    assert_eq!(error["code"], "spawn_failed", "{error}");
    assert_eq!(home.list().len(), 0);
}

#[test]
fn a_command_unknown_to_the_shell_fails_the_task() {
    let home = home();
    let task = home.ended(&home.start("no-such-program-here"));
    assert_eq!((&task["status"], &task["exit_code"]), (&"failed".into(), &127.into()));
}
