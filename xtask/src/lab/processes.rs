//! The processes of a round, by the part that they play.

use std::fs;
use std::path::{Path, PathBuf};

use super::world::World;

/// The part that a process plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Client,
    Supervisor,
    Guardian,
    Settle,
    Helper,
    ForkServer,
    Host,
    Mcp,
    Web,
    Driver,
    /// A witness or a process that it has started.
    Task,
}

/// A living process.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) parent: u32,
    pub(super) role: Role,
    /// The task that it supervises.
    pub(super) task: Option<String>,
    pub(super) command: String,
}

/// Returns the living processes of a round.
pub(super) fn all(world: &World) -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| look(world, pid)).collect()
}

/// Returns whether a process exists and has not ended.
pub(super) fn is_alive(pid: u32) -> bool {
    stat(pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

/// Returns the state of a process and its parent.
fn stat(pid: u32) -> Option<(char, u32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses and may contain any character.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

fn look(world: &World, pid: u32) -> Option<Process> {
    let tasks = world.home().join("tasks");
    let is_ours = |pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == world.tag().as_bytes())
    };
    let task = task_of(pid, &tasks);
    if (task.is_none() && !is_ours(pid)) || !is_alive(pid) {
        return None;
    }
    let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<&str> = command.split('\0').collect();
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    // A command that is about to be executed still looks like its supervisor.
    let parent = |pid| stat(pid).map_or(0, |(_, parent)| parent);
    let is_inside = |pid| task.is_some() && task_of(pid, &tasks) == task;
    let depth = || [parent(pid), parent(parent(pid))].into_iter().take_while(|pid| is_inside(*pid)).count();
    let role = role(name.trim_end(), &words, task.is_some(), depth);
    Some(Process { pid, parent: parent(pid), role, task, command: words.join(" ") })
}

/// Returns the task whose directory is the working directory of a process. Only supervisors have one.
fn task_of(pid: u32, tasks: &Path) -> Option<String> {
    let directory: PathBuf = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
    let name = directory.strip_prefix(tasks).ok()?.to_str()?;
    (!name.is_empty()).then(|| name.trim_end_matches(" (deleted)").to_owned())
}

/// `depth` is the number of supervisors of the same task above a process.
fn role(name: &str, words: &[&str], in_task: bool, depth: impl Fn() -> usize) -> Role {
    let has = |word: &str| words.contains(&word);
    if name == "mw-supervisor" {
        return match (in_task, has("fork-server"), depth()) {
            (false, true, _) => Role::ForkServer,
            (_, _, 0) => Role::Guardian,
            (_, _, 1) => Role::Supervisor,
            _ => Role::Task,
        };
    }
    let program = words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    if !matches!(program, "mw" | "mw-engine" | "mw-surfaces") {
        return Role::Task;
    }
    if has("--ready") {
        return Role::Helper;
    }
    match words.get(1).copied().unwrap_or_default() {
        "settle" => Role::Settle,
        "mcp" => Role::Mcp,
        "serve" => Role::Web,
        "backend-driver" | "agent-driver" | "agent-keeper" => Role::Driver,
        "session" if has("run") => Role::Host,
        _ => Role::Client,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_follows_from_name_words_and_parent() {
        let with = |name, words: &[&str], in_task, depth| role(name, words, in_task, || depth);
        assert_eq!(with("mw-supervisor", &["mw-supervisor", "spawn"], true, 2), Role::Task);
        assert_eq!(with("mw-supervisor", &["mw-supervisor", "spawn"], true, 1), Role::Supervisor);
        assert_eq!(with("mw-supervisor", &["mw-supervisor", "spawn"], true, 0), Role::Guardian);
        assert_eq!(with("mw-supervisor", &["mw-supervisor", "fork-server"], false, 0), Role::ForkServer);
        assert_eq!(with("mw-engine", &["/bin/mw-engine", "settle", "x"], false, 0), Role::Settle);
        assert_eq!(with("mw", &["mw", "list"], false, 0), Role::Client);
        assert_eq!(with("xtask", &["/tmp/xtask", "lab-witness"], false, 0), Role::Task);
    }
}
