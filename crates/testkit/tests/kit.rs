//! Tests of the kit itself, with `sh` in place of `mw`.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "helpers run in tests only, where a broken assumption ends the test")]

use std::time::Duration;

use mw_testkit::processes::stat;
use mw_testkit::{Home, Outcome, SOON, alive, children, wait_until};

fn home() -> Home {
    Home::new("/bin/sh")
}

#[test]
fn commands_run_in_a_cleared_environment() {
    let text = home().mw(["-c", "env | cut -d= -f1 | sort"]).ok();
    let expected =
        ["HOME", "LANG", "MEANWHILE_HOME", "MEANWHILE_MODE", "MW_TEST_TAG", "NO_COLOR", "PATH", "PWD"];
    let found: Vec<_> = text.lines().filter(|name| !["OLDPWD", "SHLVL", "_"].contains(name)).collect();
    assert_eq!(found, expected);
}

#[test]
fn an_outcome_has_the_exit_code_the_signal_and_both_streams() {
    let home = home();
    let outcome = home.mw(["-c", "echo out; echo err >&2; exit 7"]).exits(7);
    assert_eq!((outcome.text().as_str(), outcome.stderr_text().as_str()), ("out\n", "err\n"));
    let outcome = home.mw(["-c", "kill -9 $$"]);
    assert_eq!((outcome.code, outcome.signal), (None, Some(9)));
}

#[test]
fn a_command_reads_the_given_input() {
    let outcome = home().command(["-c", "cat"]).input("typed").run();
    assert_eq!(outcome.ok(), "typed");
}

#[test]
#[should_panic(expected = "still runs after")]
fn a_command_that_does_not_end_fails_the_test() {
    let _ = home().command(["-c", children::SLEEPER]).limit(Duration::from_millis(50)).run();
}

#[test]
fn dropping_a_home_kills_its_processes_and_removes_its_directory() {
    let home = home();
    let scripts =
        [children::leave_setsid("a"), children::leave_double_fork("b"), children::leave_holder("c")];
    let shell = home.command(["-c", &format!("{}\nwait", scripts.join("\n"))]).spawn();
    let pids = ["a", "b", "c"].map(|file| home.pid_in(file));
    assert!(pids.iter().all(|pid| alive(*pid)));
    assert_ne!(stat(pids[0]).unwrap().session, stat(pids[2]).unwrap().session);
    assert_ne!(stat(pids[1]).unwrap().session, stat(pids[2]).unwrap().session);
    let directory = home.work();
    drop(home);
    for pid in pids {
        wait_until(SOON, "the process is dead", || (!alive(pid)).then_some(()));
    }
    assert!(!directory.exists());
    drop(shell);
}

#[test]
fn dropping_a_home_does_not_affect_other_homes() {
    let (one, other) = (home(), home());
    let running = one.command(["-c", children::SLEEPER]).spawn();
    wait_until(SOON, "the command is tagged", || one.tagged().contains(&running.pid()).then_some(()));
    assert_eq!(other.tagged(), [0; 0]);
    drop(other);
    assert!(running.runs());
}

#[test]
fn doubling_stops_at_its_depth() {
    let home = home();
    let shell = home.command(["-c", &children::doubling(3)]).spawn();
    wait_until(SOON, "15 copies sleep", || {
        let sleeping = |pid: &&u32| mw_testkit::processes::name(**pid).as_deref() == Some("sleep");
        (home.tagged().iter().filter(sleeping).count() == 15).then_some(())
    });
    drop(shell);
}

#[test]
fn scripts_print_the_expected_bytes() {
    let home = home();
    assert_eq!(home.mw(["-c", children::INVALID_UTF8]).stdout, children::INVALID_UTF8_BYTES);
    assert_eq!(home.mw(["-c", &children::one_line(70_000)]).stdout, vec![b'x'; 70_000]);
    let both = home.mw(["-c", &children::fill_both(70_000)]);
    assert_eq!((both.stdout.len(), both.stderr.len()), (70_000, 70_000));
    let numbers = home.mw(["-c", &children::numbers(1000)]);
    assert_eq!(numbers.stdout, children::numbered(1, 1000));
    let both = home.mw(["-c", &children::both_streams(2)]);
    assert_eq!((both.text().as_str(), both.stderr_text().as_str()), ("out 1\nout 2\n", "err 1\nerr 2\n"));
}

