//! The smallest host: it starts a script, continues, and is told once how the script ended.
//!
//! `cargo run --example waiter -- SESSION SCRIPT` uses the home of this user.
use std::error::Error;
use std::time::Duration;

use meanwhile::Meanwhile;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let [name, script] = &words[..] else { return Err("usage: waiter SESSION SCRIPT".into()) };
    let session = Meanwhile::open_default()?.host(name)?;
    let task = session.start(script.as_str())?;
    println!("started {}", task.id());
    while let Some(notice) = session.next_notice(Duration::from_secs(600))? {
        println!("{}", notice.summary());
        let is_over = notice.notice().is_ending();
        notice.acknowledge()?;
        if is_over {
            break;
        }
    }
    Ok(())
}
