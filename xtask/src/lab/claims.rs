//! What the product says at the end of a round, and what it has left on the disk.

use std::fs;
use std::path::{Path, PathBuf};

use super::json::Json;

/// A task as it is listed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Task {
    pub(super) id: String,
    /// The key of its witness.
    pub(super) key: String,
    pub(super) session: String,
    pub(super) status: String,
    pub(super) cause: String,
    pub(super) exit_code: Option<u64>,
    pub(super) signal: Option<String>,
    pub(super) pid: Option<u32>,
    pub(super) runs: u64,
    pub(super) survivors: u64,
    /// The output of the latest run.
    pub(super) output: Output,
    /// The output of earlier runs.
    pub(super) earlier: Vec<Output>,
}

/// The output of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Output {
    /// The process whose output this is.
    pub(super) pid: Option<u32>,
    /// Bytes that the run has printed, with the dropped ones.
    pub(super) bytes: u64,
    pub(super) dropped: u64,
    pub(super) is_complete: bool,
    /// The content of the log; none if it cannot be read.
    pub(super) log: Option<Vec<u8>>,
}

impl Task {
    /// Returns whether it ran on a back-end. Its process is then a driver.
    pub(super) fn is_far(&self) -> bool {
        self.id.starts_with("remote-")
    }
}

/// Reads the answer of `mw list --all --json --raw`, and the logs that it names.
pub(super) fn tasks(list: &Json, home: &Path) -> Vec<Task> {
    list["tasks"].items().iter().map(|task| one(task, home)).collect()
}

fn one(task: &Json, home: &Path) -> Task {
    let text = |name: &str| task[name].text().unwrap_or_default().to_owned();
    let id = text("id");
    let pid = task["pid"].number().and_then(|pid| u32::try_from(pid).ok());
    let directory = home.join("tasks").join(&id);
    Task {
        key: key_of(&text("command")),
        session: text("session"),
        status: text("status"),
        cause: text("cause"),
        exit_code: task["exit_code"].number(),
        signal: task["signal"].text().map(str::to_owned),
        pid,
        runs: task["runs"].number().unwrap_or_default(),
        survivors: task["survivors"].number().unwrap_or_default(),
        output: Output {
            pid,
            bytes: task["output_bytes"].number().unwrap_or_default(),
            dropped: task["dropped_bytes"].number().unwrap_or_default(),
            is_complete: task["output_complete"].bool().unwrap_or_default(),
            log: fs::read(directory.join("output.log")).ok(),
        },
        earlier: earlier(&directory),
        id,
    }
}

/// Reads the files of earlier runs.
fn earlier(directory: &Path) -> Vec<Output> {
    let Ok(entries) = fs::read_dir(directory.join("runs")) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.')));
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let text = fs::read_to_string(path.join("result.json")).unwrap_or_default();
            let record = Json::parse(&text);
            let pid = record["process"]["pid"].number().and_then(|pid| u32::try_from(pid).ok());
            Output {
                pid,
                bytes: record["output_bytes"].number().unwrap_or_default(),
                dropped: record["dropped_bytes"].number().unwrap_or_default(),
                is_complete: !record["exit"].is_null() && record["exit"]["unknown"].is_null(),
                log: fs::read(path.join("output.log")).ok(),
            }
        })
        .collect()
}

/// Returns the key in the command line of a witness.
fn key_of(command: &str) -> String {
    let mut words = command.split(' ').skip_while(|word| *word != "lab-witness");
    words.nth(2).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_follows_the_file_of_the_witnesses() {
        assert_eq!(key_of("/l/bin/witness lab-witness /l/facts k00012 1 2 3 4 0 0"), "k00012");
        assert_eq!(key_of("sleep 1"), "");
    }
}
