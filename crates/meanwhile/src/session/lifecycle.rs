//! Sessions as a whole: who has tasks, who hosts, and how one ends.

use std::fs;
use std::path::PathBuf;

use mw_model::wire::Operation;
use mw_model::{Event, Lifetime, TaskId, TaskState};
use serde::Serialize;

use super::lease;
use crate::disk::platform;
use crate::disk::store::{Change, Filter};
use crate::error::Result;
use crate::launch::hand_over;
use crate::live::control::Line;
use crate::live::kill::{KillRequest, Kills};
use crate::retain::clear::ClearReport;
use crate::runtime::Runtime;
use crate::task::{Scope, Task};

const SIGTERM: i32 = 15;
/// What tasks get at the end of a session between SIGTERM and SIGKILL, all at the same time.
const END_GRACE_MS: u64 = 3000;

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionInfo {
    /// Its name.
    pub id: String,
    /// Tasks that run or wait.
    pub live: u64,
    /// All its tasks.
    pub tasks: u64,
    /// Notices that nobody has acknowledged.
    pub notices: u64,
    /// Hosts that live.
    pub hosts: usize,
}

impl Runtime {
    /// Tells without the database whether a session may have tasks: one that nobody ever used has left no trace.
    #[must_use]
    pub fn knows_session(&self, session: &str) -> bool {
        self.home.session(session).path().exists()
    }

    /// Returns the sessions with tasks that are hosted or told their news by a process which the same program
    /// started as this one: what an agent's server and its hooks have in common, whatever else has changed
    /// between the two.
    ///
    /// # Errors
    /// When the database fails. It is not opened while there is nobody.
    pub fn served_beside(&self, pid: u32) -> Result<Vec<String>> {
        let Some(starter) = platform::starter_of(pid) else { return Ok(Vec::new()) };
        let is_beside = |directory: &PathBuf| {
            lease::holders(directory).into_iter().any(|(_, host)| platform::starter_of(host) == Some(starter))
        };
        let directories = fs::read_dir(self.home.sessions()).into_iter().flatten().flatten();
        let beside: Vec<_> = directories.map(|entry| entry.path()).filter(is_beside).collect();
        if beside.is_empty() {
            return Ok(Vec::new());
        }
        let hosted =
            |session: &SessionInfo| beside.iter().any(|path| path == self.home.session(&session.id).path());
        Ok(self.sessions()?.into_iter().filter(hosted).map(|session| session.id).collect())
    }

    /// Returns the program that started a process, past any shells; nothing where that cannot be seen.
    #[must_use]
    pub fn program_above(&self, pid: u32) -> Option<u32> {
        platform::starter_of(pid)
    }

    /// Lists the sessions that have tasks.
    ///
    /// # Errors
    /// When the database fails.
    pub fn sessions(&self) -> Result<Vec<SessionInfo>> {
        self.reconcile()?;
        let mut sessions = self.store()?.sessions()?;
        for session in &mut sessions {
            session.hosts = lease::count_hosts(self.home.session(&session.id).path());
        }
        Ok(sessions)
    }

    /// Ends a session: its tasks get SIGTERM together and SIGKILL after one common time. Detached tasks live on.
    /// Returns when all the others are dead and everything they printed is in their logs; those of which that is not known
    /// are named.
    ///
    /// # Errors
    /// When the database fails.
    pub fn end_session(&self, session: &str, by: &str) -> Result<Kills> {
        self.end_tasks_of(session, by, &[Lifetime::Session, Lifetime::Client, Lifetime::Kept])
    }

