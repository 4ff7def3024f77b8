//! What agents do without a task manager: one long-lived process in Node.js or Python that spawns commands and copies their
//! output. It executes no command for a start or a wait, keeps nothing on disk but the logs, and takes its tasks' state with
//! it when it ends.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use crate::peers::outcome::{Outcome, Trouble};
use crate::peers::peer::{AT_ONCE, Peer, Started};
use crate::peers::stand::{Stand, wall_clock};
use crate::peers::tools::Tools;

/// A language, and the script that an interpreter of it executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::peers) enum Language {
    Node,
    Python,
}

impl Language {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Python => "python",
        }
    }

    const fn script(self) -> &'static str {
        match self {
            Self::Node => "spawner.mjs",
            Self::Python => "spawner.py",
        }
    }
}

pub(super) struct Spawner {
    language: Language,
    stand: Stand,
    process: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl Spawner {
    pub(super) fn open(language: Language, program: &Path, root: &Path, tools: &Tools) -> Outcome<Self> {
        let stand = Stand::new(root, &tools.watchdog)?;
        let script = tools.scripts.join(language.script());
        let mut process =
            stand.open(program, &[&script.display().to_string(), &stand.dir.display().to_string()])?;
        let (Some(requests), Some(replies)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(Trouble::because("it has no pipes"));
        };
        Ok(Self { language, stand, process, requests, replies: BufReader::new(replies) })
    }

    /// Sends a request and returns the time until the reply, and the reply.
    fn ask(&mut self, request: &str) -> Outcome<(Duration, String)> {
        let begun = Instant::now();
        writeln!(self.requests, "{request}")?;
        let mut reply = String::new();
        self.replies.read_line(&mut reply)?;
        if reply.is_empty() {
            return Err(Trouble::because(format!("{} ended", self.language.name())));
        }
        Ok((begun.elapsed(), reply.trim_end().to_owned()))
    }
}

impl Peer for Spawner {
    fn name(&self) -> &'static str {
        self.language.name()
    }

    fn stand(&self) -> &Stand {
        &self.stand
    }

    fn start(&mut self, script: &str) -> Outcome<Started> {
        let at = wall_clock();
        let (took, id) = self.ask(&format!("start {script}"))?;
        Ok(Started { id, at, took })
    }

    fn wait(&mut self, id: &str) -> Outcome<Duration> {
        Ok(self.ask(&format!("wait {id}"))?.0)
    }

    fn kill(&mut self, id: &str) -> Outcome<Duration> {
        Ok(self.ask(&format!("kill {id}"))?.0)
    }

    fn log(&mut self, id: &str) -> Outcome<PathBuf> {
        Ok(self.stand.dir.join(format!("{id}.log")))
    }

    fn start_many(&mut self, count: u32, script: &str) -> Outcome<()> {
        self.ask(&format!("many {count} {AT_ONCE} {script}")).map(|_| ())
    }
}

impl Drop for Spawner {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
