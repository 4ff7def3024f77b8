//! The command of every task in the lab. It appends what it does to a file outside the home, so that the checker knows the
//! truth without asking the product.
//!
//! Each line is one `write` with `O_APPEND`: its parts are separated by spaces. The order of the lines is the order of events
//! over all tasks.
//!
//! ```text
//! begin KEY PID UPTIME        the first line of a run
//! announce KEY PID STREAM N   it is about to write until byte N of that stream
//! written KEY PID STREAM N    it has written them
//! tick KEY PID UPTIME         it is still alive
//! signal KEY PID NUMBER       it is about to send itself a signal
//! end KEY PID CODE            it is about to exit
//! ```

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::Failure;

/// How long a witness may be silent.
const TICK: Duration = Duration::from_millis(200);

/// What a witness does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// Names the request that started it.
    pub(super) key: String,
    /// The bursts of output; a stop of the lab's processes between two of them falls into the middle of the output.
    pub(super) bursts: u64,
    /// The lines of each burst and stream.
    pub(super) lines: u64,
    /// The time between two bursts.
    pub(super) pause: Duration,
    pub(super) exit: u8,
    /// Ends with SIGKILL, which it sends to itself, instead of an exit code.
    pub(super) is_suicidal: bool,
    /// Leaves a child in a session of its own.
    pub(super) has_child: bool,
}

impl Plan {
    /// Returns the command line of this witness.
    pub(super) fn words(&self, program: &Path, facts: &Path) -> Vec<String> {
        let flag = |is: bool| u8::from(is).to_string();
        vec![
            program.display().to_string(),
            "lab-witness".to_owned(),
            facts.display().to_string(),
            self.key.clone(),
            self.bursts.to_string(),
            self.lines.to_string(),
            self.pause.as_millis().to_string(),
            self.exit.to_string(),
            flag(self.is_suicidal),
            flag(self.has_child),
        ]
    }

    fn from_words(words: &[&str]) -> Option<(PathBuf, Self)> {
        let [facts, key, bursts, lines, pause, exit, suicidal, child] = words else { return None };
        let plan = Self {
            key: (*key).to_owned(),
            bursts: bursts.parse().ok()?,
            lines: lines.parse().ok()?,
            pause: Duration::from_millis(pause.parse().ok()?),
            exit: exit.parse().ok()?,
            is_suicidal: *suicidal == "1",
            has_child: *child == "1",
        };
        Some((PathBuf::from(facts), plan))
    }
}

/// A stream of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stream {
    Out,
    Err,
}

impl Stream {
    pub(super) const BOTH: [Self; 2] = [Self::Out, Self::Err];

    pub(super) fn letter(self) -> char {
        match self {
            Self::Out => 'o',
            Self::Err => 'e',
        }
    }
}

/// Returns a line of the output. Its length depends on its number, so that a shifted byte is noticed.
pub(super) fn line(stream: Stream, key: &str, pid: u32, number: u64) -> String {
    let filler = "abcdefghijklmnopqrstuvwxyz".repeat(5);
    format!("{} {key} {pid} {number} {}\n", stream.letter(), &filler[..(number * 7 % 120) as usize])
}

/// Runs a witness.
pub(crate) fn run(words: &[&str]) -> Result<ExitCode, Failure> {
    let (facts, plan) = Plan::from_words(words).ok_or(Failure::Usage("lab-witness is started by the lab"))?;
    let failed = |source| Failure::File { path: facts.clone(), source };
    let file = File::options().append(true).open(&facts).map_err(failed)?;
    Witness { file, pid: std::process::id(), plan }.run().map_err(failed)
}

struct Witness {
    file: File,
    pid: u32,
    plan: Plan,
}

impl Witness {
    fn note(&mut self, what: &str, rest: &str) -> io::Result<()> {
        let line = format!("{what} {} {} {rest}\n", self.plan.key, self.pid);
        self.file.write_all(line.as_bytes())
    }

    fn run(mut self) -> io::Result<ExitCode> {
        self.note("begin", &uptime())?;
        if self.plan.has_child {
            // The child is found by the tag in its environment. Nobody waits for it.
            let _ = Command::new("setsid").args(["sleep", "600"]).stdin(Stdio::null()).spawn();
        }
        let mut written = [0; 2];
        for burst in 0..self.plan.bursts {
            for (stream, bytes) in Stream::BOTH.into_iter().zip(&mut written) {
                let first = burst * self.plan.lines;
                let text: String = (first..first + self.plan.lines)
                    .map(|number| line(stream, &self.plan.key, self.pid, number))
                    .collect();
                *bytes += text.len();
                let bytes = format!("{} {bytes}", stream.letter());
                self.note("announce", &bytes)?;
                match stream {
                    Stream::Out => io::stdout().write_all(text.as_bytes())?,
                    Stream::Err => io::stderr().write_all(text.as_bytes())?,
                }
                self.note("written", &bytes)?;
            }
            self.pause()?;
        }
        if self.plan.is_suicidal {
            self.note("signal", "9")?;
            let _ = Command::new("/bin/sh").args(["-c", "kill -KILL $PPID"]).status();
            self.pause()?;
        }
        self.note("end", &self.plan.exit.to_string())?;
        Ok(ExitCode::from(self.plan.exit))
    }

    fn pause(&mut self) -> io::Result<()> {
        let end = Instant::now() + self.plan.pause;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            thread::sleep(left.min(TICK));
            self.note("tick", &uptime())?;
        }
    }
}

/// Returns the seconds since the machine was booted, which no change of the clock affects.
fn uptime() -> String {
    let text = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    text.split(' ').next().unwrap_or("0").to_owned()
}
