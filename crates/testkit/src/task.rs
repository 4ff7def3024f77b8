//! What became of a task of a home.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use mw_model::Status;
use mw_model::wire::{INDEX_FILE, IndexHeader, LOG_FILE};
use rustix::process::Signal;
use serde_json::Value;

use crate::home::Home;
use crate::processes::{self, kill_if};
use crate::wait::{SOON, wait_until};

/// The name under which the kernel lists supervisors.
const SUPERVISOR: &str = "mw-supervisor";

/// The two processes that watch over a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The parent, which sleeps and stands in.
    pub guardian: u32,
    /// The child, which does the work.
    pub supervisor: u32,
}

impl Home {
    /// Starts a script and returns the task's id.
    ///
    /// # Panics
    /// When that is refused.
    #[track_caller]
    #[must_use]
    pub fn start(&self, script: &str) -> String {
        self.start_with(&[], script)
    }

    /// Starts a script with options and returns the task's id.
    ///
    /// # Panics
    /// When that is refused.
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
    /// When there is none.
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
    /// When it does not get there.
    #[track_caller]
    pub fn until_status(&self, id: &str, status: &str) -> Value {
        let what = format!("{id} is {status}");
        wait_until(SOON, &what, || Some(self.status(id)).filter(|task| task["status"] == status))
    }

    /// Waits until a task is over, and returns it.
    ///
    /// # Panics
    /// When it does not end.
    #[track_caller]
    pub fn ended(&self, id: &str) -> Value {
        self.ended_within(id, SOON)
    }

    /// Waits until a task is over, and returns it.
    ///
    /// # Panics
    /// When it does not end in time.
    #[track_caller]
    pub fn ended_within(&self, id: &str, limit: Duration) -> Value {
        wait_until(limit, &format!("{id} is over"), || Some(self.status(id)).filter(is_over))
    }

    /// Waits until a task is over and nobody is occupied with it any more, as survivors of it would be.
    ///
    /// # Panics
    /// When it does not come to that.
    #[track_caller]
    pub fn until_settled(&self, id: &str) {
        self.ended(id);
        wait_until(SOON, &format!("{id} is settled"), || {
            // Its supervisor becomes what settles it, so this is the order in which to look.
            let is_left = self.supervisors_of(id).is_empty();
            let settles = |pid: &u32| processes::words(*pid).iter().any(|word| word == "settle");
            (is_left && !self.tagged().iter().any(settles)).then_some(())
        });
    }

    /// Returns a task's directory.
    #[must_use]
    pub fn task_dir(&self, id: &str) -> PathBuf {
        self.state().join("tasks").join(id)
    }

    /// Returns what a task printed, straight from its log, without lines that are no output.
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

    /// Waits until a task's log holds this text.
    ///
    /// # Panics
    /// When it does not come.
    #[track_caller]
    pub fn until_logged(&self, id: &str, text: &str) {
        wait_until(SOON, &format!("{id} prints {text:?}"), || {
            String::from_utf8_lossy(&self.log(id)).contains(text).then_some(())
        });
    }

    /// Waits until a file in the working directory holds a complete line, and returns the number in it.
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

    /// Waits until a file is in the working directory.
    ///
    /// # Panics
    /// When it does not come.
    #[track_caller]
    pub fn file(&self, file: &str) {
        wait_until(SOON, &format!("the file {file}"), || self.has_file(file).then_some(()));
    }

    /// Waits until a file in the working directory holds that many complete lines, and returns all of its text.
    ///
    /// # Panics
    /// When they do not come.
    #[track_caller]
    #[must_use]
    pub fn lines_in(&self, file: &str, count: usize) -> String {
        let path = self.work().join(file);
        let text = || fs::read_to_string(&path).unwrap_or_default();
        // Each has time of its own: many that come one after the other may take long.
        for line in 1..=count {
            wait_until(SOON, &format!("line {line} of {file}"), || {
                (text().matches('\n').count() >= line).then_some(())
            });
        }
        text()
    }

    /// Tells whether a file is in the working directory.
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

