//! Slots: permission to run, as locked files.
//!
//! Each session has files `slot-0`, `slot-1`, … in its directory; the home has its own for the limit over all
//! sessions, and for the tasks of a group. A starter locks a free one and passes the descriptor to the task's supervisor, which releases it when
//! the task is over. The kernel releases the locks of killed processes, so the count is always right, and no two
//! starters can have the same slot.
//!
//! A task whose supervisors were killed may still run. So a slot records whether its last holder gave it back:
//! a slot that was not given back is used only after a check of the tasks that hold slots.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use mw_model::wire::SLOT_HELD;
use mw_model::{QueueLimits, SlotGroup, TaskKind};

use super::file_lock::{is_taken, open_below};
use super::optional_file::present;

/// The kind of slots. Agents have their own, because they mostly wait for other tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pool {
    Commands,
    Agents,
}

impl Pool {
    pub(crate) const ALL: [Self; 2] = [Self::Commands, Self::Agents];

    pub(crate) const fn of(kind: TaskKind) -> Self {
        match kind {
            TaskKind::Agent => Self::Agents,
            TaskKind::Shell | TaskKind::Remote => Self::Commands,
        }
    }

    /// Returns how many of a session's tasks may run at a time.
    pub(crate) const fn limit(self, limits: &QueueLimits) -> u32 {
        match self {
            Self::Commands => limits.max_running,
            Self::Agents => limits.max_agents,
        }
    }

    const fn prefix(self) -> &'static str {
        match self {
            Self::Commands => "slot",
            Self::Agents => "agent-slot",
        }
    }
}

/// The slots of one task: its session's, and the home's if the home has a limit.
#[derive(Debug)]
pub(crate) struct Slots {
    files: Vec<File>,
    /// Whether a supervisor has them too and will release them.
    passed_on: Cell<bool>,
}

impl Drop for Slots {
    fn drop(&mut self) {
        // Closing the files is not enough: a process that another thread has just forked also has them open.
        if !self.passed_on.get() {
            self.files.iter().for_each(|file| _ = file.unlock());
        }
    }
}

impl Slots {
    /// Takes the slots that a task needs; `None` if a limit is reached.
    pub(crate) fn take(
        session: &Path,
        home: &Path,
        limits: &QueueLimits,
        pool: Pool,
    ) -> io::Result<Option<Self>> {
        let Some(own) = take_one(session, pool.limit(limits), pool.prefix())? else { return Ok(None) };
        let mut slots = Self { files: vec![own], passed_on: Cell::new(false) };
        if limits.max_running_total > 0 {
            let Some(common) = take_one(home, limits.max_running_total, Pool::Commands.prefix())? else {
                return Ok(None);
            };
            slots.files.push(common);
        }
        if let Some(SlotGroup { name, max }) = &limits.group {
            let Some(of_group) = take_one(home, *max, &format!("group-{name}"))? else { return Ok(None) };
            slots.files.push(of_group);
        }
        Ok(Some(slots))
    }

    /// Returns no slots, for a task that is not counted.
    pub(crate) const fn none() -> Self {
        Self { files: Vec::new(), passed_on: Cell::new(false) }
    }

    /// Returns the descriptors to pass on, and marks the slots as held. On a full disk the mark is missing, and only
    /// the lock shows it.
    pub(crate) fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.passed_on.set(true);
        for file in &self.files {
            let _ = file.write_all_at(&[SLOT_HELD], 0);
        }
        self.files.iter().map(AsFd::as_fd).collect()
    }

    /// Returns whether the last holders gave all of them back.
    pub(crate) fn were_given_back(&self) -> bool {
        self.files.iter().all(|file| {
            let mut mark = [0];
            file.read_at(&mut mark, 0).is_ok_and(|_| mark != [SLOT_HELD])
        })
    }
}

fn slot(directory: &Path, number: u32, prefix: &str) -> PathBuf {
    directory.join(format!("{prefix}-{number}"))
}

fn take_one(directory: &Path, limit: u32, prefix: &str) -> io::Result<Option<File>> {
    let mut taken = None;
    let mut held = held_beyond(directory, limit, prefix)?;
    let crowded = held > 0;
    for number in 0..limit {
        let file = open_below(directory, &slot(directory, number, prefix), OpenOptions::new().read(true))?;
        match is_taken(file.try_lock())? {
            true if taken.is_none() && !crowded => return Ok(Some(file)),
            true if taken.is_none() => taken = Some(file),
            true => file.unlock()?,
            false => held += 1,
        }
    }
    if held >= limit
        && let Some(file) = taken.take()
    {
        file.unlock()?;
    }
    Ok(taken)
}

