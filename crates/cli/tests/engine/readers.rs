//! Output that is closed or cannot be written.

use mw_testkit::{Home, Outcome, SOON, children, wait_until};

use crate::home;

/// Runs `mw` through a shell with these redirections; the exit code is that of `mw`.
fn through_shell(home: &Home, words: &str) -> Outcome {
    let script = format!("mw() {{ \"$0\" \"$@\"; }}; {words}");
    home.program("/bin/sh").arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_mw")).run()
}

/// The exit code of `mw` behind a pipe.
fn piped(home: &Home, words: &str, reader: &str) -> String {
    let outcome = through_shell(home, &format!("{{ {words}; echo $? >code; }} | {reader}")).exits(0);
    assert_eq!(outcome.stderr_text(), "");
    std::fs::read_to_string(home.work().join("code")).unwrap().trim().to_owned()
}

/// The exit code of `mw` behind a pipe whose reader closes it before anything is printed.
fn unread(home: &Home, words: &str) -> String {
    let late = format!("while [ ! -e gone ]; do sleep 0.01; done; mw {words}");
    let code = piped(home, &late, "{ exec <&-; touch gone; }");
    std::fs::remove_file(home.work().join("gone")).unwrap();
    code
}

#[test]
fn run_exits_with_the_code_when_its_output_is_closed() {
    let home = home();
    assert_eq!(unread(&home, "run 'echo hi; exit 5'"), "5");
    assert_eq!(unread(&home, "run --json 'exit 9'"), "9");
}

#[test]
fn run_waits_for_its_task_after_its_output_was_closed() {
    let home = home();
    // More than a pipe holds, so that there is a write without a reader.
    assert_eq!(piped(&home, "mw run 'seq 100000; exit 4'", "head -n 1 >/dev/null"), "4");
    assert_eq!(home.list()[0]["status"], "failed");
}

#[test]
fn a_run_shows_the_other_stream_after_one_was_closed() {
    let home = home();
    let script = "run 'seq 100000; echo mishap >&2; exit 6'";
    let outcome = through_shell(&home, &format!("{{ mw {script}; echo $? >code; }} | head -n 1")).exits(0);
    assert_eq!((outcome.text().as_str(), outcome.stderr_text().as_str()), ("1\n", "mishap\n"));
}

#[test]
fn wait_exits_with_the_code_when_its_output_is_closed() {
    let home = home();
    let id = home.start("exit 7");
    for option in ["", "--json"] {
        assert_eq!(unread(&home, &format!("wait {option} {id}")), "7", "{option}");
    }
}

#[test]
fn a_list_into_a_closed_pipe_is_not_an_error() {
    let home = home();
    let _ = home.start("true");
    assert_eq!(unread(&home, "list --all"), "0");
    assert_eq!(unread(&home, "list --json"), "0");
}

#[test]
fn a_failing_stdout_is_reported_as_an_error() {
    let home = home();
    let id = home.start("echo x");
    home.ended(&id);
    for words in [
        "list".to_owned(),
        "list --json".to_owned(),
        format!("status --json {id}"),
        format!("output {id}"),
        format!("output -f --json {id}"),
        format!("wait --json {id}"),
        format!("kill --json {id}"),
        "--help".to_owned(),
    ] {
        let outcome = through_shell(&home, &format!("mw {words} >/dev/full")).exits(1);
        let stderr = outcome.stderr_text();
        assert!(stderr.contains("cannot write to standard output"), "{words}: {stderr}");
    }
    // Errors keep their exit code, and are printed on the other stream.
    let outcome = through_shell(&home, "mw status --json nope >/dev/full").exits(5);
    assert!(outcome.stderr_text().contains("no task \"nope\""), "{outcome}");
    let _ = through_shell(&home, "mw status nope 2>/dev/full").exits(5);
}

#[test]
fn an_error_names_a_started_task_whose_reply_could_not_be_printed() {
    for words in ["start", "start --json", "run"] {
        let home = home();
        let script = children::gated("go", 4);
        let outcome = through_shell(&home, &format!("mw {words} '{script}' >/dev/full")).exits(1);
        let id = home.list()[0]["id"].as_str().unwrap().to_owned();
        assert!(outcome.stderr_text().contains(&format!("{id} was started")), "{words}: {outcome}");
        assert_eq!(home.status(&id)["status"], "running");
        home.open("go");
        assert_eq!(home.ended(&id)["exit_code"], 4);
    }
}

#[test]
fn a_run_with_a_failing_stderr_fails_only_if_it_has_to_write_there() {
    let home = home();
    let _ = through_shell(&home, "mw run 'echo x >&2; exit 4' 2>/dev/full").exits(1);
    let _ = through_shell(&home, "mw run 'exit 4' 2>/dev/full").exits(4);
    let id = home.list()[0]["id"].as_str().unwrap().to_owned();
    wait_until(SOON, "the task has ended", || home.status(&id)["ended_at"].is_string().then_some(()));
}
