//! Reads information about processes from `/proc`.

use std::fs;
use std::process::{Command, Stdio};

/// The number of clock ticks per second in `/proc/PID/stat`. It is the same on every supported architecture.
const TICKS: f64 = 100.0;

/// The programs of the measured tasks. All other processes of a peer are its own.
const TASK_PROGRAMS: [&str; 3] = ["sh", "sleep", "bare"];

/// Returns the live processes whose environment contains `tag`.
pub(super) fn tagged(tag: &str) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| has_tag(*pid, tag) && is_alive(*pid))
        .collect()
}

fn has_tag(pid: u32, tag: &str) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == tag.as_bytes())
}

/// Returns whether a process has not ended. A zombie has ended.
pub(super) fn is_alive(pid: u32) -> bool {
    stat(pid).is_some_and(|fields| !matches!(fields.first().map(String::as_str), Some("Z" | "X") | None))
}

/// Returns the fields of `/proc/PID/stat` from the state on.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses and may contain any character.
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

/// Returns the name of the program in the kernel.
pub(super) fn name(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim_end().to_owned()
}

/// Returns whether a process is the peer's own and not a task.
pub(super) fn is_helper(pid: u32) -> bool {
    !TASK_PROGRAMS.contains(&name(pid).as_str())
}

/// Returns the CPU time of a process in seconds, without its children.
pub(super) fn cpu_seconds(pid: u32) -> f64 {
    let fields = stat(pid).unwrap_or_default();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / TICKS
}

/// Returns the proportional memory size of a process: shared pages are divided by the number of processes that share
/// them.
pub(super) fn pss_kib(pid: u32) -> f64 {
    kib_field(&format!("/proc/{pid}/smaps_rollup"), "Pss:")
}

/// Returns the maximum resident memory of a process.
pub(super) fn peak_kib(pid: u32) -> f64 {
    kib_field(&format!("/proc/{pid}/status"), "VmHWM:")
}

fn kib_field(path: &str, field: &str) -> f64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0.0)
}

/// Kills processes by pid.
pub(super) fn kill(pids: &[u32]) {
    if pids.is_empty() {
        return;
    }
    let list: Vec<String> = pids.iter().map(ToString::to_string).collect();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("kill -KILL {}", list.join(" "))]);
    // The command reports an error if a process has already ended.
    let _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_has_memory() {
        let own = std::process::id();
        assert!(is_alive(own) && is_helper(own));
        assert!(peak_kib(own) > 0.0 && cpu_seconds(own) >= 0.0);
        assert_eq!(tagged("MW_BENCH=no such tag"), []);
    }
}
