//! Sessions as a whole: who has tasks, who hosts, and how one ends.

use std::fs;
use std::path::PathBuf;

use mw_model::signal::SIGTERM;
use mw_model::wire::Operation;
use mw_model::{Event, Lifetime, TaskId, TaskState};

use crate::disk::platform;
use crate::disk::session_dir::lease;
use crate::disk::store::{Change, Filter, SessionInfo};
use crate::disk::task_dir::control::Line;
use crate::error::Result;
use crate::launch::hand_over;
use crate::live::Live;
use crate::live::kill::{KillRequest, Kills};
use crate::notify::host::Host;
use crate::queue::Queue;
use crate::read::Tasks;
use crate::request::check_session_name;
use crate::retain::Retention;
use crate::retain::clear::ClearReport;
use crate::session::Sessions;
use crate::settle::Settler;
use crate::task::{Scope, Task};

/// What tasks get at the end of a session between SIGTERM and SIGKILL, all at the same time.
const END_GRACE_MS: u64 = 3000;

impl Sessions<'_> {
    /// Tells without the database whether a session may have tasks: one that nobody ever used has left no trace.
    #[must_use]
    pub fn knows_session(&self, session: &str) -> bool {
        self.base.home.session(session).path().exists()
    }

    /// Tells whether a host holds a session: its tasks end with that.
    #[must_use]
    pub fn is_hosted(&self, session: &str) -> bool {
        Queue::on(self.base).held(session).hosts
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
        let directories = fs::read_dir(self.base.home.sessions()).into_iter().flatten().flatten();
        let beside: Vec<_> = directories.map(|entry| entry.path()).filter(is_beside).collect();
        if beside.is_empty() {
            return Ok(Vec::new());
        }
        let hosted = |session: &SessionInfo| {
            beside.iter().any(|path| path == self.base.home.session(&session.id).path())
        };
        Ok(self.list()?.into_iter().filter(hosted).map(|session| session.id).collect())
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
    pub fn list(&self) -> Result<Vec<SessionInfo>> {
        Settler::on(self.base).reconcile()?;
        let mut sessions = self.base.store()?.sessions()?;
        for session in &mut sessions {
            session.hosts = lease::count_hosts(self.base.home.session(&session.id).path());
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
            lifetimes.contains(&task.lifetime)
                && (task.survivors > 0 || !matches!(task.state, TaskState::Ended { .. }))
        };
        Settler::on(self.base).reconcile()?;
        // Waiting ones first, so that none starts in the slot of another.
        let mut tasks: Vec<_> = self.base.store()?.tasks_of(session)?.into_iter().filter(ends).collect();
        tasks.sort_by_key(|task| !matches!(task.state, TaskState::Pending { .. }));
        let mut ids: Vec<_> = tasks.into_iter().map(|task| task.id).collect();
        ids.extend(Live::on(self.base).agents_kept_in(session, lifetimes)?);
        let request = KillRequest { by: by.to_owned(), signal: SIGTERM, grace_ms: Some(END_GRACE_MS) };
        let kills = Live::on(self.base).kill_all(&ids, &request);
        Settler::on(self.base).reconcile()?;
        Ok(kills)
    }

    /// Ends a session and removes its tasks, their files and its messages. Detached tasks that run are kept, and
    /// with them the session.
    ///
    /// # Errors
    /// As [`Sessions::end_session`](crate::engine::Sessions::end_session).
    pub fn delete_session(&self, session: &str, by: &str) -> Result<ClearReport> {
        check_session_name(session)?;
        // What could not be ended is kept below, with the reason.
        let _ = self.end_session(session, by)?;
        let filter = Filter { limit: u32::MAX, ..Filter::new(Scope::Session(session.to_owned())) };
        let ids: Vec<_> = Tasks::on(self.base).list(&filter)?.tasks.into_iter().map(|task| task.id).collect();
        let report = Retention::on(self.base).clear(&ids, None)?;
        // A process that holds the session keeps its lease and its policy there.
        let is_held = !lease::holders(self.base.home.session(session).path()).is_empty();
        if report.kept.is_empty() && !is_held {
            self.base.transact(|transaction| Ok(transaction.forget_session(session)?))?;
            let _ = fs::remove_dir_all(self.base.home.session(session).path());
        }
        Ok(report)
    }

    /// Passes what is unfinished in one session on to another: tasks that are not over, and news that was not told. What
    /// the owner knew already stays known. Returns the tasks.
    ///
    /// # Errors
    /// When the database fails, or a task's files cannot be written.
    pub fn reassign(&self, from: &str, to: &str, reason: &str) -> Result<Vec<TaskId>> {
        check_session_name(to)?;
        Settler::on(self.base).reconcile()?;
        let now = self.base.clock.now();
        let mut before = Vec::new();
        let reassigned = self.base.transact(|transaction| {
            let mut tasks = transaction.unfinished_of(from)?;
            for task in &mut tasks {
                before.push(task.clone());
                let promised = self.base.home.session(to).take_number(|| Ok(transaction.last_number(to)?))?;
                to.clone_into(&mut task.session);
                task.number = transaction.take_number(to, promised)?;
                // In a context it is unique wherever it goes.
                if task.context.is_none() && task.handle_number.is_some() {
                    let last = || Ok(transaction.last_handle_number(to, None)?);
                    task.handle_number = Some(self.base.home.session(to).take_handle_number(None, last)?);
                }
                transaction.set_owner(task)?;
                let event =
                    Event::Reassigned { from: from.to_owned(), to: to.to_owned(), reason: reason.to_owned() };
                transaction.apply(task, &event, now, Change::default())?;
                // Before the commit: a database that is rebuilt finds the owner in the directory.
                self.base.home.rename_task(task, self.base.settings.session_grace_ms, now)?;
            }
            Ok(tasks)
        });
        if reassigned.is_err() {
            for task in &before {
                let _ = self.base.home.rename_task(task, self.base.settings.session_grace_ms, now);
            }
        }
        let tasks = reassigned?;
        for task in tasks.iter().filter(|task| task.state.holds_slot()) {
            // One that was started only just now does not listen yet.
            let line = Line::connect_patiently(&self.base.home, &task.id);
            if let (Ok(spec), Ok(mut line)) = (self.base.home.task(&task.id).spec(), line) {
                let session = hand_over::session_watch(&self.base.settings, &spec);
                let _ = line.ask(Operation::BelongTo { session });
            }
        }
        self.base.ring();
        Ok(tasks.into_iter().map(|task| task.id).collect())
    }
}

impl Host<'_> {
    /// Ends the session's tasks because its host is about to exit. Tasks with [`Lifetime::Kept`] keep running.
    ///
    /// # Errors
    /// As [`Sessions::end_session`](crate::engine::Sessions::end_session).
    pub fn end_tasks(&self, by: &str) -> Result<Kills> {
        Sessions::on(self.base).end_tasks_of(&self.session, by, &[Lifetime::Session, Lifetime::Client])
    }
}
