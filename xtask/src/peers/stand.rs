//! A separate directory and environment for one peer, with timed commands.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::outcome::{Outcome, Trouble};
use super::process;
use super::watchdog::Watchdog;

/// The maximum duration of a single command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(300);
/// The number of variables that enlarge the environment to a realistic size. Each has about 60 bytes.
const FILLERS: u32 = 36;

static STANDS: AtomicU32 = AtomicU32::new(0);

/// A finished command.
pub(super) struct Call {
    /// The wall clock in nanoseconds at the start of the command.
    pub(super) at: i128,
    /// The time from before the start until the process was reaped.
    pub(super) took: Duration,
    /// The output of both streams.
    pub(super) text: String,
}

/// The directory and environment of a peer during its measurement. Dropping it kills every process of the peer.
///
/// The files are kept until the end of the run. Some file systems create files slowly after many were deleted, which
/// would affect the next peer (see [`super::probe`]).
pub(super) struct Stand {
    /// The peer's directory.
    pub(super) dir: PathBuf,
    replies: PathBuf,
    environment: Vec<(String, String)>,
    tag: String,
    watchdog: Watchdog,
}

impl Stand {
    /// Creates a directory and environment in `root`.
    pub(super) fn new(root: &Path, watchdog: &Watchdog) -> Outcome<Self> {
        let number = STANDS.fetch_add(1, Ordering::Relaxed);
        // The name is short, because paths of sockets have a maximum length.
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

    /// Sets a variable for all following commands.
    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.environment.retain(|(other, _)| other != name);
        self.environment.push((name.to_owned(), value.into()));
    }

    /// Runs a command to its end, with any exit code.
    ///
    /// The output goes to a file, because a background process could keep a pipe open. It is appended, because ext4 writes a
    /// file that was truncated to disk when it is closed, which would be part of the time of every command that prints.
    pub(super) fn try_call(&self, program: &Path, words: &[&str]) -> Outcome<(Call, bool)> {
        let out = OpenOptions::new().create(true).append(true).open(&self.replies)?;
        let before = out.metadata()?.len();
        let mut command = self.command(program, words);
        command.stdin(Stdio::null()).stderr(out.try_clone()?).stdout(out);
        let at = wall_clock();
        let begun = Instant::now();
        let mut child = command.spawn()?;
        self.watchdog.watch(child.id(), COMMAND_TIMEOUT);
        let status = child.wait();
        let took = begun.elapsed();
        self.watchdog.relax();
        let mut text = Vec::new();
        let mut replies = File::open(&self.replies)?;
        replies.seek(SeekFrom::Start(before))?;
        replies.read_to_end(&mut text)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok((Call { at, took, text }, status?.success()))
    }

    /// Starts a program that stays and answers requests on pipes.
    pub(super) fn open(&self, program: &Path, words: &[&str]) -> Outcome<Child> {
        let mut command = self.command(program, words);
        Ok(command
            .current_dir(&self.dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?)
    }

    fn command(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words).env_clear().envs(self.environment.iter().map(|(a, b)| (a, b)));
        command
    }

    /// Runs a command that must succeed.
    pub(super) fn call(&self, program: &Path, words: &[&str]) -> Outcome<Call> {
        let (call, success) = self.try_call(program, words)?;
        if success {
            return Ok(call);
        }
        let said: String = call.text.chars().take(200).collect();
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        Err(Trouble::because(format!("`{name} {}` failed: {}", words.join(" "), said.trim())))
    }

    /// Returns all live processes that were started here, including tasks.
    pub(super) fn processes(&self) -> Vec<u32> {
        process::tagged(&self.tag)
    }

    /// Returns the live processes that are the peer's own.
    pub(super) fn helpers(&self) -> Vec<u32> {
        self.processes().into_iter().filter(|pid| process::is_helper(*pid)).collect()
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        // A process may start another one before it is killed, so this is repeated.
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

/// Returns the wall clock in nanoseconds, in the format of `bare stamp`.
pub(super) fn wall_clock() -> i128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i128)
}