#[test]
fn a_gated_script_waits_until_its_gate_is_opened() {
    let home = home();
    let waiting = home.command(["-c", &children::gated("go", 4)]).spawn();
    wait_until(SOON, "the script waits", || waiting.printed().contains("waiting").then_some(()));
    assert!(waiting.runs());
    home.open("go");
    let _ = waiting.wait().exits(4);
}

#[test]
fn a_command_on_a_terminal_has_a_tty_a_size_and_keyboard_input() {
    let home = home();
    let script = "tty; stty size; read line; echo \"got $line\"; exit 6";
    let mut terminal = home.command(["-c", script]).on_terminal();
    wait_until(SOON, "the size is shown", || terminal.shown().contains("24 80").then_some(()));
    assert!(terminal.shown().contains("/dev/pts/"));
    terminal.press("keys\r");
    wait_until(SOON, "the answer is shown", || terminal.shown().contains("got keys").then_some(()));
    assert_eq!(terminal.wait(), Some(6));
}

#[test]
fn a_small_disk_can_be_filled() {
    let home = Home::on_small_disk("/bin/sh", 1 << 20);
    assert!(std::fs::write(home.state().join("large"), vec![0; 2 << 20]).is_err());
    let directory = home.state().to_owned();
    drop(home);
    assert!(!directory.exists());
}

#[test]
fn file_modes_also_apply_to_root_in_a_bound_home() {
    let home = Home::bound_by_modes("/bin/sh");
    let _ = home.mw(["-c", "mkdir closed && chmod 0 closed && echo x > file && chmod 0 file"]).ok();
    assert_ne!(home.mw(["-c", "cd closed"]).code, Some(0));
    assert_ne!(home.mw(["-c", "cat file"]).code, Some(0));
    assert_ne!(home.mw(["-c", "echo y > file"]).code, Some(0));
    let _ = home.mw(["-c", "chmod 700 closed"]).ok();
}

#[test]
#[ignore = "run by the tests below, each in a separate process"]
fn needs_a_program_that_does_not_exist() {
    mw_testkit::need_program("mw-no-such-program");
    panic!("the test was not skipped");
}

/// Runs the test above like nextest, in a separate process, with these variables.
fn run_skipping_test(home: &Home, variables: &[(&str, &str)]) -> Outcome {
    let words = ["--exact", "needs_a_program_that_does_not_exist", "--ignored", "--nocapture"];
    let this = home.program(std::env::current_exe().unwrap());
    let run = words.iter().fold(this, |run, word| run.arg(word));
    variables.iter().fold(run, |run, (name, value)| run.env(name, value)).run()
}

#[test]
fn a_skipped_test_is_counted_by_name() {
    let home = home();
    let file = home.work().join("skipped");
    let counted = ("MW_TEST_SKIPPED", file.to_str().unwrap());
    for test in ["one", "other"] {
        let run = [counted, ("NEXTEST_BINARY_ID", "mw-testkit::kit"), ("NEXTEST_TEST_NAME", test)];
        let outcome = run_skipping_test(&home, &run).exits(0);
        assert!(outcome.stderr_text().contains("skipped: needs mw-no-such-program"), "{outcome}");
    }
    let lines = "mw-no-such-program\tmw-testkit::kit\tone\nmw-no-such-program\tmw-testkit::kit\tother\n";
    assert_eq!(std::fs::read_to_string(&file).unwrap(), lines);
}

#[test]
fn a_test_with_a_missing_requirement_fails_if_skips_are_not_counted() {
    let home = home();
    let by_hand = run_skipping_test(&home, &[]).exits(101);
    assert!(by_hand.stderr_text().contains("this test needs mw-no-such-program"), "{by_hand}");
    // In a process with other tests, a skip must not end the process.
    let file = home.work().join("skipped");
    let with_others = run_skipping_test(&home, &[("MW_TEST_SKIPPED", file.to_str().unwrap())]).exits(101);
    assert!(with_others.stderr_text().contains("this test needs"), "{with_others}");
    assert!(!file.exists());
}

#[test]
fn a_home_can_have_a_path_of_more_than_300_bytes() {
    assert!(Home::with_long_path("/bin/sh", 300).state().as_os_str().len() > 300);
}
