//! The list of `mw top`: content, order, and changes while it is shown.

use mw_testkit::{Home, SOON, Screen, alive, children, wait_until};

use crate::home;
use crate::top::{leave, line_of, top, until, until_shown};

fn lists(home: &Home, screen: &Screen, id: &str) -> bool {
    line_of(home, screen, id).is_some()
}

#[test]
fn the_list_can_show_one_batch_and_return() {
    let home = home();
    let other = home.start(children::SLEEPER);
    let ours = [(); 2].map(|()| home.start_with(&["--batch", "nightly"], children::SLEEPER));
    let mut terminal = top(&home);
    until(&terminal, "all are listed", |screen| {
        lists(&home, screen, &other) && lists(&home, screen, &ours[1])
    });
    terminal.press("gb");
    let screen = until_shown(&terminal, "batch:nightly");
    assert!(screen.text.contains("nightly"));
    until(&terminal, "the batch alone is listed", |screen| {
        !lists(&home, screen, &other) && ours.iter().all(|id| lists(&home, screen, id))
    });
    terminal.press("b");
    until(&terminal, "all are listed again", |screen| lists(&home, screen, &other));
    leave(terminal);
}

#[test]
fn tasks_can_be_sorted_by_usage_in_both_directions() {
    let home = home();
    let busy = home.start("while :; do :; done");
    let idle = [(); 2].map(|()| home.start(children::SLEEPER));
    let mut terminal = top(&home);
    until(&terminal, "all are listed", |screen| {
        lists(&home, screen, &busy) && lists(&home, screen, &idle[1])
    });
    let place = |screen: &Screen, id: &str| {
        let line = line_of(&home, screen, id)?;
        screen.text.lines().position(|other| other == line)
    };
    // state, newest, longest, name, cpu
    terminal.press("ssss");
    until_shown(&terminal, "sort:cpu");
    until(&terminal, "the busy task is first", |screen| place(screen, &busy) == Some(2));
    terminal.press("I");
    until_shown(&terminal, "sort:least cpu");
    until(&terminal, "the busy task is last", |screen| place(screen, &busy) == Some(4));
    leave(terminal);
}

#[test]
fn the_cursor_moves_to_another_task_when_its_task_is_removed() {
    let home = home();
    let [first, second] = ["first", "second"].map(|word| {
        let id = home.start(&format!("echo {word}-line"));
        home.ended(&id);
        id
    });
    let mut terminal = top(&home);
    until(&terminal, "both are listed", |screen| {
        lists(&home, screen, &first) && lists(&home, screen, &second)
    });
    terminal.press("g");
    until_shown(&terminal, "second-line");
    assert_eq!(home.mw(["clear", &second]).code, Some(0));
    until(&terminal, "the other task is selected", |screen| {
        screen.text.contains("first-line") && !lists(&home, screen, &second)
    });
    leave(terminal);
}

#[test]
fn a_running_task_is_restarted_after_confirmation() {
    let home = home();
    let id = home.start("echo $$ >> pids; exec sleep 600");
    let first = home.pid_in("pids");
    let mut terminal = top(&home);
    until(&terminal, "the task is listed", |screen| lists(&home, screen, &id));
    terminal.press("r");
    until_shown(&terminal, &format!("{id} is still live. Kill and restart it?"));
    assert_eq!(home.status(&id)["runs"], 1, "nothing happens before the confirmation");
    terminal.press("y");
    until_shown(&terminal, &format!("{id} restarted, run 2"));
    wait_until(SOON, "the second run has started", || (home.status(&id)["runs"] == 2).then_some(()));
    assert!(!alive(first));
    leave(terminal);
}

#[test]
fn binary_output_stays_inside_its_pane() {
    let home = home();
    let id = home.start("head -c 200000 /dev/urandom; echo; echo the-end");
    home.ended(&id);
    let mut terminal = top(&home);
    until_shown(&terminal, "the-end");
    for keys in ["\t", "w", "\u{1b}[5~\u{1b}[5~", "\u{1b}[C", "/a\r", "n", "G"] {
        terminal.press(keys);
    }
    let screen = until_shown(&terminal, "the-end");
    let lines: Vec<_> = screen.text.lines().collect();
    assert!(lines[0].starts_with(" mw top  ● 0 running  ✓ 1 done"), "{}", screen.text);
    assert!(line_of(&home, &screen, &id).is_some_and(|line| line.contains("completed")), "{}", screen.text);
    terminal.press("\u{1b}\u{1b}");
    leave(terminal);
}
