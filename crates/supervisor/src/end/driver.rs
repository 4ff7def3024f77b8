//! The driver of a task that runs elsewhere. It is the task's first process here, but not the task: a driver that was
//! killed is executed again, `place.json` says how the task ended, and signals reach it through a file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;

use mw_model::signal::{SIGKILL, SIGURG};
use mw_model::wire::{JournalEntry, JournalLine, PLACE_FILE, PLACE_SIGNALS_FILE, PlaceEnd, PlaceRecord};
use mw_model::{Exit, Process};

use super::record;
use super::tree::Tree;
use crate::clock;
use crate::spawn::launch::identify;
use crate::sys;
use crate::sys::{Child, ExecPlan};
use crate::watch::supervise::{Leader, Supervisor};

/// A driver that ends sooner has not done anything useful.
const USEFUL_MS: u64 = 2000;
/// How many such drivers may follow each other.
const MAX_USELESS: u32 = 8;
/// The pause after the first of them; it doubles each time.
const PAUSE_MS: u64 = 50;

/// Why nobody knows how a task ended whose driver can write its result nowhere.
const REMOVED: &str = "the directory of the task was removed";

/// The drivers of a run.
#[derive(Default)]
pub(crate) struct Drivers {
    /// How many have ended without use, one after the other.
    useless: u32,
    begun_ms: u64,
    /// The last signal that was written for the driver.
    last_signal: Option<i32>,
}

/// What follows the end of a driver.
pub(crate) enum AfterDriver {
    /// The task has ended.
    Ended(Exit),
    /// Another driver is executed.
    Again,
}

/// Returns the driver that a journal line names.
pub(crate) fn started_driver(line: &JournalLine) -> Option<&Process> {
    match &line.entry {
        JournalEntry::DriverStarted { process, .. } => Some(process),
        _ => None,
    }
}

/// Returns how the task of a run ended elsewhere, if its driver has written that. A damaged record says nothing.
fn place_end(run: u32) -> io::Result<Option<PlaceEnd>> {
    let text = match fs::read(PLACE_FILE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read?,
    };
    Ok(serde_json::from_slice::<PlaceRecord>(&text).ok().and_then(|record| record.end_of(run)))
}

impl Supervisor {
    /// Decides what follows the end of a driver.
    pub(crate) fn after_driver(&mut self) -> AfterDriver {
        let run = self.run.number;
        if let Some(end) = record::retry(|| place_end(run)) {
            self.exceeded = self.exceeded.or_else(|| end.limit());
            self.unsupervised = end.cause();
            return AfterDriver::Ended(end.exit());
        }
        if is_directory_removed() {
            return AfterDriver::Ended(Exit::Unknown(REMOVED.to_owned()));
        }
        let now = clock::monotonic_ms();
        let is_useless = now < self.drivers.begun_ms.saturating_add(USEFUL_MS);
        self.drivers.useless = if is_useless { self.drivers.useless + 1 } else { 0 };
        if self.drivers.useless > MAX_USELESS {
            let reason = "the driver of its back-end keeps ending without a result";
            return AfterDriver::Ended(Exit::Unknown(reason.to_owned()));
        }
        let pause = if is_useless { PAUSE_MS << self.drivers.useless.min(10) } else { 0 };
        if let Leader::Child(pid) = std::mem::replace(&mut self.leader, Leader::Away { due_ms: now + pause })
        {
            self.run.reap(pid);
        }
        AfterDriver::Again
    }

    /// Executes the driver again. If that fails, it is tried again later, unless the driver could write its result nowhere.
    pub(crate) fn start_driver(&mut self) {
        let now = clock::monotonic_ms();
        self.drivers.begun_ms = now;
        match self.execute_driver() {
            Ok(process) => {
                let pipes = [self.run.files.stdout.inode(), self.run.files.stderr.inode()];
                self.journal(JournalEntry::DriverStarted { process: process.clone(), pipes });
                self.leader = Leader::Child(process.pid);
                self.process = process;
                self.tree_changed = true;
            }
            Err(_) if is_directory_removed() => self.leader_ended(Exit::Unknown(REMOVED.to_owned())),
            Err(_) => self.leader = Leader::Away { due_ms: now + USEFUL_MS },
        }
    }

    fn execute_driver(&self) -> io::Result<Process> {
        let Some(driver) = &self.run.message.driver else { return Err(io::ErrorKind::NotFound.into()) };
        let plan = ExecPlan::new(&driver.program, &driver.argv, &driver.env, &driver.cwd, 0o077)?;
        let null = File::open("/dev/null")?;
        let (stdout, stderr) = (self.run.files.stdout.for_command()?, self.run.files.stderr.for_command()?);
        let streams = Child {
            stdin: null.as_fd(),
            stdout: stdout.as_fd(),
            stderr: stderr.as_fd(),
            terminal: false,
            progress: None,
        };
        let pid = sys::spawn(&plan, None, &streams, self.run.board, None)
            .map_err(|(_, errno)| io::Error::from_raw_os_error(errno))?;
        Ok(identify(pid, &self.run.boot_id))
    }

    /// Leaves signals for the driver, which passes them on to the task, and wakes it. Returns the processes that were
    /// woken.
    ///
    /// A driver that is not ready yet ignores the wake-up and finds the signals in the file. SIGKILL never ends a driver:
    /// without it, the task would live on unwatched.
    pub(crate) fn signal_driver(&mut self, signals: &[i32]) -> Vec<u32> {
        for signal in signals {
            let is_repeated = *signal == SIGKILL && self.drivers.last_signal == Some(SIGKILL);
            if !is_repeated && append_signal(self.run.number, *signal).is_ok() {
                self.drivers.last_signal = Some(*signal);
            }
        }
        let driver = [(self.process.pid, self.process.start_ticks)].into_iter().collect();
        if matches!(self.leader, Leader::Away { .. } | Leader::Ended) {
            return Vec::new();
        }
        Tree::signal(&driver, &[SIGURG])
    }
}

/// Returns whether the directory of the task, in which this process works, does not exist any more.
fn is_directory_removed() -> bool {
    matches!(rustix::process::getcwd(Vec::new()), Err(rustix::io::Errno::NOENT))
}

fn append_signal(run: u32, signal: i32) -> io::Result<()> {
    let mut file = record::private(OpenOptions::new().create(true).append(true), PLACE_SIGNALS_FILE)?;
    file.write_all(format!("{run} {signal}\n").as_bytes())
}
