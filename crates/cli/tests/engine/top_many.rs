//! `mw top` with ten thousand finished and some running tasks.

use std::fs;
use std::time::Duration;

use mw_testkit::{Home, SOON, wait_until};

use crate::home;

const MANY: usize = 10_000;
/// The number of running tasks, in addition to the finished ones.
const LIVE: usize = 12;

/// Creates a home with many finished tasks. One task is run; the others are copies of its directory under other ids,
/// and the database is rebuilt from them.
fn with_many() -> Home {
    let home = home();
    let model = home.start("echo the-only-line");
    home.ended(&model);
    home.wait_until_empty(SOON);
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

/// Processor time of a process so far.
fn processor_time(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<_> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

#[test]
fn ten_thousand_tasks_can_be_scrolled_and_searched() {
    let home = with_many();
    (0..LIVE).for_each(|_| drop(home.start("echo live-line; exec sleep 600")));
    let mut terminal = home.command(["top"]).on_terminal();
    let until = |terminal: &mw_testkit::Terminal, text: &str| {
        wait_until(SOON, &format!("{text:?} is on the screen"), || {
            terminal.screen().text.contains(text).then_some(())
        });
    };
    let all = MANY + LIVE;
    until(&terminal, &format!("1/{all}"));
    let before = processor_time(terminal.pid());
    terminal.press("G");
    until(&terminal, &format!("{all}/{all}"));
    until(&terminal, "the-only-line");
    // A held key passes every page, and the final screen is right.
    terminal.press(&"\u{1b}[5~".repeat(300));
    terminal.press("g");
    until(&terminal, &format!("1/{all}"));
    until(&terminal, "live-line");
    // Measured in CPU time, because the machine may be busy.
    let spent = processor_time(terminal.pid()) - before;
    assert!(spent < Duration::from_secs(4), "{spent:?} for three hundred pages");
    terminal.press("/00007777\r");
    until(&terminal, "1/1");
    terminal.press("2");
    until(&terminal, "bash-00007777");
    terminal.press("q");
    assert_eq!(terminal.ended(), Some(0));
}
