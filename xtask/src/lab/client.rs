//! Runs a command of the product to its end, however it ends.

use std::io::Read;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::json::Json;
use super::signals;

/// How long a command may take. None of those that the lab calls waits longer than this.
const LONGEST: Duration = Duration::from_secs(90);

/// How a command ended.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) shown: String,
    pub(super) status: Option<ExitStatus>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Outcome {
    pub(super) fn is_success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// Returns whether a signal ended it, as the lab's faults do.
    pub(super) fn was_killed(&self) -> bool {
        self.status.is_none_or(|status| status.signal().is_some())
    }

    pub(super) fn json(&self) -> Json {
        Json::parse(&self.stdout)
    }
}

/// Kills commands that never return, and remembers them.
#[derive(Clone, Default)]
pub(super) struct Watchdog {
    watched: Arc<Mutex<Vec<(u32, Instant, String)>>>,
    hung: Arc<Mutex<Vec<String>>>,
}

impl Watchdog {
    pub(super) fn start() -> Self {
        let dog = Self::default();
        let (watched, hung) = (Arc::downgrade(&dog.watched), Arc::clone(&dog.hung));
        thread::spawn(move || {
            while let Some(watched) = watched.upgrade() {
                let mut list = lock(&watched);
                for (pid, _, shown) in list.extract_if(.., |(_, end, _)| Instant::now() > *end) {
                    let stack = std::fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap_or_default();
                    lock(&hung).push(format!("{shown} (pid {pid}, in {stack})"));
                    signals::send("KILL", &[pid]);
                }
                drop(list);
                drop(watched);
                thread::sleep(Duration::from_millis(500));
            }
        });
        dog
    }

    fn watch(&self, pid: u32, shown: &str) {
        lock(&self.watched).push((pid, Instant::now() + LONGEST, shown.to_owned()));
    }

    fn relax(&self, pid: u32) {
        lock(&self.watched).retain(|(watched, ..)| *watched != pid);
    }

    /// Returns the commands that had to be killed.
    pub(super) fn hung(&self) -> Vec<String> {
        lock(&self.hung).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a command to its end.
pub(super) fn run(mut command: Command, dog: &Watchdog) -> Outcome {
    let shown = show(&command);
    let spawned = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let failed = |error: std::io::Error| Outcome {
        shown: shown.clone(),
        status: None,
        stdout: String::new(),
        stderr: error.to_string(),
    };
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return failed(error),
    };
    dog.watch(child.id(), &shown);
    let (stdout, stderr) = read_both(&mut child);
    let status = child.wait();
    dog.relax(child.id());
    match status {
        Ok(status) => Outcome { shown, status: Some(status), stdout, stderr },
        Err(error) => failed(error),
    }
}

fn read_both(child: &mut Child) -> (String, String) {
    let mut errors = child.stderr.take();
    let reader = thread::spawn(move || read(errors.as_mut()));
    let output = read(child.stdout.take().as_mut());
    (output, reader.join().unwrap_or_default())
}

fn read(from: Option<&mut impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        let _ = from.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn show(command: &Command) -> String {
    let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
    let session =
        command.get_envs().find(|(name, _)| *name == "MEANWHILE_SESSION").and_then(|(_, value)| value);
    let session = session.map(|session| format!("[{}] ", session.to_string_lossy())).unwrap_or_default();
    format!("{session}{}", words.collect::<Vec<_>>().join(" "))
}
