//! Sessions as a whole: which have tasks, which have hosts, and how one ends.

use mw_model::signal::SIGTERM;
use mw_model::wire::Operation;
use mw_model::{Event, Lifetime, TaskId, TaskState};

use crate::disk::session_dir::lease;
use crate::disk::store::{Change, SessionInfo, TaskFilter};
use crate::error::Result;
use crate::launch::message;
use crate::live::Live;
use crate::live::kill::{KillReport, KillRequest};
use crate::notify::session_holder::SessionHolder;
use crate::queue::Queue;
use crate::read::Tasks;
use crate::reconcile::Reconciler;
use crate::request::check_session_name;
use crate::retain::Retention;
use crate::retain::clear::ClearReport;
use crate::session::Sessions;
use crate::supervisor::control::Connection;
use crate::task::{Scope, Task};

/// The time between SIGTERM and SIGKILL at the end of a session, for all its tasks together.
const END_GRACE_MS: u64 = 3000;

impl Sessions<'_> {
    /// Returns, without the database, whether a session may have tasks. A session that was never used has no
    /// directory.
    #[must_use]
    pub fn knows_session(&self, session: &str) -> bool {
        self.base.home.session(session).path().exists()
    }

    /// Returns whether a host holds a session. Its tasks end when no host is left.
    #[must_use]
    pub fn is_hosted(&self, session: &str) -> bool {
        Queue::on(self.base).held(session).hosts
    }

    /// Lists the sessions that have tasks.
    ///
    /// # Errors
    /// When the database fails.
    pub fn list(&self) -> Result<Vec<SessionInfo>> {
        Reconciler::on(self.base).reconcile()?;
        let mut sessions = self.base.database.store()?.sessions()?;
        for session in &mut sessions {
            session.hosts = lease::count_hosts(self.base.home.session(&session.id).path());
        }
        Ok(sessions)
    }

    /// Ends a session: its tasks get SIGTERM together, and SIGKILL after one common grace period. Detached tasks keep
    /// running. Returns when all other tasks are dead and all their output is in their logs. Tasks for which this is
    /// not certain are reported.
    ///
    /// # Errors
    /// When the database fails.
    pub fn end_session(&self, session: &str, by: &str) -> Result<KillReport> {
        self.end_tasks_of(session, by, &[Lifetime::Session, Lifetime::Client, Lifetime::Kept])
    }

    /// Ends the tasks of a session that have one of these lifetimes.
    pub(crate) fn end_tasks_of(&self, session: &str, by: &str, lifetimes: &[Lifetime]) -> Result<KillReport> {
        let ends = |task: &Task| {
            lifetimes.contains(&task.lifetime)
                && (task.survivors > 0 || !matches!(task.state, TaskState::Ended { .. }))
        };
        Reconciler::on(self.base).reconcile()?;
        // Queued tasks first, so that none of them starts in a slot that another one frees.
        let mut tasks: Vec<_> =
            self.base.database.store()?.tasks_of(session)?.into_iter().filter(ends).collect();
        tasks.sort_by_key(|task| !matches!(task.state, TaskState::Pending { .. }));
        let mut ids: Vec<_> = tasks.into_iter().map(|task| task.id).collect();
        ids.extend(Live::on(self.base).agents_kept_in(session, lifetimes)?);
        let request = KillRequest { by: by.to_owned(), signal: SIGTERM, grace_ms: Some(END_GRACE_MS) };
        let kills = Live::on(self.base).kill_all(&ids, &request);
        Reconciler::on(self.base).reconcile()?;
        Ok(kills)
    }

    /// Ends a session and removes its tasks, their files and its messages. Running detached tasks are kept, and the
    /// session with them.
    ///
    /// # Errors
    /// As [`Sessions::end_session`](crate::engine::Sessions::end_session).
    pub fn delete_session(&self, session: &str, by: &str) -> Result<ClearReport> {
        check_session_name(session)?;
        // Tasks that could not be ended are kept below, with the reason.
        let _ = self.end_session(session, by)?;
        let filter = TaskFilter { limit: u32::MAX, ..TaskFilter::new(Scope::Session(session.to_owned())) };
        let ids: Vec<_> = Tasks::on(self.base).list(&filter)?.tasks.into_iter().map(|task| task.id).collect();
        let report = Retention::on(self.base).clear(&ids, None)?;
        // A process that holds the session keeps its lease and its policy there.
        let is_held = !lease::holders(self.base.home.session(session).path()).is_empty();
        if report.kept.is_empty() && !is_held {
            Retention::on(self.base).remove_session(session)?;
        }
        Ok(report)
    }

    /// Moves everything unfinished from one session to another: tasks that have not ended, and notifications that were
    /// not delivered. Notifications that the owner has received are not delivered again. Live tasks keep their slots and
    /// their ids, and get numbers of the new session. Returns the tasks.
    ///
    /// # Errors
    /// When the database fails, or a task's files cannot be written.
    pub fn reassign(&self, from: &str, to: &str, reason: &str) -> Result<Vec<TaskId>> {
        check_session_name(to)?;
        Reconciler::on(self.base).reconcile()?;
        let now = self.base.clock.now();
        let mut before = Vec::new();
        let reassigned = self.base.database.transact(|transaction| {
            let mut tasks = transaction.unfinished_of(from)?;
            for task in &mut tasks {
                let given = self.base.home.session(to).take_number(|| Ok(transaction.last_number(to)?))?;
                to.clone_into(&mut task.session);
                task.number = transaction.take_number(to, given)?;
                // In a context, a handle is unique in every session.
                if task.context.is_none() && task.handle_number.is_some() {
                    let last = || Ok(transaction.last_handle_number(to, None)?);
                    task.handle_number = Some(self.base.home.session(to).take_handle_number(None, last)?);
                }
                transaction.set_owner(task)?;
                let event =
                    Event::Reassigned { from: from.to_owned(), to: to.to_owned(), reason: reason.to_owned() };
                self.base.database.record_event(transaction, task, &event, now, Change::default())?;
                // Before the commit, because a rebuilt database reads the owner from the directory.
                before.push(self.base.home.store_owner(task, self.base.settings.session_grace_ms())?);
            }
            Ok(tasks)
        });
        if reassigned.is_err() {
            for spec in &before {
                let _ = self.base.home.task(&spec.id).replace_spec(spec);
            }
        }
        let tasks = reassigned?;
        for task in tasks.iter().filter(|task| task.state.holds_slot()) {
            // A task that was started just now does not listen yet.
            let connection = Connection::connect_patiently(&self.base.home, &task.id);
            if let (Ok(spec), Ok(mut connection)) = (self.base.home.task(&task.id).spec(), connection) {
                let session = message::session_watch(&self.base.settings, &spec);
                let _ = connection.ask(Operation::BelongTo { session });
            }
        }
        self.base.database.announce();
        Ok(tasks.into_iter().map(|task| task.id).collect())
    }
}

impl SessionHolder<'_> {
    /// Ends the session's tasks because its host is about to exit. Tasks with [`Lifetime::Kept`] keep running.
    ///
    /// # Errors
    /// As [`Sessions::end_session`](crate::engine::Sessions::end_session).
    pub fn end_tasks(&self, by: &str) -> Result<KillReport> {
        Sessions::on(self.base).end_tasks_of(&self.session, by, &[Lifetime::Session, Lifetime::Client])
    }
}
