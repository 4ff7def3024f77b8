//! `mw` as a measured system.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::mw_seed;
use crate::peers::outcome::{Outcome, Trouble};
use crate::peers::peer::{Peer, Started};
use crate::peers::stand::Stand;
use crate::peers::tools::Tools;

pub(super) struct Mw {
    stand: Stand,
    program: PathBuf,
    home: PathBuf,
}

impl Mw {
    pub(super) fn open(root: &Path, tools: &Tools) -> Outcome<Self> {
        let mut stand = Stand::new(root, &tools.watchdog)?;
        let home = stand.dir.join("home");
        stand.set("MEANWHILE_HOME", home.display().to_string());
        // The whole gigabyte must be stored, as in peers without a limit.
        stand.set("MEANWHILE_OUTPUT_CAP", "0");
        stand.set("MEANWHILE_QUEUE_MAX_RUNNING", "64");
        Ok(Self { stand, program: tools.mw.join("mw"), home })
    }

    fn call(&self, words: &[&str]) -> Outcome<Duration> {
        Ok(self.stand.call(&self.program, words)?.took)
    }
}

impl Peer for Mw {
    fn name(&self) -> &'static str {
        "mw"
    }

    fn stand(&self) -> &Stand {
        &self.stand
    }

    fn start(&mut self, script: &str) -> Outcome<Started> {
        let call = self.stand.call(&self.program, &["start", "--json", script])?;
        Ok(Started::new(text_field(&call.text, "id")?, &call))
    }

    fn wait(&mut self, id: &str) -> Outcome<Duration> {
        self.call(&["wait", id])
    }

    fn kill(&mut self, id: &str) -> Outcome<Duration> {
        self.call(&["kill", id])
    }

    fn list(&mut self) -> Outcome<Duration> {
        self.call(&["list", "--json"])
    }

    fn log(&mut self, id: &str) -> Outcome<PathBuf> {
        Ok(self.home.join("tasks").join(id).join("output.log"))
    }

    fn seed(&mut self, count: u32) -> Outcome<()> {
        let model = self.start("true")?;
        self.call(&["wait", &model.id])?;
        self.settle()?;
        mw_seed::multiply(&self.home, &model.id, count)?;
        // The first command finds no database and rebuilds it from the directories.
        let call = self.stand.call(&self.program, &["list", "--json", "--limit", "1"])?;
        let expected = format!("\"total\":{count}}}");
        if !call.text.trim_end().ends_with(&expected) {
            let end = call.text.len().saturating_sub(40);
            let told = call.text.get(end..).unwrap_or_default().trim();
            return Err(Trouble::because(format!("seeded {count} tasks, but the list ends with {told}")));
        }
        Ok(())
    }

    fn set_slots(&mut self, slots: u32) -> Outcome<()> {
        self.stand.set("MEANWHILE_QUEUE_MAX_RUNNING", slots.to_string());
        Ok(())
    }

    fn settles_later(&self) -> bool {
        true
    }
}

impl Mw {
    /// Waits until the processes that run after a task's end have exited.
    fn settle(&self) -> Outcome<()> {
        let end = Instant::now() + Duration::from_secs(10);
        while !self.stand.helpers().is_empty() {
            if Instant::now() > end {
                return Err(Trouble::because("a finished task is not settled after 10 s"));
            }
            thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }
}

/// Returns a string of a line of JSON. Ids contain no escaped characters.
fn text_field<'a>(line: &'a str, name: &str) -> Outcome<&'a str> {
    let mark = format!("\"{name}\":\"");
    line.split_once(&mark)
        .and_then(|(_, rest)| rest.split_once('"'))
        .map(|(value, _)| value)
        .ok_or_else(|| Trouble::because(format!("no {name} in {}", line.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_read_from_json_output() {
        assert_eq!(text_field("{\"id\":\"bash-k3f9x2ab\",\"pid\":7}", "id").unwrap(), "bash-k3f9x2ab");
        assert!(text_field("{\"error\":{}}", "id").is_err());
    }
}
