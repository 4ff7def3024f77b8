//! pueue has a daemon with a queue, and stores its state in one JSON file.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::peers::outcome::{Outcome, Trouble};
use crate::peers::peer::{Peer, Started};
use crate::peers::stand::Stand;
use crate::peers::tools::Tools;

/// The maximum number of tasks in the store. pueue runs about twenty tasks per second, so a larger store would take
/// minutes.
const MAX_SEEDED: u32 = 1_000;

pub(super) struct Pueue {
    stand: Stand,
    program: PathBuf,
    config: String,
}

impl Pueue {
    pub(super) fn open(program: &Path, root: &Path, tools: &Tools) -> Outcome<Self> {
        let stand = Stand::new(root, &tools.watchdog)?;
        let dir = stand.dir.display();
        let config = stand.dir.join("pueue.yml");
        for part in ["state", "run"] {
            fs::create_dir(stand.dir.join(part))?;
        }
        let text = format!(
            "client: {{}}\ndaemon: {{}}\nshared:\n  pueue_directory: {dir}/state\n  runtime_directory: {dir}/run\n  \
             use_unix_socket: true\n"
        );
        fs::write(&config, text)?;
        let mut pueue = Self { stand, program: program.to_owned(), config: config.display().to_string() };
        let daemon = program.with_file_name("pueued");
        pueue.stand.call(&daemon, &["-d", "-c", &pueue.config])?;
        pueue.await_daemon()?;
        Ok(pueue)
    }

    fn await_daemon(&mut self) -> Outcome<()> {
        let end = Instant::now() + Duration::from_secs(20);
        while self.set_slots(64).is_err() {
            if Instant::now() > end {
                return Err(Trouble::because("the daemon did not come up"));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn call(&self, words: &[&str]) -> Outcome<Duration> {
        let all = [&["-c", self.config.as_str()], words].concat();
        Ok(self.stand.call(&self.program, &all)?.took)
    }
}

impl Peer for Pueue {
    fn name(&self) -> &'static str {
        "pueue"
    }

    fn stand(&self) -> &Stand {
        &self.stand
    }

    fn start(&mut self, script: &str) -> Outcome<Started> {
        let call =
            self.stand.call(&self.program, &["-c", &self.config, "add", "--print-task-id", "--", script])?;
        Ok(Started::new(call.text.trim(), &call))
    }

    fn wait(&mut self, id: &str) -> Outcome<Duration> {
        self.call(&["wait", "--quiet", id])
    }

    fn kill(&mut self, id: &str) -> Outcome<Duration> {
        self.call(&["kill", id])
    }

    fn list(&mut self) -> Outcome<Duration> {
        self.call(&["status", "--json"])
    }

    fn log(&mut self, id: &str) -> Outcome<PathBuf> {
        Ok(self.stand.dir.join(format!("state/task_logs/{id}.log")))
    }

    fn seed(&mut self, count: u32) -> Outcome<()> {
        if count > MAX_SEEDED {
            return Err(Trouble::Unsupported);
        }
        let mut last = None;
        for _ in 0..count {
            last = Some(self.start("true")?);
        }
        last.map_or(Ok(()), |last| self.wait(&last.id).map(|_| ()))
    }

    fn set_slots(&mut self, slots: u32) -> Outcome<()> {
        self.call(&["parallel", &slots.to_string()]).map(|_| ())
    }

    fn is_slow(&self) -> bool {
        true
    }
}
