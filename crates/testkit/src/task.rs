//! Tasks of a home: their state, output and files.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use mw_model::Status;
use mw_model::wire::{INDEX_FILE, IndexHeader, LOG_FILE};
use serde_json::Value;

use crate::home::Home;
use crate::processes;
use crate::wait::{SOON, wait_until};

impl Home {
    /// Starts a script and returns the task's id.
    ///
    /// # Panics
    /// When the start is refused.
    #[track_caller]
    #[must_use]
    pub fn start(&self, script: &str) -> String {
        self.start_with(&[], script)
    }

    /// Starts a script with options and returns the task's id.
    ///
    /// # Panics
    /// When the start is refused.
    #[track_caller]
    #[must_use]
    pub fn start_with(&self, options: &[&str], script: &str) -> String {
        let args = ["start", "--json"].iter().chain(options).chain([&script]);
        let outcome = self.mw(args);
        assert_eq!(outcome.code, Some(0), "{outcome}");
        match outcome.json()["id"].as_str() {
            Some(id) => id.to_owned(),
            None => panic!("a start without an id\n{outcome}"),
        }
    }

    /// Returns a task as `mw status --json` shows it.
    ///
    /// # Panics
    /// When there is no such task.
    #[track_caller]
    #[must_use]
    pub fn status(&self, id: &str) -> Value {
        let outcome = self.mw(["status", "--json", id]);
        assert_eq!(outcome.code, Some(0), "{outcome}");
        outcome.json()
    }

    /// Returns all tasks as `mw list --json --all` shows them.
    ///
    /// # Panics
    /// When that fails.
    #[track_caller]
    #[must_use]
    pub fn list(&self) -> Vec<Value> {
        let outcome = self.mw(["list", "--json", "--all"]);
        assert_eq!(outcome.code, Some(0), "{outcome}");
        match outcome.json()["tasks"].as_array() {
            Some(tasks) => tasks.clone(),
            None => panic!("a list without tasks\n{outcome}"),
        }
    }

    /// Waits until a task has the given status, and returns it.
    ///
    /// # Panics
    /// When that does not happen in time.
    #[track_caller]
    pub fn until_status(&self, id: &str, status: &str) -> Value {
        let what = format!("{id} is {status}");
        wait_until(SOON, &what, || Some(self.status(id)).filter(|task| task["status"] == status))
    }

    /// Waits until a task has ended, and returns it.
    ///
    /// # Panics
    /// When it does not end.
    #[track_caller]
    pub fn ended(&self, id: &str) -> Value {
        self.ended_within(id, SOON)
    }

    /// Waits until a task has ended, and returns it.
    ///
    /// # Panics
    /// When it does not end in time.
    #[track_caller]
    pub fn ended_within(&self, id: &str, limit: Duration) -> Value {
        wait_until(limit, &format!("{id} has ended"), || Some(self.status(id)).filter(is_over))
    }

    /// Waits until a task has ended and no process works on it any more.
    ///
    /// # Panics
    /// When that does not happen in time.
    #[track_caller]
    pub fn until_settled(&self, id: &str) {
        self.ended(id);
        wait_until(SOON, &format!("{id} is settled"), || {
            // The supervisor executes `mw settle`, so supervisors are searched first.
            let is_unsupervised = self.supervisors_of(id).is_empty();
            let settles = |pid: &u32| processes::command_line(*pid).iter().any(|word| word == "settle");
            (is_unsupervised && !self.tagged().iter().any(settles)).then_some(())
        });
    }

    /// Returns a task's directory.
    #[must_use]
    pub fn task_dir(&self, id: &str) -> PathBuf {
        self.state().join("tasks").join(id)
    }

    /// Returns the output of a task from its log, without the header.
    ///
    /// # Panics
    /// When there is no log.
    #[track_caller]
    #[must_use]
    pub fn log(&self, id: &str) -> Vec<u8> {
        let directory = self.task_dir(id);
        let header = fs::read(directory.join(INDEX_FILE)).ok();
        let prefix = header.as_deref().and_then(IndexHeader::decode).map_or(0, |header| header.prefix_len);
        match fs::read(directory.join(LOG_FILE)) {
            Ok(bytes) => bytes[usize::try_from(prefix).unwrap_or(0).min(bytes.len())..].to_vec(),
            Err(error) => panic!("no log of {id}: {error}"),
        }
    }

    /// Waits until the log of a task contains a text.
    ///
    /// # Panics
    /// When it does not come.
    #[track_caller]
    pub fn until_logged(&self, id: &str, text: &str) {
        wait_until(SOON, &format!("{id} prints {text:?}"), || {
            String::from_utf8_lossy(&self.log(id)).contains(text).then_some(())
        });
    }

    /// Waits until a file in the working directory has a complete line, and returns the number in it.
    ///
    /// # Panics
    /// When it does not come.
    #[track_caller]
    #[must_use]
    pub fn pid_in(&self, file: &str) -> u32 {
        wait_until(SOON, &format!("a process id in {file}"), || {
            let text = fs::read_to_string(self.work().join(file)).ok()?;
            text.strip_suffix('\n')?.trim().parse().ok()
        })
    }

    /// Waits until a file exists in the working directory.
    ///
    /// # Panics
    /// When it does not come.
    #[track_caller]
    pub fn file(&self, file: &str) {
        wait_until(SOON, &format!("the file {file}"), || self.has_file(file).then_some(()));
    }

    /// Waits until a file in the working directory has that many complete lines, and returns its text.
    ///
    /// # Panics
    /// When they do not come.
    #[track_caller]
    #[must_use]
    pub fn lines_in(&self, file: &str, count: usize) -> String {
        let path = self.work().join(file);
        let text = || fs::read_to_string(&path).unwrap_or_default();
        // Each line has its own deadline, because many lines may take long.
        for line in 1..=count {
            wait_until(SOON, &format!("line {line} of {file}"), || {
                (text().matches('\n').count() >= line).then_some(())
            });
        }
        text()
    }

    /// Returns whether a file exists in the working directory.
    #[must_use]
    pub fn has_file(&self, file: &str) -> bool {
        self.work().join(file).exists()
    }

    /// Returns the first process of a running task.
    ///
    /// # Panics
    /// When it has none.
    #[track_caller]
    #[must_use]
    pub fn pid(&self, id: &str) -> u32 {
        let task = self.status(id);
        match task["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()) {
            Some(pid) => pid,
            None => panic!("no process id: {task}"),
        }
    }
}

fn is_over(task: &Value) -> bool {
    let status = task["status"].as_str().and_then(Status::from_word);
    status.is_some_and(Status::is_terminal)
}
