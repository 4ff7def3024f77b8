//! pm2 has a daemon in Node.js that starts processes, and restarts them unless told otherwise. It has no wait.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::peers::outcome::Outcome;
use crate::peers::peer::{Peer, Started};
use crate::peers::stand::Stand;
use crate::peers::tools::Tools;

pub(super) struct Pm2 {
    stand: Stand,
    program: PathBuf,
    begun: u32,
}

impl Pm2 {
    pub(super) fn open(program: &Path, root: &Path, tools: &Tools) -> Outcome<Self> {
        let mut stand = Stand::new(root, &tools.watchdog)?;
        stand.set("PM2_HOME", stand.dir.join("pm2").display().to_string());
        let pm2 = Self { stand, program: program.to_owned(), begun: 0 };
        // This also starts the daemon.
        pm2.stand.call(&pm2.program, &["ping"])?;
        Ok(pm2)
    }
}

impl Peer for Pm2 {
    fn name(&self) -> &'static str {
        "pm2"
    }

    fn stand(&self) -> &Stand {
        &self.stand
    }

    fn start(&mut self, script: &str) -> Outcome<Started> {
        self.begun += 1;
        let name = format!("t{}", self.begun);
        let words = ["start", "/bin/sh", "--no-autorestart", "--interpreter", "none", "--name", &name, "--"];
        let call = self.stand.call(&self.program, &[words.as_slice(), &["-c", script]].concat())?;
        Ok(Started::new(name, &call))
    }

    fn kill(&mut self, id: &str) -> Outcome<Duration> {
        Ok(self.stand.call(&self.program, &["delete", id])?.took)
    }

    fn list(&mut self) -> Outcome<Duration> {
        Ok(self.stand.call(&self.program, &["jlist"])?.took)
    }

    fn log(&mut self, id: &str) -> Outcome<PathBuf> {
        Ok(self.stand.dir.join(format!("pm2/logs/{id}-out.log")))
    }

    fn is_slow(&self) -> bool {
        true
    }
}
