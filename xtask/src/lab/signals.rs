//! Sends signals to processes of a round.

use std::process::{Command, Stdio};

use super::processes::is_alive;

/// Sends a signal to several processes with one call. Returns how many of them were alive before it.
pub(super) fn send(signal: &str, pids: &[u32]) -> u64 {
    let alive: Vec<String> = pids.iter().filter(|pid| is_alive(**pid)).map(u32::to_string).collect();
    if alive.is_empty() {
        return 0;
    }
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(format!("kill -s {signal} {}", alive.join(" ")));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    // It reports an error if one of them has ended in between: that one does not count, and with it none.
    if command.status().is_ok_and(|status| status.success()) { alive.len() as u64 } else { 0 }
}
