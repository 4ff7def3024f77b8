//! Checks a task's readiness condition, in a helper process that the supervisor runs next to its task.
//!
//! ```text
//! supervisor ──starts──▶ mw settle --ready ID ──asks: has the log grown? who is in the tree?──▶ supervisor
//!                                   └── finds a line or a port ──says: ready──▶ supervisor ──▶ journal
//! ```
//!
//! Everything goes over one connection. The helper exits when the connection breaks: its supervisor is dead, and the
//! next supervisor starts its own helper, which searches the log from the beginning.

use std::time::{Duration, Instant};

use mw_model::wire::{ControlReply, Operation};
use mw_model::{ReadyWhen, TaskId};

use super::ports::ports_of;
use crate::database::on_disk;
use crate::disk::platform;
use crate::error::{Error, Result};
use crate::live::Live;
use crate::read::output::{LineSearch, compile};
use crate::supervisor::control::Connection;
use crate::task::Task;

/// The first interval between two looks at ports, because the kernel does not report when one opens. Later intervals
/// are this fraction of the time that has passed, up to a limit.
const PORT_INTERVAL: Duration = Duration::from_millis(25);
const LONGEST_PORT_INTERVAL: Duration = Duration::from_millis(500);
const PART_OF_TIME: u32 = 20;

/// Refuses conditions that can never become true.
pub(crate) fn check(ready: &ReadyWhen) -> Result<()> {
    match ready {
        ReadyWhen::Line(pattern) => compile(pattern).map(|_| ()),
        ReadyWhen::Port(0) => Err(Error::invalid("0 is not a port", "use a port from 1 to 65535, or any")),
        ReadyWhen::Port(_) | ReadyWhen::AnyPort => Ok(()),
    }
}

impl Live<'_> {
    /// Checks a task's readiness condition and reports to its supervisor. Returns when that is done, or when the task
    /// or its supervisor has ended.
    ///
    /// # Errors
    /// When the task is damaged, its log cannot be read, or the supervisor refuses the report.
    pub fn watch_readiness(&self, id: &TaskId) -> Result<()> {
        let Some(ready) = self.base.home.task(id).spec()?.ready else { return Ok(()) };
        let (Ok(mut connection), Some(task)) =
            (Connection::connect(&self.base.home, id), on_disk::running_task(&self.base.home, id)?)
        else {
            return Ok(());
        };
        let found = match ready {
            ReadyWhen::Line(pattern) => self.find_line(&mut connection, &task, &pattern)?,
            ReadyWhen::Port(port) => find_port(&mut connection, Some(port)),
            ReadyWhen::AnyPort => find_port(&mut connection, None),
        };
        let Some(what) = found else { return Ok(()) };
        match connection.ask(Operation::Ready { what }) {
            Ok(ControlReply::Refused { message }) => Err(Error::Refused { id: id.clone(), message }),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Searches all output so far, and again whenever there is more.
    fn find_line(&self, connection: &mut Connection, task: &Task, pattern: &str) -> Result<Option<String>> {
        let pattern = compile(pattern)?;
        let mut search = LineSearch::default();
        loop {
            if let Some(found) = search.go_on(self.base, task, &pattern)? {
                return Ok(Some(found));
            }
            let asked = connection.ask(Operation::Watch { offset: search.known_end, after_end: false });
            match asked {
                Ok(ControlReply::Grown { ended: false, .. }) => {}
                Ok(_) | Err(_) => return Ok(None),
            }
        }
    }
}

/// Polls the ports that the task's processes listen on.
fn find_port(connection: &mut Connection, wanted: Option<u16>) -> Option<String> {
    let begun = Instant::now();
    loop {
        let Ok(ControlReply::Status { pids, leader_alive: true, .. }) = connection.ask(Operation::Status)
        else {
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
        // The supervisor sends nothing unasked, so the connection is readable only when the supervisor is gone.
        let pause = (begun.elapsed() / PART_OF_TIME).clamp(PORT_INTERVAL, LONGEST_PORT_INTERVAL);
        if platform::is_readable_within(connection, pause) {
            return None;
        }
    }
}
