//! The control socket of a supervisor.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use mw_testkit::{SOON, children, wait_until};

use crate::{engine, home};

/// How long an answer may take; requests that wait get none.
const PATIENCE: Duration = Duration::from_millis(20);

#[test]
fn control() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let socket = home.task_dir(&id).join("control");
    let connect = || {
        // A task runs some milliseconds before its socket exists.
        let stream = wait_until(SOON, "the socket", || UnixStream::connect(&socket).ok());
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    };
    engine::run("control", |input| {
        let mut stream = connect();
        // It may have closed the connection.
        let _ = stream.write_all(input).and_then(|()| stream.write_all(b"\n"));
        let _ = stream.read(&mut [0; 4096]);
        drop(stream);
        let pair = home.find_pair(&id);
        assert!(pair.is_some(), "a supervisor has ended");
    });
    let task = home.status(&id);
    assert_eq!(task["status"], "running", "{task}");
    let _ = home.mw(["kill", &id]).ok();
}
