//! The smallest host: it starts a script, goes on, and is told once how the script ended.
//!
//! `cargo run --example waiter -- SESSION SCRIPT` uses the home that `mw` uses.
use std::time::Duration;

use meanwhile::{Meanwhile, Result, Shell, Until};

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let mut next = || words.next().unwrap_or_default();
    let session = Meanwhile::open_default()?.host(&next())?;
    let task = session.start(Shell::new(next()))?;
    println!("started {}", task.id());
    let (task, is_over) = task.wait(Until::Exit, Duration::from_secs(600))?;
    if !is_over {
        println!("{} goes on", task.id);
    }
    for notice in session.notices()? {
        println!("{}", notice.summary());
        notice.acknowledge()?;
    }
    Ok(())
}
