//! nq has one file per task and runs one task at a time in each directory. It has no daemon, no list and no kill.

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
    /// The number of directories. Several tasks run at once only in different directories.
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

    /// Starts a task. Its id is the path of its file.
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

    /// Kills the process group whose number is the last part of the file's name, because nq has no kill command.
    fn kill(&mut self, id: &str) -> Outcome<Duration> {
        let Some((_, pid)) = id.rsplit_once('.') else { return Err(Trouble::because("no task")) };
        Ok(self.stand.call(Path::new("/bin/kill"), &["-KILL", "--", &format!("-{pid}")])?.took)
    }

    /// Checks whether any task of a directory is running, which is the nearest equivalent to a list.
    fn list(&mut self) -> Outcome<Duration> {
        self.enter(&self.stand.dir.join("lane0"));
        let (call, _) = self.stand.try_call(&self.program, &["-t"])?;
        Ok(call.took)
    }

    fn log(&mut self, id: &str) -> Outcome<PathBuf> {
        Ok(PathBuf::from(id))
    }

    /// Copies the file of a task. The files are nq's whole store, so copies are equivalent to real tasks.
    fn seed(&mut self, count: u32) -> Outcome<()> {
        self.lanes = 1;
        let model = self.start("true")?;
        self.wait(&model.id)?;
        let text = fs::read(&model.id)?;
        let lane = self.stand.dir.join("lane0");
        for number in 1..count {
            // The name contains a time in hexadecimal and a pid. The time is earlier than any real one.
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
