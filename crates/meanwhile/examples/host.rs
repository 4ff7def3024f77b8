//! A host in forty lines: it starts what it is asked to, goes on, and is told of every ending once.
//!
//! `cargo run --example host -- HOME BIN_DIR SESSION [SCRIPT…]` starts each script in the background and then
//! waits for news until all of them are told. `HOME` is kept, so kill it with `kill -9` and run it again with
//! no script: what was not told yet is told then, and nothing is told twice.
use std::path::PathBuf;
use std::time::Duration;

use meanwhile::engine::{DeliveryPolicy, Moment, Runtime, TaskRequest};
use meanwhile::model::{CommandSpec, EnvVar, RawText};
use meanwhile::{Programs, Result, Settings};

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let mut next = || words.next().unwrap_or_default();
    let (home, bin, session) = (PathBuf::from(next()), PathBuf::from(next()), next());
    let text = |path: PathBuf| RawText::from(path.to_string_lossy().as_ref());
    let settle = vec![text(bin.join("mw")), "settle".into(), "--home".into(), text(home.clone())];
    let programs = Programs { supervisor: bin.join("mw-supervisor"), settle, starter_exits: false };
    let runtime = Runtime::open(Settings::new(home, programs))?;
    let host = runtime.notifications().host(&session, DeliveryPolicy::NextRun)?;
    let ear = runtime.listen()?;
    for script in words {
        let command = CommandSpec::Shell { program: "/bin/sh".into(), script: script.as_str().into() };
        let path = EnvVar { name: "PATH".into(), value: "/usr/local/bin:/usr/bin:/bin".into() };
        let started = runtime.starts().start(&TaskRequest::new(&session, command, "/".into(), vec![path]))?;
        println!("started {}", started.task.id);
    }
    while runtime.sessions().list()?.iter().any(|s| s.id == session && (s.live > 0 || s.notices > 0)) {
        // The start of a turn: what there is to tell goes in front of it and is stored with it, or not at all.
        let delivery = host.drain(Moment::RunStart)?;
        if delivery.notices().is_empty() {
            ear.wait(Duration::from_secs(1));
            continue;
        }
        println!("{}", delivery.store("go on")?.to_text());
    }
    Ok(())
}
