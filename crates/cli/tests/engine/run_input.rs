//! Input piped into `mw run` reaches the command.

use std::fs::File;
use std::io::Write;
use std::time::Instant;

use mw_testkit::{Home, Outcome, SOON};

use crate::home;

/// Runs a shell line in which `$MW` is `mw`, as a person would type it.
fn shell(home: &Home, line: &str) -> Outcome {
    home.program("sh").env("MW", env!("CARGO_BIN_EXE_mw")).arg("-c").arg(line).limit(SOON * 2).run()
}

#[test]
fn piped_input_and_its_end_reach_the_command() {
    let home = home();
    assert_eq!(shell(&home, "seq 5 | $MW run 'wc -l'").ok().trim(), "5");
    assert_eq!(shell(&home, "seq 5 | $MW run --stdin 'wc -l'").ok().trim(), "5");
    assert_eq!(shell(&home, "seq 3 | $MW run -- cat | $MW run 'tail -n 1'").ok().trim(), "3");
    assert_eq!(shell(&home, ": | $MW run 'cat; echo end'").ok().trim(), "end");
}

#[test]
fn a_file_as_input_reaches_the_command() {
    let home = home();
    File::create(home.work().join("in")).unwrap().write_all(b"one\ntwo\n").unwrap();
    assert_eq!(shell(&home, "$MW run cat < in").ok(), "one\ntwo\n");
}

#[test]
fn without_input_the_command_reads_end_of_file() {
    let home = home();
    assert_eq!(shell(&home, "$MW run 'wc -c' < /dev/null").ok().trim(), "0");
    assert_eq!(shell(&home, "$MW run 'wc -c' <&-").ok().trim(), "0");
}

#[test]
fn large_input_is_passed_completely() {
    let home = home();
    let count = shell(&home, "head -c 100000000 /dev/zero | $MW run 'wc -c'").ok();
    assert_eq!(count.trim(), "100000000");
}

#[test]
fn a_command_that_does_not_read_does_not_block_run() {
    let home = home();
    let begun = Instant::now();
    // Writers that write more than any pipe holds.
    assert_eq!(shell(&home, "yes | $MW run 'head -n 1'").ok(), "y\n");
    assert_eq!(shell(&home, "yes | $MW run 'exit 3'").code, Some(3));
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[test]
fn a_queued_run_gets_its_input_when_it_starts() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let first = home.start(mw_testkit::children::SLEEPER);
    let waiting = home.command(["run", "wc -c"]).input(vec![b'x'; 300_000]).spawn();
    mw_testkit::wait_until(SOON, "the run is queued", || (home.list().len() == 2).then_some(()));
    let _ = home.mw(["kill", &first]).ok();
    assert_eq!(waiting.wait().ok().trim(), "300000");
}

#[test]
fn a_command_moved_to_the_background_gets_end_of_file() {
    let home = home();
    // The writer outlives the run, so only the end of the run closes the input of the command.
    let line = "{ echo one; exec sleep 5; } | $MW run --detach-after 1s 'cat; echo end'";
    let left = shell(&home, line).exits(0);
    assert!(left.stderr_text().contains("the rest of the input"), "{left}");
    let id = home.list()[0]["id"].as_str().unwrap().to_owned();
    let task = home.ended(&id);
    assert_eq!(
        (task["status"].as_str(), home.log(&id)),
        (Some("completed"), b"one\nend\n".to_vec()),
        "{task}"
    );
}

#[test]
fn piped_input_and_its_end_reach_a_terminal_task() {
    let home = home();
    // The terminal echoes the input, and the command repeats it.
    assert_eq!(shell(&home, "echo hi | $MW run --pty cat").ok().matches("hi\r\n").count(), 2);
    let text = shell(&home, "printf half | $MW run --pty cat").ok();
    assert_eq!(text.matches("half").count(), 2, "{text:?}");
    let count = shell(&home, "seq 20000 | $MW run --pty 'stty -echo; echo ready; wc -l'").ok();
    assert!(count.trim_end().ends_with("20000"), "{count:?}");
    assert_eq!(shell(&home, ": | $MW run --pty 'cat; echo end'").ok().trim(), "end");
}

#[test]
fn a_terminal_task_without_input_gets_end_of_file() {
    let home = home();
    assert_eq!(shell(&home, "$MW run --pty 'cat; echo end' </dev/null").ok().trim(), "end");
    assert_eq!(shell(&home, "$MW run --pty 'cat; echo end' <&-").ok().trim(), "end");
}