    /// Returns the living supervisors of a task: those that stand in its directory.
    #[must_use]
    pub fn supervisors_of(&self, id: &str) -> Vec<u32> {
        let mut found = processes::all();
        found.retain(|pid| self.supervises(*pid, id));
        found
    }

    fn supervises(&self, pid: u32, id: &str) -> bool {
        processes::name(pid).as_deref() == Some(SUPERVISOR)
            && processes::cwd(pid).is_some_and(|cwd| cwd == self.task_dir(id))
            && processes::alive(pid)
    }

    /// Returns a task's two watchers, if it has both at this moment.
    #[must_use]
    pub fn find_pair(&self, id: &str) -> Option<Pair> {
        let found = self.supervisors_of(id);
        let parent_of = |pid: u32| Some(processes::stat(pid)?.parent);
        found.iter().find_map(|supervisor| {
            let guardian = parent_of(*supervisor)?;
            // What a supervisor is about to execute looks like one for a moment: then the topmost two are meant.
            let is_topmost = !found.contains(&parent_of(guardian)?);
            (found.contains(&guardian) && is_topmost).then_some(Pair { guardian, supervisor: *supervisor })
        })
    }

    /// Waits until a task has its two watchers and returns them.
    ///
    /// # Panics
    /// When there are not two of them.
    #[track_caller]
    #[must_use]
    pub fn pair(&self, id: &str) -> Pair {
        wait_until(SOON, &format!("{id} has a guardian and a supervisor"), || self.find_pair(id))
    }

    /// Kills one process of this home with SIGKILL and waits for its death.
    ///
    /// # Panics
    /// When it is none of this home, or does not die.
    #[track_caller]
    pub fn slay(&self, pid: u32) {
        assert!(self.try_slay(pid), "process {pid} is none of this home, or is dead");
    }

    /// As [`Home::slay`], but tells whether the process was there to be killed.
    ///
    /// # Panics
    /// When it does not die.
    #[track_caller]
    pub fn try_slay(&self, pid: u32) -> bool {
        let inside = |pid| processes::cwd(pid).is_some_and(|cwd| cwd.starts_with(self.state()));
        let hit = kill_if(pid, Signal::KILL, |pid| self.is_tagged(pid) || inside(pid));
        if hit {
            self.until_dead(pid);
        }
        hit
    }

    /// Kills both watchers of a task.
    ///
    /// # Panics
    /// When they do not die.
    #[track_caller]
    pub fn slay_watchers(&self, id: &str) {
        let pair = self.pair(id);
        // The guardian first: it would otherwise see the death of its child and take over. Whoever is put in
        // its place meanwhile dies too.
        self.slay(pair.guardian);
        wait_until(SOON, &format!("nobody watches {id}"), || {
            let left = self.supervisors_of(id);
            for pid in &left {
                kill_if(*pid, Signal::KILL, |pid| self.supervises(pid, id));
            }
            left.is_empty().then_some(())
        });
    }

    /// Returns the helpers that look whether a task is ready.
    #[must_use]
    pub fn helpers_of(&self, id: &str) -> Vec<u32> {
        let mut found = self.tagged();
        found.retain(|pid| {
            let words = processes::words(*pid);
            words.iter().any(|word| word == "--ready") && words.iter().any(|word| word == id)
        });
        found
    }

    /// Waits until a helper looks whether a task is ready, and returns it.
    ///
    /// # Panics
    /// When there is none.
    #[track_caller]
    #[must_use]
    pub fn helper(&self, id: &str) -> u32 {
        wait_until(SOON, &format!("{id} has a helper"), || self.helpers_of(id).first().copied())
    }

    /// Waits for the death of a process.
    ///
    /// # Panics
    /// When it lives on.
    #[track_caller]
    pub fn until_dead(&self, pid: u32) {
        wait_until(SOON, &format!("process {pid} is dead"), || (!processes::alive(pid)).then_some(()));
    }
}

fn is_over(task: &Value) -> bool {
    let status = task["status"].as_str().and_then(Status::from_word);
    status.is_some_and(Status::is_terminal)
}