    /// Ends those tasks of a session that live so.
    pub(crate) fn end_tasks_of(&self, session: &str, by: &str, lifetimes: &[Lifetime]) -> Result<Kills> {
        let ends = |task: &Task| {
            lifetimes.iter().any(|lifetime| lifetime.word() == task.lifetime)
                && (task.survivors > 0 || !matches!(task.state, TaskState::Ended { .. }))
        };
        self.reconcile()?;
        // Waiting ones first, so that none starts in the slot of another.
        let mut tasks: Vec<_> =
            self.store()?.tasks_of(session, &self.home.tasks())?.into_iter().filter(ends).collect();
        tasks.sort_by_key(|task| !matches!(task.state, TaskState::Pending { .. }));
        let mut ids: Vec<_> = tasks.into_iter().map(|task| task.id).collect();
        ids.extend(self.agents_kept_in(session, lifetimes)?);
        let request = KillRequest { by: by.to_owned(), signal: SIGTERM, grace_ms: Some(END_GRACE_MS) };
        let kills = self.kill_all(&ids, &request);
        self.reconcile()?;
        Ok(kills)
    }

    /// Ends a session and removes its tasks, their files and its messages. Detached tasks that run are kept, and
    /// with them the session.
    ///
    /// # Errors
    /// As [`Runtime::end_session`].
    pub fn delete_session(&self, session: &str, by: &str) -> Result<ClearReport> {
        // What could not be ended is kept below, with the reason.
        let _ = self.end_session(session, by)?;
        let filter = Filter { limit: u32::MAX, ..Filter::new(Scope::Session(session.to_owned())) };
        let ids: Vec<_> = self.list(&filter)?.tasks.into_iter().map(|task| task.id).collect();
        let report = self.clear(&ids, None)?;
        if report.kept.is_empty() {
            self.transact(|transaction| Ok(transaction.forget_session(session)?))?;
            let _ = fs::remove_dir_all(self.home.session(session).path());
        }
        Ok(report)
    }

    /// Passes what is unfinished in one session on to another: tasks that are not over, and news that was not told. What
    /// the owner knew already stays known. Returns the tasks.
    ///
    /// # Errors
    /// When the database fails, or a task's files cannot be written.
    pub fn reassign(&self, from: &str, to: &str, reason: &str) -> Result<Vec<TaskId>> {
        self.reconcile()?;
        let now = self.clock.now();
        let mut before = Vec::new();
        let reassigned = self.transact(|transaction| {
            let mut tasks = transaction.unfinished_of(from)?;
            for task in &mut tasks {
                before.push(task.clone());
                let promised = self.home.session(to).take_number(|| Ok(transaction.last_number(to)?))?;
                to.clone_into(&mut task.session);
                task.number = transaction.take_number(to, promised)?;
                // In a context it is unique wherever it goes.
                if task.context.is_none() && task.handle_number.is_some() {
                    let last = || Ok(transaction.last_handle_number(to, None)?);
                    task.handle_number = Some(self.home.session(to).take_handle_number(None, last)?);
                }
                transaction.set_owner(task)?;
                let event =
                    Event::Reassigned { from: from.to_owned(), to: to.to_owned(), reason: reason.to_owned() };
                transaction.apply(task, &event, now, Change::default())?;
                // Before the commit: a database that is rebuilt finds the owner in the directory.
                self.home.rename_task(task, self.settings.session_grace_ms, now)?;
            }
            Ok(tasks)
        });
        if reassigned.is_err() {
            for task in &before {
                let _ = self.home.rename_task(task, self.settings.session_grace_ms, now);
            }
        }
        let tasks = reassigned?;
        for task in tasks.iter().filter(|task| task.state.process().is_some()) {
            // One that was started only just now does not listen yet.
            let line = Line::connect_patiently(&self.home, &task.id);
            if let (Ok(spec), Ok(mut line)) = (self.home.spec(&task.id), line) {
                let session = hand_over::session_watch(&self.settings, &spec);
                let _ = line.ask(Operation::BelongTo { session });
            }
        }
        self.ring();
        Ok(tasks.into_iter().map(|task| task.id).collect())
    }

    /// Tells a session's running tasks that who holds it has changed.
    pub(crate) fn announce_holders(&self, session: &str) -> Result<()> {
        for task in self.store()?.tasks_of(session, &self.home.tasks())? {
            if let (true, Ok(mut line)) =
                (task.state.process().is_some(), Line::connect(&self.home, &task.id))
            {
                // One that cannot be reached is just starting or ending, and looks by itself.
                let _ = line.ask(Operation::LookForHosts);
            }
        }
        Ok(())
    }
}
