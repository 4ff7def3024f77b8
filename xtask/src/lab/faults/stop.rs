//! Processes that are stopped for a while.

use std::time::{Duration, Instant};

use crate::lab::actions::Book;
use crate::lab::processes::{Process, Role};
use crate::lab::random::Random;
use crate::lab::signals;

/// The stopped processes, and when each continues.
#[derive(Default)]
pub(super) struct Stopped(Vec<(u32, Instant)>);

impl Stopped {
    /// Stops a process that plays a part.
    pub(super) fn stop(&mut self, found: &[Process], book: &Book, role: Role, random: &mut Random) {
        let candidates: Vec<&Process> = found.iter().filter(|process| process.role == role).collect();
        let Some(process) = random.pick(&candidates) else { return };
        let hit = signals::send("STOP", &[process.pid]);
        let long = Duration::from_millis(random.between(30, 1500));
        self.0.push((process.pid, Instant::now() + long));
        book.log(&format!("STOP {role:?} {} {:?} for {long:?} hit {hit}", process.pid, process.task));
        book.count(class(role), hit);
    }

    /// Continues the processes whose time has come.
    pub(super) fn continue_due(&mut self) {
        let now = Instant::now();
        let due: Vec<u32> = self.0.extract_if(.., |(_, end)| *end <= now).map(|(pid, _)| pid).collect();
        due.iter().for_each(|pid| _ = signals::send("CONT", &[*pid]));
    }

    pub(super) fn continue_all(&mut self) {
        self.0.drain(..).for_each(|(pid, _)| _ = signals::send("CONT", &[pid]));
    }
}

fn class(role: Role) -> &'static str {
    match role {
        Role::Client => "stop client",
        Role::Supervisor => "stop supervisor",
        Role::Guardian => "stop guardian",
        Role::Settle => "stop settle",
        Role::Helper => "stop readiness helper",
        Role::ForkServer => "stop fork server",
        Role::Host => "stop host",
        Role::Mcp => "stop MCP server",
        Role::Web => "stop web server",
        Role::Driver => "stop driver",
        Role::Task => "stop task",
    }
}
