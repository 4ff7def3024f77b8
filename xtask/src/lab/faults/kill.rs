//! Processes that are killed.

use crate::lab::actions::Book;
use crate::lab::processes::{Process, Role};
use crate::lab::random::Random;
use crate::lab::signals;

/// Kills one process that plays a part.
pub(super) fn one(found: &[Process], book: &Book, role: Role, random: &mut Random) {
    let candidates: Vec<&Process> = found.iter().filter(|process| process.role == role).collect();
    let Some(process) = random.pick(&candidates) else { return };
    note(book, found, process, 1);
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
    note(book, found, chosen, pids.len() as u64);
    let hit = signals::send("KILL", &pids);
    book.log(&format!("KILL both {pids:?} {:?} hit {hit}", chosen.task));
    book.count("kill supervisor and guardian", hit);
}

fn note(book: &Book, found: &[Process], process: &Process, number: u64) {
    let mut actions = book.actions();
    actions.killed.insert(process.pid);
    // A guardian enters the directory of its task later than the supervisor that it has forked.
    let children = || found.iter().filter(|other| other.parent == process.pid);
    let task = match &process.task {
        Some(task) => Some(task.clone()),
        None if process.role != Role::Guardian => return,
        None => {
            let known = actions.tasks_of_guardians.get(&process.pid).cloned();
            known.or_else(|| children().find_map(|child| child.task.clone()))
        }
    };
    match task {
        Some(task) => {
            actions.tasks_of_guardians.insert(process.parent, task.clone());
            let earlier = u64::from(actions.without_guardian.remove(&process.pid));
            *actions.supervisor_kills.entry(task).or_default() += number + earlier;
        }
        None => actions.without_guardian.extend(children().map(|child| child.pid)),
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
