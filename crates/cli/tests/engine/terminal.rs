//! Commands on a terminal: what they show, and their keys.

use mw_testkit::{Home, SOON, Terminal, children, wait_until};

use crate::home;

const CTRL_B: &str = "\u{2}";
const CTRL_BRACKET: &str = "\u{1d}";

fn until_shown(terminal: &Terminal, text: &str) {
    wait_until(SOON, &format!("{text:?} is shown"), || terminal.shown().contains(text).then_some(()));
}

fn only_task(home: &Home) -> String {
    home.list()[0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn attach_can_be_left_while_the_task_runs() {
    let home = home();
    let id = home.start_with(&["--pty"], "echo hello; read a; echo \"got $a\"; exec sleep 600");
    let mut terminal = home.command(["attach", &id]).on_terminal();
    until_shown(&terminal, "hello");
    terminal.press("word\r");
    until_shown(&terminal, "got word");
    terminal.press(CTRL_BRACKET);
    assert_eq!(terminal.wait(), Some(0));
    assert_eq!(home.status(&id)["status"], "running");
}

/// A paste can contain the key that detaches.
#[test]
fn keys_before_the_one_that_detaches_are_passed_on() {
    let home = home();
    let id = home.start_with(&["--pty"], "echo hello; read a; echo \"got $a\"; exec sleep 600");
    let mut terminal = home.command(["attach", &id]).on_terminal();
    until_shown(&terminal, "hello");
    terminal.press(&format!("word\r{CTRL_BRACKET}not this\r"));
    assert_eq!(terminal.wait(), Some(0));
    home.until_logged(&id, "got word");
    assert!(!String::from_utf8_lossy(&home.log(&id)).contains("not this"));
}

#[test]
fn attach_ends_with_the_task() {
    let home = home();
    let id = home.start_with(&["--pty"], "echo hello; read a; exit 0");
    let mut terminal = home.command(["attach", &id]).on_terminal();
    until_shown(&terminal, "hello");
    terminal.press("\r");
    assert_eq!(terminal.wait(), Some(0));
    home.ended(&id);
}

#[test]
fn a_task_without_open_input_cannot_be_attached() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let _ = home.mw(["attach", "--json", &id]).refusal(6);
}

#[test]
fn ctrl_b_moves_a_run_to_the_background() {
    let home = home();
    let mut terminal = home.command(["run", &children::gated("go", 3)]).on_terminal();
    until_shown(&terminal, "waiting");
    terminal.press(CTRL_B);
    assert_eq!(terminal.wait(), Some(0));
    let id = only_task(&home);
    assert_eq!(home.status(&id)["status"], "running");
    home.open("go");
    assert_eq!(home.ended(&id)["exit_code"], 3);
}

#[test]
fn ctrl_c_ends_a_run() {
    let home = home();
    let mut terminal = home.command(["run", "echo ready; exec sleep 600"]).on_terminal();
    until_shown(&terminal, "ready");
    terminal.press("\u{3}");
    assert_eq!(terminal.wait(), Some(130));
    let task = home.status(&only_task(&home));
    assert_eq!(
        (&task["status"], &task["signal"]),
        (&"failed".into(), &"SIGINT".into()),
        "as of a command in a shell"
    );
}

#[test]
fn a_wait_on_a_terminal_shows_the_last_line() {
    let home = home();
    let id = home.start(&format!("echo compiling things; {}; exit 0", children::gate("go")));
    let terminal = home.command(["wait", &id]).on_terminal();
    until_shown(&terminal, "compiling things");
    home.open("go");
    assert_eq!(terminal.wait(), Some(0));
}

#[test]
fn a_run_on_a_terminal_names_mw_attach_and_ends_lines_once() {
    for option in ["--pty", "--stdin"] {
        let home = home();
        let script = format!("echo hello; echo there; {}", children::gate("go"));
        let terminal = home.command(["run", option, &script]).on_terminal();
        until_shown(&terminal, "there");
        if option == "--stdin" {
            until_shown(&terminal, &format!("mw attach {}", only_task(&home)));
        }
        let shown = terminal.shown();
        assert!(shown.contains("hello\r\nthere\r\n"), "{shown:?}");
        home.open("go");
        assert_eq!(terminal.wait(), Some(0));
    }
}
