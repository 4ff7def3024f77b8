//! The bare limit, `benches/bare.c`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::peers::outcome::Outcome;
use crate::peers::peer::{AT_ONCE, Peer, Started};
use crate::peers::stand::Stand;
use crate::peers::tools::Tools;

pub(super) const NAME: &str = "bare";

pub(super) struct Bare {
    stand: Stand,
    program: PathBuf,
    begun: u32,
}

impl Bare {
    pub(super) fn open(root: &Path, tools: &Tools) -> Outcome<Self> {
        let stand = Stand::new(root, &tools.watchdog)?;
        fs::create_dir(stand.dir.join("logs"))?;
        Ok(Self { stand, program: tools.bare.clone(), begun: 0 })
    }
}

impl Peer for Bare {
    fn name(&self) -> &'static str {
        NAME
    }

    fn stand(&self) -> &Stand {
        &self.stand
    }

    fn start(&mut self, script: &str) -> Outcome<Started> {
        self.begun += 1;
        let log = self.stand.dir.join(format!("logs/{}", self.begun)).display().to_string();
        let call = self.stand.call(&self.program, &["start", &log, script])?;
        Ok(Started::new(call.text.trim(), &call))
    }

    fn wait(&mut self, id: &str) -> Outcome<Duration> {
        Ok(self.stand.call(&self.program, &["wait", id])?.took)
    }

    fn kill(&mut self, id: &str) -> Outcome<Duration> {
        Ok(self.stand.call(&self.program, &["kill", id])?.took)
    }

    /// Returns the log of the last started task, because the limit keeps no names.
    fn log(&mut self, _id: &str) -> Outcome<PathBuf> {
        Ok(self.stand.dir.join(format!("logs/{}", self.begun)))
    }

    /// Starts all tasks from one process, without a command per task. This makes it the lower limit.
    fn start_many(&mut self, count: u32, script: &str) -> Outcome<()> {
        let logs = self.stand.dir.join("logs").display().to_string();
        let (count, at_once) = (count.to_string(), AT_ONCE.to_string());
        self.stand.call(&self.program, &["pool", &count, &at_once, &logs, script])?;
        Ok(())
    }
}
