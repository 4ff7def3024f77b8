//! `mw run` on a terminal: the command behaves as if it stood alone.

use mw_testkit::{Home, SOON, Terminal, children, need_program, wait_until};
use rustix::process::Signal;

use crate::home;
use crate::top::until_shown;

/// A program, and what is typed after it has printed something.
struct Case {
    script: &'static str,
    /// What to wait for, and the keys to press then.
    keys: &'static [(&'static str, &'static str)],
    code: i32,
}

const fn case(script: &'static str, keys: &'static [(&'static str, &'static str)], code: i32) -> Case {
    Case { script, keys, code }
}

/// Programs that every machine has.
const PROGRAMS: [Case; 20] = [
    case("seq 5", &[], 0),
    case("printf 'no newline'", &[], 0),
    case("echo out; echo err >&2; exit 3", &[], 3),
    case("seq 3000", &[], 0),
    case("echo ready; cat", &[("ready", "hello\nwörld\n\u{4}")], 0),
    case("echo ready; wc -l", &[("ready", "a\nb\n\u{4}")], 0),
    case("echo ready; sort -r", &[("ready", "1\n2\n\u{4}")], 0),
    case("echo ready; head -n 1", &[("ready", "first\n")], 0),
    case("echo ready; tr a-z A-Z", &[("ready", "typo\u{7f}\u{7f}\u{7f}\u{7f}shout\n\u{4}")], 0),
    case("stty size; stty -a | grep -o isig", &[], 0),
    case("test -t 0 && test -t 1 && test -t 2 && test -e /dev/tty && echo terminal > /dev/tty", &[], 0),
    case("printf 'name? '; read -r name; echo \"hello $name\"", &[("name? ", "Ada\n")], 0),
    case(
        "stty -echo; printf 'password: '; read -r word; stty echo; echo; echo ${#word}",
        &[("password: ", "secret\n")],
        0,
    ),
    case("PS1='> ' ENV= exec sh -i", &[("> ", "echo $((6 * 7))\n"), ("42", "exit 4\n")], 4),
    case(
        "stty raw -echo; echo ready; dd bs=1 count=4 2>/dev/null | od -An -tx1; stty sane",
        &[("ready", "\u{2}\u{3}\u{1a}\u{4}")],
        0,
    ),
    case("echo ready; exec sleep 600", &[("ready", "\u{3}")], 130),
    case("echo ready; ulimit -c 0; exec sleep 600", &[("ready", "\u{1c}")], 131),
    case(
        "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done",
        &[("ready", "\u{3}")],
        5,
    ),
    case("for n in 1 2 3; do printf '\\r%3d%%' $((n * 33)); sleep 0.02; done; echo", &[], 0),
    case("printf '\\033[?1049h\\033[H\\033[31mred\\033[0m\\033[?1049l'; ls --color=auto -d /", &[], 0),
];

/// Returns what a program shows, and its exit code; 128 and the number of the signal that ended it.
fn played(mut terminal: Terminal, case: &Case) -> (String, i32) {
    for (seen, keys) in case.keys {
        wait_until(SOON, seen, || terminal.shown().contains(seen).then_some(()));
        terminal.press(keys);
    }
    let code = terminal.ended();
    (terminal.shown(), code.unwrap_or(case.code))
}

fn compare(home: &Home, case: &Case) {
    let bare = played(home.program("sh").arg("-c").arg(case.script).on_terminal(), case);
    let run = played(home.command(["run", "--", "sh", "-c", case.script]).on_terminal(), case);
    assert_eq!(bare.1, case.code, "{}", case.script);
    assert_eq!(run, bare, "{}", case.script);
}

#[test]
fn programs_on_a_terminal_show_the_same_bytes_and_codes_as_without_mw() {
    let home = home();
    for case in &PROGRAMS {
        compare(&home, case);
    }
}

#[test]
fn a_pager_behaves_as_without_mw() {
    need_program("less");
    let home = home();
    compare(&home, &case("seq 200 > lines; less lines", &[("\u{1b}[K", "G"), ("200", "q")], 0));
}

#[test]
fn an_editor_behaves_as_without_mw() {
    need_program("vim");
    let home = home();
    // It asks the terminal questions, which nobody answers here, so only what it does is compared.
    let mut terminal = home.command(["run", "vim -u NONE -i NONE -n text"]).on_terminal();
    until_shown(&terminal, "\"text\" [New");
    terminal.press("ihello from vim\u{1b}:wq\n");
    assert_eq!(terminal.ended(), Some(0));
    assert_eq!(std::fs::read_to_string(home.work().join("text")).unwrap(), "hello from vim\n");
    assert!(terminal.screen().is_given_back(), "{:?}", terminal.screen());
}

