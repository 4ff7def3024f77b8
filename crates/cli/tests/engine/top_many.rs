//! `mw top` with ten thousand finished tasks.

use std::fs;

use mw_testkit::{Home, SOON, wait_until};

use crate::home;

const MANY: usize = 10_000;

/// One task is run; the others are copies of its directory under other ids, which the database is rebuilt from.
fn with_many() -> Home {
    let home = home();
    let model = home.start("echo the-only-line");
    home.ended(&model);
    let tasks = home.state().join("tasks");
    let from = tasks.join(&model);
    let spec = fs::read_to_string(from.join("spec.json")).unwrap();
    let number = serde_json::from_str::<serde_json::Value>(&spec).unwrap()["number"].clone();
    for at in 2..=MANY {
        let id = format!("bash-{at:08}");
        let to = tasks.join(&id);
        fs::create_dir(&to).unwrap();
        let text = spec.replace(&model, &id);
        fs::write(
            to.join("spec.json"),
            text.replace(&format!("\"number\":{number}"), &format!("\"number\":{at}")),
        )
        .unwrap();
        for name in ["journal.jsonl", "output.log", "output.idx", "result.json"] {
            if from.join(name).exists() {
                fs::hard_link(from.join(name), to.join(name)).unwrap();
            }
        }
    }
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(home.state().join(format!("meanwhile.db{ending}")));
    }
    let listed = home.command(["list", "--json"]).limit(SOON * 6).run();
    assert_eq!(listed.json()["total"], MANY);
    home
}

#[test]
fn ten_thousand_tasks_are_moved_through_and_searched() {
    let home = with_many();
    let mut terminal = home.command(["top"]).on_terminal();
    let until = |terminal: &mw_testkit::Terminal, text: &str| {
        wait_until(SOON, &format!("{text:?} is on the screen"), || {
            terminal.screen().text.contains(text).then_some(())
        });
    };
    until(&terminal, &format!("0 live · {MANY} ended"));
    until(&terminal, &format!("1/{MANY}"));
    terminal.press("G");
    until(&terminal, &format!("{MANY}/{MANY}"));
    until(&terminal, "the-only-line");
    // A held key: every page is passed, and what is shown in the end is right.
    terminal.press(&"\u{1b}[5~".repeat(300));
    terminal.press("g");
    until(&terminal, &format!("1/{MANY}"));
    until(&terminal, "the-only-line");
    terminal.press("/00007777\r");
    until(&terminal, "1/1");
    until(&terminal, "bash-00007777");
    terminal.press("q");
    assert_eq!(terminal.ended(), Some(0));
}
