//! The reader of logs: the input is the index and the log, separated by the first byte of the log's end.

use std::fs;

use mw_testkit::SOON;

use crate::{engine, home};

#[test]
fn log() {
    let home = home();
    let id = home.start("echo out; echo err >&2; sleep 0.05; echo more");
    home.ended(&id);
    home.wait_until_empty(SOON);
    let directory = home.task_dir(&id);
    engine::run("log", |input| {
        let at = input.first().map_or(0, |length| usize::from(*length).min(input.len()));
        fs::write(directory.join("output.idx"), &input[at.min(1)..at]).unwrap();
        fs::write(directory.join("output.log"), &input[at..]).unwrap();
        for stream in ["both", "stdout"] {
            let outcome = home.mw(["output", "--json", "--stream", stream, "--grep", "o", &id]);
            let refused = outcome.code.is_some_and(|code| code != 101);
            assert!(refused && !outcome.to_string().contains("panicked"), "{outcome}");
        }
    });
}