#[test]
fn a_python_prompt_behaves_as_without_mw() {
    need_program("python3");
    let home = home();
    compare(&home, &case("python3 -c 'print(input(\"name? \"))'", &[("name? ", "Ada\n")], 0));
    compare(&home, &case("TERM=dumb python3 -q", &[(">>> ", "6 * 7\n"), ("42", "exit(3)\n")], 3));
}

#[test]
fn a_question_of_ssh_keygen_can_be_answered() {
    need_program("ssh-keygen");
    let home = home();
    std::fs::write(home.work().join("key"), "existing").unwrap();
    compare(&home, &case("ssh-keygen -t ed25519 -f key", &[("(y/n)? ", "n\n")], 1));
}

#[test]
fn a_new_size_of_the_window_reaches_the_command() {
    let home = home();
    let script = "trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done";
    let terminal = home.command(["run", script]).on_terminal();
    until_shown(&terminal, "ready");
    terminal.resize(100, 30);
    until_shown(&terminal, "30 100");
}

#[test]
fn errors_that_do_not_go_to_the_terminal_stay_apart() {
    let home = home();
    let mut terminal = home
        .program("sh")
        .arg("-c")
        .arg("\"$MW\" run 'echo out; echo err >&2' 2> errors")
        .env("MW", env!("CARGO_BIN_EXE_mw"))
        .on_terminal();
    assert_eq!(terminal.ended(), Some(0));
    assert_eq!(terminal.shown(), "out\r\n");
    assert_eq!(std::fs::read_to_string(home.work().join("errors")).unwrap(), "err\n");
}

#[test]
fn a_stop_key_stops_the_command_and_the_shell_continues_it() {
    need_program("bash");
    let home = home();
    let mut terminal = home
        .program("bash")
        .arg("--norc")
        .arg("-i")
        .env("MW", env!("CARGO_BIN_EXE_mw"))
        .env("PS1", "$ ")
        .on_terminal();
    until_shown(&terminal, "$ ");
    terminal.press("\"$MW\" run --name web 'echo begun; while :; do echo tick >> ticks; sleep 0.02; done'\n");
    until_shown(&terminal, "\nbegun");
    terminal.press("\u{1a}");
    until_shown(&terminal, "Stopped");
    let pid = home.pid("web");
    wait_until(SOON, "the command is stopped", || (state_of(pid) == 'T').then_some(()));
    terminal.press("fg\n");
    wait_until(SOON, "the command continues", || (state_of(pid) != 'T').then_some(()));
    // Before that, Ctrl-C would interrupt `mw` instead of the command.
    wait_until(SOON, "keys go to the command", || terminal.screen().is_raw.then_some(()));
    terminal.press("\u{3}");
    until_shown(&terminal, "^C");
    wait_until(SOON, "the command has ended", || (home.status("web")["status"] == "failed").then_some(()));
    terminal.press("exit\n");
    let _ = terminal.ended();
}

fn state_of(pid: u32) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('X')
}

#[test]
fn ctrl_b_leaves_a_command_that_reads_lines() {
    let home = home();
    let mut terminal =
        home.command(["run", "--name", "web", &format!("echo up; {}", children::SLEEPER)]).on_terminal();
    until_shown(&terminal, "up");
    terminal.press("\u{2}");
    assert_eq!(terminal.ended(), Some(0));
    assert!(terminal.shown().contains("keeps running in the background"), "{}", terminal.shown());
    assert!(!terminal.screen().is_raw);
    assert_eq!(home.status("web")["status"], "running");
}

#[test]
fn a_terminal_that_is_closed_leaves_the_command_running() {
    let home = home();
    let terminal =
        home.command(["run", "--name", "web", &format!("echo up; {}", children::SLEEPER)]).on_terminal();
    until_shown(&terminal, "up");
    terminal.signal(Signal::HUP);
    let _ = terminal.wait();
    assert_eq!(home.status("web")["status"], "running");
}

#[test]
fn filters_in_pipes_print_the_same_bytes_and_codes_as_without_mw() {
    let home = home();
    for script in [
        "cat",
        "wc -l",
        "sort -n | tail -n 3",
        "head -n 2",
        "grep 7; exit 9",
        "tr 0-9 a-j >&2",
        "sh -s",
        "od -c | wc -c",
        "read -r first; echo \"$first\"; cat > /dev/null",
        "exec 0<&-; echo deaf",
        "kill -TERM $$",
    ] {
        let input: String = (1..500).map(|number| format!("echo {number} >&1\n")).collect();
        let bare = home.program("sh").arg("-c").arg(script).input(input.clone()).run();
        let run = home.command(["run", script]).input(input).run();
        let code = bare.code.or(bare.signal.map(|signal| 128 + signal));
        assert_eq!((run.text(), run.code), (bare.text(), code), "{script}");
        let said = run.stderr_text();
        let said: String =
            said.lines().filter(|line| !line.starts_with("mw: ")).map(|line| format!("{line}\n")).collect();
        assert_eq!(said, bare.stderr_text(), "{script}");
    }
}
