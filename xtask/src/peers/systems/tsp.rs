//! task-spooler has a server per user that keeps its list in memory.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::peers::outcome::{Outcome, Trouble};
use crate::peers::peer::{AT_ONCE, Peer, Started};
use crate::peers::stand::Stand;
use crate::peers::tools::Tools;

/// The maximum number of tasks in the store. Only real tasks can fill it, so a much larger store would take minutes.
const MAX_SEEDED: u32 = 10_000;

pub(super) struct Tsp {
    stand: Stand,
    program: PathBuf,
}

impl Tsp {
    pub(super) fn open(program: &Path, root: &Path, tools: &Tools) -> Outcome<Self> {
        let mut stand = Stand::new(root, &tools.watchdog)?;
        stand.set("TS_SOCKET", stand.dir.join("socket").display().to_string());
        stand.set("TS_MAXFINISHED", "100000");
        stand.set("TS_MAXCONN", "1000");
        stand.set("TS_SLOTS", "64");
        Ok(Self { stand, program: program.to_owned() })
    }

    fn call(&self, words: &[&str]) -> Outcome<Duration> {
        Ok(self.stand.call(&self.program, words)?.took)
    }
}

impl Peer for Tsp {
    fn name(&self) -> &'static str {
        "tsp"
    }

    fn stand(&self) -> &Stand {
        &self.stand
    }

    fn start(&mut self, script: &str) -> Outcome<Started> {
        let call = self.stand.call(&self.program, &["sh", "-c", script])?;
        Ok(Started::new(call.text.trim(), &call))
    }

    fn wait(&mut self, id: &str) -> Outcome<Duration> {
        self.call(&["-w", id])
    }

    fn kill(&mut self, id: &str) -> Outcome<Duration> {
        self.call(&["-k", id])
    }

    fn list(&mut self) -> Outcome<Duration> {
        self.call(&["-l"])
    }

    /// Returns the log. The file has a name only after the task has started.
    fn log(&mut self, id: &str) -> Outcome<PathBuf> {
        let end = Instant::now() + Duration::from_secs(5);
        while Instant::now() < end {
            let (call, success) = self.stand.try_call(&self.program, &["-o", id])?;
            if success && call.text.trim().starts_with('/') {
                return Ok(PathBuf::from(call.text.trim()));
            }
            thread::sleep(Duration::from_millis(1));
        }
        Err(Trouble::because("the task's output has no name"))
    }

    fn seed(&mut self, count: u32) -> Outcome<()> {
        if count > MAX_SEEDED {
            return Err(Trouble::Unsupported);
        }
        self.start_many(count, "true")?;
        self.set_slots(64)?;
        // This task starts after all others, because the queue starts tasks in order.
        let last = self.start("true")?;
        self.wait(&last.id)?;
        Ok(())
    }

    fn set_slots(&mut self, slots: u32) -> Outcome<()> {
        debug_assert!(slots >= AT_ONCE);
        self.call(&["-S", &slots.to_string()]).map(|_| ())
    }
}
