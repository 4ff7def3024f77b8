//! Looks for what makes a task ready: the work of a helper that a supervisor runs beside its task.
//!
//! ```text
//! supervisor ──starts──▶ mw settle --ready ID ──asks: has the log grown? who is in the tree?──▶ supervisor
//!                                   └── finds a line or a port ──says: ready──▶ supervisor ──▶ journal
//! ```
//!
//! All goes over one connection. When it breaks, the helper ends: its supervisor is dead, and whoever takes over
//! starts a helper of its own, which looks from the beginning of the log.

use std::time::{Duration, Instant};

use mw_model::wire::{ControlReply, Operation};
use mw_model::{ReadyWhen, TaskId};

use super::ports::ports_of;
use crate::disk::platform;
use crate::disk::task_dir::control::Line;
use crate::error::{Error, Result};
use crate::live::Live;
use crate::read::output::{LineSearch, compile};
use crate::record::on_disk;
use crate::task::Task;

/// How often ports are looked at: no kernel tells when one opens. At first so often, then in steps of this part
/// of the time that has passed, up to a limit.
const PORT_INTERVAL: Duration = Duration::from_millis(25);
const LONGEST_PORT_INTERVAL: Duration = Duration::from_millis(500);
const PART_OF_TIME: u32 = 20;

/// Refuses what can never come true.
pub(crate) fn check(ready: &ReadyWhen) -> Result<()> {
    match ready {
        ReadyWhen::Line(pattern) => compile(pattern).map(|_| ()),
        ReadyWhen::Port(0) => Err(Error::invalid("0 is not a port", "use a port from 1 to 65535, or any")),
        ReadyWhen::Port(_) | ReadyWhen::AnyPort => Ok(()),
    }
}

impl Live<'_> {
    /// Looks for what makes a task ready and tells its supervisor. Returns when that is done, or when it no longer
    /// matters: the task or its supervisor has ended.
    ///
    /// # Errors
    /// When the task is damaged, its log cannot be read, or the supervisor refuses the news.
    pub fn watch_readiness(&self, id: &TaskId) -> Result<()> {
        let Some(ready) = self.base.home.task(id).spec()?.ready else { return Ok(()) };
        let (Ok(mut line), Some(task)) =
            (Line::connect(&self.base.home, id), on_disk::running_task(&self.base.home, id)?)
        else {
            return Ok(());
        };
        let found = match ready {
            ReadyWhen::Line(pattern) => self.find_line(&mut line, &task, &pattern)?,
            ReadyWhen::Port(port) => find_port(&mut line, Some(port)),
            ReadyWhen::AnyPort => find_port(&mut line, None),
        };
        let Some(what) = found else { return Ok(()) };
        match line.ask(Operation::Ready { what }) {
            Ok(ControlReply::Refused { message }) => Err(Error::Refused { id: id.to_string(), message }),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Looks at all output, and again whenever there is more.
    fn find_line(&self, line: &mut Line, task: &Task, pattern: &str) -> Result<Option<String>> {
        let pattern = compile(pattern)?;
        let mut search = LineSearch::default();
        loop {
            if let Some(found) = search.go_on(self.base, task, &pattern)? {
                return Ok(Some(found));
            }
            let asked = line.ask(Operation::Watch { offset: search.known_end, after_end: false });
            match asked {
                Ok(ControlReply::Grown { ended: false, .. }) => {}
                Ok(_) | Err(_) => return Ok(None),
            }
        }
    }
}

/// Looks again and again at what the task's tree listens on.
fn find_port(line: &mut Line, wanted: Option<u16>) -> Option<String> {
    let begun = Instant::now();
    loop {
        let Ok(ControlReply::Status { pids, leader_alive: true, .. }) = line.ask(Operation::Status) else {
            return None;
        };
        let open = ports_of(&pids);
        let found = match wanted {
            Some(port) => open.contains(&port).then_some(port),
            None => open.first().copied(),
        };
        if let Some(port) = found {
            return Some(format!("port {port}"));
        }
        if heard_end(line, (begun.elapsed() / PART_OF_TIME).clamp(PORT_INTERVAL, LONGEST_PORT_INTERVAL)) {
            return None;
        }
    }
}

/// Sleeps for a while, or until the supervisor is gone; it says nothing unasked.
fn heard_end(line: &Line, longest: Duration) -> bool {
    platform::is_readable_within(line, longest)
}
