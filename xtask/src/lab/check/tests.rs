//! The checker finds each kind of violation in made-up evidence, and nothing in a true one.

use std::time::Duration;

use super::{Evidence, Promise, all};
use crate::lab::actions::{Actions, Answer, Receipt, Start};
use crate::lab::claims::{Output, Task};
use crate::lab::facts::Facts;
use crate::lab::witness::{Stream, line};
use crate::lab::world::MAX_RUNNING;

struct Case {
    facts: String,
    actions: Actions,
    tasks: Vec<Task>,
}

impl Case {
    /// A task that printed two lines and exited with 3.
    fn new() -> Self {
        let [out, err] = Stream::BOTH.map(|stream| line(stream, "k1", 7, 0));
        let mut facts = "begin k1 7 10.0\n".to_owned();
        for (letter, text) in [("o", &out), ("e", &err)] {
            facts += &format!("announce k1 7 {letter} {0}\nwritten k1 7 {letter} {0}\n", text.len());
        }
        facts += "end k1 7 3\n";
        let log = out + &err;
        let output = Output {
            pid: Some(7),
            bytes: log.len() as u64,
            dropped: 0,
            is_complete: true,
            log: Some(log.into_bytes()),
        };
        let task = Task {
            id: "bash-1".to_owned(),
            key: "k1".to_owned(),
            session: "s".to_owned(),
            status: "failed".to_owned(),
            exit_code: Some(3),
            pid: Some(7),
            runs: 1,
            output,
            ..Task::default()
        };
        let mut actions = Actions::default();
        actions.starts.insert("k1".to_owned(), start("bash-1"));
        actions.receipts.push(receipt(true));
        Self { facts, actions, tasks: vec![task] }
    }

    fn broken(&self) -> Vec<Promise> {
        let facts = Facts::parse(&self.facts).unwrap();
        let evidence = Evidence { facts: &facts, actions: &self.actions, tasks: &self.tasks };
        all(&evidence).into_iter().map(|violation| violation.promise).collect()
    }
}

fn start(id: &str) -> Start {
    Start {
        session: "s".to_owned(),
        answer: Answer::Started(id.to_owned()),
        timeout: None,
        has_cap: false,
        is_attached: false,
    }
}

fn receipt(is_certain: bool) -> Receipt {
    Receipt {
        id: "bash-1".to_owned(),
        run: Some(1),
        status: "failed".to_owned(),
        is_certain,
        is_in_doubt: false,
    }
}

#[test]
fn a_true_story_has_no_violation() {
    let mut case = Case::new();
    assert_eq!(case.broken(), []);
    // Its receiver was killed, so it got the notification again.
    case.actions.receipts.push(receipt(false));
    assert_eq!(case.broken(), []);
}

#[test]
fn an_invented_or_doubted_ending_is_found() {
    let mut case = Case::new();
    case.tasks[0].exit_code = Some(0);
    assert_eq!(case.broken(), [Promise::Ending]);
    let mut case = Case::new();
    case.tasks[0].status = "lost".to_owned();
    assert!(case.broken().contains(&Promise::Ending));
    case.actions.supervisor_kills.insert("bash-1".to_owned(), 2);
    assert!(!case.broken().contains(&Promise::Ending));
    case.tasks[0].status = "running".to_owned();
    assert!(case.broken().contains(&Promise::Ending));
}

#[test]
fn output_that_is_missing_swapped_or_doubled_is_found() {
    for change in [
        |log: &mut Vec<u8>| log.truncate(log.len() - 1),
        |log: &mut Vec<u8>| log.swap(3, 4),
        |log: &mut Vec<u8>| log.extend_from_within(..10),
    ] {
        let mut case = Case::new();
        change(case.tasks[0].output.log.as_mut().unwrap());
        assert_eq!(case.broken(), [Promise::Output]);
    }
    let mut case = Case::new();
    case.tasks[0].output.bytes -= 1;
    case.tasks[0].output.log.as_mut().unwrap().pop();
    assert_eq!(case.broken(), [Promise::Output], "called complete");
}

#[test]
fn notifications_are_counted() {
    let mut case = Case::new();
    case.actions.receipts.push(receipt(true));
    assert_eq!(case.broken(), [Promise::Notification]);
    case.actions.receipts.clear();
    assert_eq!(case.broken(), [Promise::Notification]);
}

#[test]
fn a_second_run_and_a_forgotten_task_are_found() {
    let mut case = Case::new();
    case.facts += "begin k1 9 11.0\nend k1 9 3\n";
    assert_eq!(case.broken(), [Promise::Once, Promise::Once]);
    let mut case = Case::new();
    case.tasks.clear();
    assert_eq!(case.broken(), [Promise::Forgotten]);
    case.actions.clears.insert("k1".to_owned());
    assert_eq!(case.broken(), []);
}

#[test]
fn limits_are_checked() {
    let mut case = Case::new();
    for number in 0..=MAX_RUNNING {
        let key = format!("m{number}");
        case.facts += &format!("begin {key} {} 20.0\n", 100 + number);
        case.actions.starts.insert(key.clone(), start(&key));
        case.actions.clears.insert(key);
    }
    assert_eq!(case.broken(), [], "each is seen once, so they need not have run at the same time");
    for number in 0..=MAX_RUNNING {
        case.facts += &format!("tick m{number} {} 60.0\n", 100 + number);
    }
    assert_eq!(case.broken(), [Promise::Limit]);
    let mut case = Case::new();
    case.facts = case.facts.replace("end", "tick k1 7 40.0\nend");
    case.actions.starts.get_mut("k1").unwrap().timeout = Some(Duration::from_secs(2));
    assert_eq!(case.broken(), [Promise::Limit]);
}
