//! A host that may be killed at any moment: every end is in exactly one of its messages.
//!
//! `cargo run --example host -- HOME SESSION [SCRIPT…]` starts each script and prints a message for its model whenever
//! something has happened, until all scripts have ended. Kill it with `kill -9` and run it again without scripts: what no
//! stored message has yet is in the next one, and nothing is there twice.
use std::error::Error;
use std::time::Duration;

use meanwhile::{Meanwhile, Scope, TaskFilter};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(home), Some(name)) = (words.next(), words.next()) else {
        return Err("usage: host HOME SESSION [SCRIPT…]".into());
    };
    let mw = Meanwhile::open_at(home)?;
    let session = mw.host(&name)?;
    for script in words {
        println!("started {}", session.start(script)?.id());
    }
    let count = TaskFilter { limit: 0, ..TaskFilter::new(Scope::Session(name)) };
    loop {
        let is_over = mw.tasks(&count)?.live == 0;
        let notices =
            session.wait_for_notices(if is_over { Duration::ZERO } else { Duration::from_secs(1) })?;
        if notices.len() > 0 {
            // A new turn of the model: the message and the acknowledgement are stored together, or not at all.
            println!("{}", notices.into_message("go on")?.to_text());
        } else if is_over {
            return Ok(());
        }
    }
}
