//! `mw top` on a real terminal.

use std::fs;
use std::time::Instant;

use mw_testkit::{Home, Running, SOON, Screen, Terminal, alive, children, wait_until};

use crate::home;

pub(crate) fn top(home: &Home) -> Terminal {
    let terminal = home.command(["top"]).on_terminal();
    until(&terminal, "the list is shown", |screen| screen.text.contains(LIST));
    terminal
}

/// A part of the heading of the list.
pub(crate) const LIST: &str = " STATUS ";

pub(crate) fn until(terminal: &Terminal, what: &str, is: impl Fn(&Screen) -> bool) -> Screen {
    // The message of a failed wait contains the screen.
    let begun = Instant::now();
    wait_until(SOON, what, || {
        let screen = terminal.screen();
        let is = is(&screen);
        assert!(is || begun.elapsed() < SOON, "still not: {what}\n{}", screen.text);
        is.then_some(screen)
    })
}

pub(crate) fn until_shown(terminal: &Terminal, text: &str) -> Screen {
    until(terminal, &format!("{text:?} is on the screen"), |screen| screen.text.contains(text))
}

/// Returns the line of a task in the list. The list shows the number of the task instead of its id.
pub(crate) fn line_of<'screen>(home: &Home, screen: &'screen Screen, id: &str) -> Option<&'screen str> {
    let spec = fs::read_to_string(home.state().join("tasks").join(id).join("spec.json")).ok()?;
    let spec: serde_json::Value = serde_json::from_str(&spec).unwrap();
    let number = spec["handle_number"].as_u64().or_else(|| spec["number"].as_u64()).unwrap();
    let handle = format!(" bash_{number} ");
    screen.text.lines().find(|line| line.contains(&handle) && !line.contains("1 log"))
}

pub(crate) fn until_listed(terminal: &Terminal, home: &Home, id: &str) -> Screen {
    until(terminal, &format!("{id} is listed"), |screen| line_of(home, screen, id).is_some())
}

pub(crate) fn leave(mut terminal: Terminal) {
    terminal.press("q");
    assert_eq!(terminal.ended(), Some(0));
    until(&terminal, "the terminal is restored", Screen::is_given_back);
}

#[test]
fn the_list_updates_when_tasks_start_and_end() {
    let home = home();
    let terminal = top(&home);
    until_shown(&terminal, "No tasks.");
    let id = home.start(&children::gated("go", 3));
    let is = |word: &'static str| {
        let (id, home) = (id.clone(), &home);
        move |screen: &Screen| line_of(home, screen, &id).is_some_and(|line| line.contains(word))
    };
    until(&terminal, "the task runs", is("running"));
    until_shown(&terminal, "waiting");
    home.open("go");
    until(&terminal, "the task has failed", is("failed"));
    until_shown(&terminal, "● 0 running  ✗ 1 failed");
    leave(terminal);
}

#[test]
fn a_kill_from_the_list_ends_the_tree_and_shows_the_receipt() {
    let home = home().with_env("MEANWHILE_KILL_GRACE_MS", "60000");
    let id = home.start("sleep 600 & echo $! > child; exec sleep 600");
    let child = home.pid_in("child");
    let mut terminal = top(&home);
    until_listed(&terminal, &home, &id);
    terminal.press("x");
    until_shown(&terminal, "and everything it started?");
    terminal.press("y");
    until_shown(&terminal, &format!("{id} cancelled: SIGTERM to 2 processes"));
    assert!(!alive(child));
    assert_eq!(home.status(&id)["status"], "cancelled");
    until(&terminal, "the list shows the task as cancelled", |screen| {
        line_of(&home, screen, &id).is_some_and(|line| line.contains("cancelled"))
    });
    leave(terminal);
}

#[test]
fn a_finished_task_can_be_restarted_and_removed() {
    let home = home();
    let id = home.start("test -e again && exit 5; exit 4");
    home.ended(&id);
    home.open("again");
    let mut terminal = top(&home);
    until_shown(&terminal, "failed 4");
    terminal.press("r");
    until_shown(&terminal, "run 2");
    // The effect of a key depends on the screen, so it must show the second end first.
    until_shown(&terminal, "failed 5");
    terminal.press("c");
    until_shown(&terminal, "Remove");
    terminal.press("y");
    until_shown(&terminal, "No tasks.");
    assert_eq!(home.list().len(), 0);
    leave(terminal);
}

#[test]
fn a_log_can_be_followed_searched_and_split_by_stream() {
    let home = home();
    let id = home.start(&format!(
        "seq 1 500; echo needle one; echo to-stderr >&2; seq 501 600; {}; echo after",
        children::gate("go")
    ));
    let mut terminal = top(&home);
    until_shown(&terminal, "600");
    home.open("go");
    until_shown(&terminal, "after");
    home.ended(&id);
    terminal.press("\t/needle\r");
    until_shown(&terminal, "needle one");
    until_shown(&terminal, "/needle 1/1");
    terminal.press("\u{1b}");
    until(&terminal, "the search is over", |screen| !screen.text.contains("/needle"));
    terminal.press("oo");
    until(&terminal, "only stderr is shown", |screen| {
        screen.text.contains("to-stderr") && !screen.text.contains("after")
    });
    leave(terminal);
}