/// Counts tasks that were started when the limit was higher.
fn held_beyond(directory: &Path, limit: u32, prefix: &str) -> io::Result<u32> {
    let mut held = 0;
    for number in limit.. {
        // Slots are used in order, so the first missing file is the end.
        let Some(file) = present(File::open(slot(directory, number, prefix)))? else { break };
        match is_taken(file.try_lock())? {
            true => file.unlock()?,
            false => held += 1,
        }
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use mw_model::wire::SLOT_FREE;

    use super::*;

    const fn limits(max_running: u32, max_running_total: u32) -> QueueLimits {
        QueueLimits { max_running, max_agents: 1, max_running_total, group: None }
    }

    #[test]
    fn no_more_slots_than_the_limit_are_given_and_a_dropped_slot_is_free() {
        let dir = tempfile::tempdir().unwrap();
        let (session, home) = (dir.path().join("s"), dir.path().join("h"));
        let take = |limits| Slots::take(&session, &home, &limits, Pool::Commands).unwrap();
        let first = take(limits(2, 0)).unwrap();
        let second = take(limits(2, 0)).unwrap();
        assert!(take(limits(2, 0)).is_none());
        drop(first);
        let third = take(limits(2, 0)).unwrap();
        assert!(take(limits(2, 0)).is_none());
        drop((second, third));
    }

    #[test]
    fn a_group_is_shared_by_all_sessions() {
        let dir = tempfile::tempdir().unwrap();
        let of = |group: &str| QueueLimits { group: SlotGroup::parse(group), ..limits(9, 0) };
        let take = |session: &str, group: &str| {
            Slots::take(&dir.path().join(session), dir.path(), &of(group), Pool::Commands).unwrap()
        };
        let first = take("s", "gpu=1").unwrap();
        assert!(take("t", "gpu=1").is_none());
        assert!(take("t", "disk=1").is_some(), "another group has slots of its own");
        assert!(take("t", "gpu=2").is_some(), "the limit of the latest start applies");
        drop(first);
        assert!(take("t", "gpu=1").is_some());
    }

    #[test]
    fn agents_and_commands_do_not_take_each_others_slots() {
        let dir = tempfile::tempdir().unwrap();
        let take = |pool| Slots::take(dir.path(), dir.path(), &limits(1, 0), pool).unwrap();
        let command = take(Pool::Commands).unwrap();
        let agent = take(Pool::Agents).unwrap();
        assert!(take(Pool::Commands).is_none() && take(Pool::Agents).is_none());
        drop(agent);
        assert!(take(Pool::Agents).is_some());
        drop(command);
    }

    #[test]
    fn a_slot_that_was_passed_on_is_marked_as_held_until_it_is_given_back() {
        let dir = tempfile::tempdir().unwrap();
        let take = || Slots::take(dir.path(), dir.path(), &limits(1, 0), Pool::Commands).unwrap().unwrap();
        assert!(take().were_given_back());
        assert!(take().were_given_back(), "the slot was taken but not passed on");
        assert_eq!(take().descriptors().len(), 1);
        assert!(!take().were_given_back());
        fs::write(slot(dir.path(), 0, Pool::Commands.prefix()), [SLOT_FREE]).unwrap();
        assert!(take().were_given_back());
    }

    #[test]
    fn the_limit_over_all_sessions_applies_to_every_session() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("h");
        let take = |session: &str| {
            Slots::take(&dir.path().join(session), &home, &limits(1, 1), Pool::Commands).unwrap()
        };
        let first = take("a").unwrap();
        let refused = [take("b"), take("b")];
        assert!(refused.iter().all(Option::is_none));
        drop(first);
        assert!(take("b").is_some(), "a refused take holds the only slot of its session");
    }

    #[test]
    fn tasks_started_under_a_higher_limit_count() {
        let dir = tempfile::tempdir().unwrap();
        let take = |limit| Slots::take(dir.path(), dir.path(), &limits(limit, 0), Pool::Commands).unwrap();
        let mut many: Vec<_> = (0..4).map(|_| take(4).unwrap()).collect();
        drop(many.drain(..2));
        assert!(take(2).is_none(), "slots 2 and 3 are held");
        drop(many.pop());
        let low = take(2).unwrap();
        assert!(take(2).is_none(), "slots 0 and 2 are held");
        let other = take(3).unwrap();
        drop(low);
        assert!(take(2).is_none(), "slots 1 and 2 are held");
        drop((many, other));
        assert!(take(2).is_some());
    }
}
