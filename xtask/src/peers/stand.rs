//! A place of its own for one peer: a directory, an environment, and timed commands in it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::outcome::{Outcome, Trouble};
use super::process;
use super::watchdog::Watchdog;

/// Longest time a single command may take.
const PATIENCE: Duration = Duration::from_secs(300);
/// Variables that only make the environment as large as a developer's: 36 of about 60 bytes.
const FILLERS: u32 = 36;

static STANDS: AtomicU32 = AtomicU32::new(0);

/// A finished command.
pub(super) struct Call {
    /// Wall clock in nanoseconds when it was begun.
    pub(super) at: i128,
    /// From before its start until it was reaped.
    pub(super) took: Duration,
    /// What it printed, both streams.
    pub(super) text: String,
}

/// Where a peer lives while it is measured. Dropping it kills every process of the peer.
///
/// Its files stay until the end of the run: some file systems are slow to make files after many were deleted, and the
/// next peer would pay for it (see [`super::probe`]).
pub(super) struct Stand {
    /// The peer's directory.
    pub(super) dir: PathBuf,
    replies: PathBuf,
    environment: Vec<(String, String)>,
    tag: String,
    watchdog: Watchdog,
}

impl Stand {
    /// Makes a stand in `root`.
    pub(super) fn new(root: &Path, watchdog: &Watchdog) -> Outcome<Self> {
        let number = STANDS.fetch_add(1, Ordering::Relaxed);
        // Short, because sockets are made in it.
        let dir = root.join(format!("s{number}"));
        fs::create_dir_all(&dir)?;
        let tag = ("MW_BENCH".to_owned(), format!("{}-{number}", std::process::id()));
        let shown = dir.display().to_string();
        let path = std::env::var("PATH").unwrap_or_default();
        let fixed = [("HOME", &shown), ("TMPDIR", &shown), ("PATH", &path)];
        let mut environment: Vec<(String, String)> =
            fixed.map(|(name, value)| (name.to_owned(), value.clone())).to_vec();
        environment.extend((0..FILLERS).map(|n| (format!("FILLER_{n:02}"), "0123456789".repeat(5))));
        environment
            .extend([("LANG", "C.UTF-8"), ("TERM", "dumb")].map(|(a, b)| (a.to_owned(), b.to_owned())));
        environment.push(tag.clone());
        let tag = format!("{}={}", tag.0, tag.1);
        Ok(Self { replies: dir.join("reply"), dir, environment, tag, watchdog: watchdog.clone() })
    }

    /// Sets a variable for all commands that follow.
    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.environment.retain(|(other, _)| other != name);
        self.environment.push((name.to_owned(), value.into()));
    }

    /// Runs a command to its end, whatever its exit code.
    ///
    /// Its output goes to a file: a pipe might be held open by what it leaves behind.
    pub(super) fn try_call(&self, program: &Path, words: &[&str]) -> Outcome<(Call, bool)> {
        let out = File::create(&self.replies)?;
        let mut command = Command::new(program);
        command.args(words).env_clear().envs(self.environment.iter().map(|(a, b)| (a, b)));
        command.stdin(Stdio::null()).stderr(out.try_clone()?).stdout(out);
        let at = wall_clock();
        let begun = Instant::now();
        let mut child = command.spawn()?;
        self.watchdog.watch(child.id(), PATIENCE);
        let status = child.wait();
        let took = begun.elapsed();
        self.watchdog.relax();
        let text = String::from_utf8_lossy(&fs::read(&self.replies)?).into_owned();
        Ok((Call { at, took, text }, status?.success()))
    }

    /// Runs a command that has to succeed.
    pub(super) fn call(&self, program: &Path, words: &[&str]) -> Outcome<Call> {
        let (call, success) = self.try_call(program, words)?;
        if success {
            return Ok(call);
        }
        let said: String = call.text.chars().take(200).collect();
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        Err(Trouble::because(format!("`{name} {}` failed: {}", words.join(" "), said.trim())))
    }

    /// Returns every living process that was started here, tasks included.
    pub(super) fn processes(&self) -> Vec<u32> {
        process::tagged(&self.tag)
    }

    /// Returns those that are the peer's own.
    pub(super) fn helpers(&self) -> Vec<u32> {
        self.processes().into_iter().filter(|pid| process::is_helper(*pid)).collect()
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        // What dies may have been about to start something.
        for _ in 0..50 {
            let left = self.processes();
            if left.is_empty() {
                break;
            }
            process::kill(&left);
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Returns the wall clock in nanoseconds, as `bare stamp` writes it.
pub(super) fn wall_clock() -> i128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128)
}
