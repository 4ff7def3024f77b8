//! Processes that are killed.

use crate::lab::actions::Book;
use crate::lab::processes::{Process, Role};
use crate::lab::random::Random;
use crate::lab::signals;

/// Kills one process that plays a part.
pub(super) fn one(found: &[Process], book: &Book, role: Role, random: &mut Random) {
    let candidates: Vec<&Process> = found.iter().filter(|process| process.role == role).collect();
    let Some(process) = random.pick(&candidates) else { return };
    note(book, process, 1);
    let hit = signals::send("KILL", &[process.pid]);
    book.log(&format!("KILL {role:?} {} {:?} hit {hit}", process.pid, process.task));
    book.count(class(role), hit);
}

/// Kills the supervisor and the guardian of a task with one call.
pub(super) fn both(found: &[Process], book: &Book, random: &mut Random) {
    let supervisors: Vec<&Process> =
        found.iter().filter(|process| process.role == Role::Supervisor).collect();
    let Some(chosen) = random.pick(&supervisors) else { return };
    let is_one = |process: &&Process| {
        process.task == chosen.task && matches!(process.role, Role::Supervisor | Role::Guardian)
    };
    let pair: Vec<&Process> = found.iter().filter(is_one).collect();
    let pids: Vec<u32> = pair.iter().map(|process| process.pid).collect();
    note(book, chosen, pids.len() as u64);
    let hit = signals::send("KILL", &pids);
    book.log(&format!("KILL both {pids:?} {:?} hit {hit}", chosen.task));
    book.count("kill supervisor and guardian", hit);
}

fn note(book: &Book, process: &Process, number: u64) {
    book.actions().killed.insert(process.pid);
    if let Some(task) = &process.task {
        *book.actions().supervisor_kills.entry(task.clone()).or_default() += number;
    }
}

fn class(role: Role) -> &'static str {
    match role {
        Role::Client => "kill client",
        Role::Supervisor => "kill supervisor",
        Role::Guardian => "kill guardian",
        Role::Settle => "kill settle",
        Role::Helper => "kill readiness helper",
        Role::ForkServer => "kill fork server",
        Role::Host => "kill host",
        Role::Mcp => "kill MCP server",
        Role::Web => "kill web server",
        Role::Driver => "kill driver",
        Role::Task => "kill task",
    }
}
