//! nq: a file per task, one task at a time in each directory; no daemon, no list, no kill.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::peers::outcome::{Outcome, Trouble};
use crate::peers::peer::{Peer, Started};
use crate::peers::stand::Stand;
use crate::peers::tools::Tools;

pub(super) struct Nq {
    stand: Stand,
    program: PathBuf,
    /// Directories in use: its only way to run several tasks at once.
    lanes: u32,
    begun: u32,
}

impl Nq {
    pub(super) fn open(program: &Path, root: &Path, tools: &Tools) -> Outcome<Self> {
        let stand = Stand::new(root, &tools.watchdog)?;
        Ok(Self { stand, program: program.to_owned(), lanes: 64, begun: 0 })
    }

    fn enter(&mut self, lane: &Path) {
        self.stand.set("NQDIR", lane.display().to_string());
    }
}

impl Peer for Nq {
    fn name(&self) -> &'static str {
        "nq"
    }

    fn stand(&self) -> &Stand {
        &self.stand
    }

    /// An id here is the path of the task's file.
    fn start(&mut self, script: &str) -> Outcome<Started> {
        let lane = self.stand.dir.join(format!("lane{}", self.begun % self.lanes));
        self.begun += 1;
        self.enter(&lane);
        let call = self.stand.call(&self.program, &["sh", "-c", script])?;
        let id = lane.join(call.text.trim()).display().to_string();
        Ok(Started::new(id, &call))
    }

    fn wait(&mut self, id: &str) -> Outcome<Duration> {
        let file = Path::new(id);
        let (Some(lane), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str()))
        else {
            return Err(Trouble::because("no task"));
        };
        self.enter(lane);
        Ok(self.stand.call(&self.program, &["-w", name])?.took)
    }

    /// By hand: the last part of a file's name is the process group to kill.
    fn kill(&mut self, id: &str) -> Outcome<Duration> {
        let Some((_, pid)) = id.rsplit_once('.') else { return Err(Trouble::because("no task")) };
        Ok(self.stand.call(Path::new("/bin/kill"), &["-KILL", "--", &format!("-{pid}")])?.took)
    }

    /// The nearest thing to a list: whether any task of a directory still runs.
    fn list(&mut self) -> Outcome<Duration> {
        self.enter(&self.stand.dir.join("lane0"));
        let (call, _) = self.stand.try_call(&self.program, &["-t"])?;
        Ok(call.took)
    }

    fn log(&mut self, id: &str) -> Outcome<PathBuf> {
        Ok(PathBuf::from(id))
    }

    /// Its store is the files, so that copies of one are as good as tasks that ran.
    fn seed(&mut self, count: u32) -> Outcome<()> {
        self.lanes = 1;
        let model = self.start("true")?;
        self.wait(&model.id)?;
        let text = fs::read(&model.id)?;
        let lane = self.stand.dir.join("lane0");
        for number in 1..count {
            // Time in hexadecimal and a pid; earlier than any real one.
            fs::write(
                lane.join(format!(",{:x}.{}", 0x0100_0000_0000_u64 + u64::from(number), number + 1)),
                &text,
            )?;
        }
        Ok(())
    }

    fn set_slots(&mut self, slots: u32) -> Outcome<()> {
        self.lanes = slots;
        Ok(())
    }
}