#[test]
fn tasks_can_be_filtered_by_text_and_state() {
    let home = home();
    let good = home.start("true needle");
    let bad = home.start("false");
    home.ended(&good);
    home.ended(&bad);
    let mut terminal = top(&home);
    until_listed(&terminal, &home, &bad);
    terminal.press("/needle\r");
    until(&terminal, "only the matching task is listed", |screen| {
        line_of(&home, screen, &good).is_some() && line_of(&home, screen, &bad).is_none()
    });
    terminal.press("\u{1b}");
    until_listed(&terminal, &home, &bad);
    terminal.press("fjjjjj\r");
    until(&terminal, "only the failed task is listed", |screen| {
        line_of(&home, screen, &good).is_none() && line_of(&home, screen, &bad).is_some()
    });
    leave(terminal);
}

#[test]
fn a_failed_action_shows_a_next_step() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let mut terminal = top(&home);
    until_listed(&terminal, &home, &id);
    terminal.press("ihello\r");
    until_shown(&terminal, "✗");
    until_shown(&terminal, "without an open standard input; start it");
    leave(terminal);
}

/// Creates a home that needs approval, and a call of an agent that waits for an answer.
fn asking() -> (Home, Running) {
    let home = home().gated();
    fs::create_dir(home.work().join(".git")).unwrap();
    fs::write(home.work().join("precious"), "x").unwrap();
    let call = home.command(["start", "--json", "rm precious"]).session("agent");
    let call = call.env("MEANWHILE_APPROVAL_WAIT", "10m").spawn();
    (home, call)
}

#[test]
fn approval_requests_can_be_answered() {
    let (home, call) = asking();
    let mut terminal = top(&home);
    until_shown(&terminal, "1 approval required: A");
    terminal.press("A");
    until_shown(&terminal, "rm precious");
    terminal.press("y");
    until_shown(&terminal, "approved ask-");
    let started = call.wait();
    assert_eq!(home.ended(started.json()["id"].as_str().unwrap())["status"], "completed");
    until(&terminal, "no request is open", |screen| !screen.text.contains("approval required"));
    leave(terminal);
}

#[test]
fn a_request_answered_elsewhere_closes_its_dialog() {
    let (home, call) = asking();
    let mut terminal = top(&home);
    until_shown(&terminal, "1 approval required: A");
    terminal.press("A");
    until_shown(&terminal, "rm precious");
    let entries = home.mw(["approvals", "--json"]).json();
    let id = entries["approvals"][0]["id"].as_str().unwrap();
    assert_eq!(home.mw(["deny", id]).code, Some(0));
    until_shown(&terminal, &format!("{id} was denied by "));
    until(&terminal, "the dialog is closed", |screen| !screen.text.contains("approve?"));
    assert_ne!(call.wait().code, Some(0));
    leave(terminal);
}

#[test]
fn approval_requests_cannot_be_answered_inside_a_task() {
    let (home, call) = asking();
    let mut terminal = home.command(["top"]).env("MEANWHILE_TASK_ID", "bash-aaaaaaaa").on_terminal();
    until_shown(&terminal, "1 approval required: A");
    terminal.press("Ay");
    until_shown(&terminal, "cannot be answered from inside task bash-aaaaaaaa");
    leave(terminal);
    let entries = home.mw(["approvals", "--json"]).json();
    assert_eq!(entries["approvals"][0]["status"], "open", "{entries}");
    drop(call);
}

#[test]
fn inside_a_session_a_kill_runs_mw_kill_and_the_list_returns() {
    let home = home().gated();
    let started = home.command(["start", "--json", "sleep 600"]).session("agent").run();
    let id = started.json()["id"].as_str().unwrap().to_owned();
    let mut terminal = home.command(["top"]).session("agent").on_terminal();
    until_listed(&terminal, &home, &id);
    terminal.press("xy");
    until_shown(&terminal, "Press any key to return");
    assert_eq!(home.status(&id)["status"], "cancelled");
    terminal.press(" ");
    until(&terminal, "the list is back", |screen| screen.is_full && line_of(&home, screen, &id).is_some());
    leave(terminal);
}

#[test]
fn control_sequences_in_names_and_output_are_not_executed() {
    let home = home();
    let title = "\u{1b}]0;owned\u{7}\u{1b}[2Jname";
    let id =
        home.start_with(&["--description", title], "printf '\\033]0;owned\\007\\033[2J\\033[5;5Hprinted\\n'");
    home.ended(&id);
    let terminal = top(&home);
    until_shown(&terminal, "printed");
    let shown = terminal.shown();
    assert!(!shown.contains("owned") && !shown.contains("[5;5H"), "{shown:?}");
    leave(terminal);
}

#[test]
fn without_a_terminal_the_error_names_other_commands() {
    let refused = home().mw(["top"]);
    assert_eq!(refused.code, Some(2));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("mw list"), "{said}");
}

#[test]
fn another_session_is_refused_inside_a_session_and_a_chosen_one_can_be_left() {
    let home = home();
    let refused = home.command(["top", "--session", "other"]).session("mine").on_terminal();
    until_shown(&refused, "this is session mine");
    assert_eq!(refused.wait(), Some(2));
    let own = home.command(["start", "--json", "echo own"]).session("agent").run();
    let own = own.json()["id"].as_str().unwrap().to_owned();
    // Each session numbers its tasks from one.
    drop(home.start("echo first"));
    let other = home.start("echo other");
    let mut terminal = home.command(["top", "--session", "agent"]).on_terminal();
    let screen = until_listed(&terminal, &home, &own);
    assert!(line_of(&home, &screen, &other).is_none(), "{}", screen.text);
    terminal.press("S");
    until_shown(&terminal, " total");
    terminal.press("\r");
    until(&terminal, "all tasks are listed", |screen| line_of(&home, screen, &other).is_some());
    leave(terminal);
}
