//! A session that this process holds.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mw_model::{MessageTurn, TaskId};
use mw_policy::{Tool, ToolClass};

use super::TaskEvent;
use super::draft::TaskDraft;
use super::home::Meanwhile;
use super::notices::{Notices, PendingNotice};
use super::task::TaskHandle;
use super::wait::{Until, Wait, Waited};
use crate::approval::{Asker, GatedCall, Policy};
use crate::disk::session_dir::lease::Lease;
use crate::disk::store::TaskFilter;
use crate::error::Result;
use crate::live::kill::KillReport;
use crate::notify::ledger::MAX;
use crate::notify::session_holder::{DeliveryPolicy, SessionHolder};
use crate::request::TaskRequest;
use crate::task::{Scope, Task};

/// The name of a start through the library in policies and approval requests.
const START: Tool = Tool { name: "start", class: ToolClass::Starts };

/// A session that this process holds. Clones and task handles share the hold. It is released when the last of them is
/// dropped, or when the process exits for any reason.
#[derive(Clone)]
pub struct Session {
    home: Meanwhile,
    name: Arc<str>,
    hold: Arc<Hold>,
}

/// The hold on a session. The supervisors of its tasks are informed when it is released.
struct Hold {
    home: Meanwhile,
    session: Arc<str>,
    lease: Arc<Lease>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.lease.give_back();
        // If this fails, the supervisors notice when the process exits.
        let _ = self.home.with(|runtime| runtime.live().announce_holders(&self.session));
    }
}

impl Session {
    pub(super) fn hold(home: Meanwhile, name: &str) -> Result<Self> {
        let lease = home.with(|runtime| {
            let host = runtime.notifications().host(name, DeliveryPolicy::Immediate)?;
            Ok(Arc::clone(&host.lease))
        })?;
        let name: Arc<str> = name.into();
        let hold = Hold { home: home.clone(), session: Arc::clone(&name), lease };
        Ok(Self { home, name, hold: Arc::new(hold) })
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the home it belongs to.
    #[must_use]
    pub fn home(&self) -> &Meanwhile {
        &self.home
    }

    /// Starts a task, or queues it when no slot is free. When this returns, the task is on disk, and its command has been
    /// executed or waits in the queue. A string is a script for `/bin/sh`.
    ///
    /// **No policy is checked and nobody is asked**: the task is recorded as approved by the user. For commands that a
    /// model chose, use [`Session::start_checked`].
    ///
    /// # Errors
    /// When it could never run, or is refused. Then nothing is left of it.
    pub fn start(&self, draft: impl Into<TaskDraft>) -> Result<TaskHandle> {
        let request = draft.into().request(&self.name, self.home.settings())?;
        self.start_request(&request)
    }

    /// Starts a task if the policy allows it. Where the policy requires approval, the asker is called and this waits for
    /// an answer, from the asker or from any other front end (`mw approve`).
    ///
    /// # Errors
    /// As [`Session::start`]; [`Error::Denied`] if the policy forbids it, [`Error::NoConsent`] if a person denies it,
    /// and [`Error::NeedsApproval`] if nobody has answered: the same start is allowed once a person has approved it.
    ///
    /// [`Error::Denied`]: crate::Error::Denied
    /// [`Error::NoConsent`]: crate::Error::NoConsent
    /// [`Error::NeedsApproval`]: crate::Error::NeedsApproval
    pub fn start_checked(
        &self,
        draft: impl Into<TaskDraft>,
        policy: &Policy,
        asker: &dyn Asker,
    ) -> Result<TaskHandle> {
        let draft = draft.into();
        let variables = draft.variables();
        let mut request = draft.request(&self.name, self.home.settings())?;
        let gated_call = GatedCall { tool: START, policy, asker };
        request.approval = self
            .home
            .with(|runtime| runtime.approvals().pass_start(&mut request, &variables, &gated_call))?;
        self.start_request(&request)
    }

    fn start_request(&self, request: &TaskRequest) -> Result<TaskHandle> {
        let started = self.home.with(|runtime| runtime.starts().start(request))?;
        Ok(TaskHandle { session: self.clone(), id: started.task.id })
    }

    /// Finds a task of this session by its id, handle or name.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn task(&self, name: &str) -> Result<TaskHandle> {
        let id = self.home.with(|runtime| runtime.lookup().resolve_exact(name, &self.scope()))?;
        Ok(TaskHandle { session: self.clone(), id })
    }

    /// Lists all its tasks: live ones first, then those that have ended, each newest first. [`Meanwhile::tasks`] returns a
    /// part of a long list.
    ///
    /// # Errors
    /// When the database fails.
    pub fn tasks(&self) -> Result<Vec<Task>> {
        let filter = TaskFilter { limit: u32::MAX, ..TaskFilter::new(self.scope()) };
        Ok(self.home.tasks(&filter)?.tasks)
    }

    /// Waits until the condition is true of one of these tasks, or the time is up. Returns all of them, in the same order.
    ///
    /// # Errors
    /// When the condition is not valid, a task was removed, or the database fails.
    pub fn wait_any<'task>(
        &self,
        tasks: impl IntoIterator<Item = &'task TaskHandle>,
        until: Until,
        timeout: Duration,
    ) -> Result<Vec<Waited>> {
        self.wait_for(tasks, true, until, timeout)
    }

    /// Waits until the condition is true of all these tasks, or the time is up. Returns all of them, in the same order.
    ///
    /// # Errors
    /// As [`Session::wait_any`].
    pub fn wait_all<'task>(
        &self,
        tasks: impl IntoIterator<Item = &'task TaskHandle>,
        until: Until,
        timeout: Duration,
    ) -> Result<Vec<Waited>> {
        self.wait_for(tasks, false, until, timeout)
    }

    fn wait_for<'task>(
        &self,
        tasks: impl IntoIterator<Item = &'task TaskHandle>,
        any: bool,
        until: Until,
        timeout: Duration,
    ) -> Result<Vec<Waited>> {
        let tasks = tasks.into_iter().map(|task| task.id.clone()).collect();
        Wait { home: &self.home, tasks, any, until, timeout }.run(|| true)
    }

    /// Returns what happened to the tasks of the session after an event, oldest first. If nothing has, this waits until
    /// something does; empty when the time is up. Begin with 0 and continue from the last [`TaskEvent::seq`].
    ///
    /// Events are for showing activity. Unlike notifications, they say nothing about what the owner knows.
    ///
    /// # Errors
    /// When the database fails.
    pub fn events_since(&self, seq: i64, timeout: Duration) -> Result<Vec<TaskEvent>> {
        /// A timeout that every clock can add to the current time.
        const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
        let timeout = timeout.min(YEAR);
        self.home.with(|runtime| runtime.notifications().subscribe_after(seq, self.scope())?.next(timeout))
    }

    /// Takes the pending notifications, oldest first. Each is delivered again until it is acknowledged.
    ///
    /// # Errors
    /// When the database fails.
    pub fn notices(&self) -> Result<Notices> {
        self.wait_for_notices(Duration::ZERO)
    }

    /// Takes the pending notifications; waits for the first if there are none. Empty when the time is up.
    ///
    /// # Errors
    /// When the database fails.
    pub fn wait_for_notices(&self, timeout: Duration) -> Result<Notices> {
        Notices::take(self, MAX, timeout, || true)
    }

    /// Takes the oldest notification; waits for it if there is none. `None` when the time is up.
    ///
    /// # Errors
    /// When the database fails.
    pub fn next_notice(&self, timeout: Duration) -> Result<Option<PendingNotice>> {
        Ok(Notices::take(self, 1, timeout, || true)?.next())
    }

    /// Records that the owner knows how the current runs of these tasks end, from a wait for example: their ends
    /// produce no notification.
    ///
    /// # Errors
    /// When the database fails.
    pub fn acknowledge_ends<'task>(&self, tasks: impl IntoIterator<Item = &'task TaskId>) -> Result<()> {
        self.home.with(|runtime| tasks.into_iter().try_for_each(|id| runtime.notifications().note_known(id)))
    }

    /// Creates the next message to the model: the pending notifications, then the text. The message is stored and the
    /// notifications are acknowledged in one transaction, so a host that is killed finds both in
    /// [`Session::messages`], or neither.
    ///
    /// # Errors
    /// When the database fails. Then nothing was stored, and the notifications are delivered again.
    pub fn message(&self, text: &str) -> Result<MessageTurn> {
        self.notices()?.into_message(text)
    }

    /// Returns the messages that were stored in this session, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn messages(&self) -> Result<Vec<MessageTurn>> {
        self.as_host(|host| host.turns())
    }

    /// Ends the tasks of the session, except detached ones: all get SIGTERM, and SIGKILL 3 s later. Returns when they
    /// are dead. Their ends produce notifications for the next host of the session.
    ///
    /// # Errors
    /// When the database fails. Tasks that could not be ended are in the result.
    pub fn end(self) -> Result<KillReport> {
        self.home.with(|runtime| runtime.sessions().end_session(&self.name, "the end of its session"))
    }

    /// Calls the engine as the holder of this session.
    pub(super) fn as_host<T>(&self, work: impl FnOnce(&SessionHolder<'_>) -> Result<T>) -> Result<T> {
        self.home.with(|runtime| {
            let notifications = runtime.notifications();
            work(&notifications.host_with(&self.name, &self.hold.lease, DeliveryPolicy::Immediate))
        })
    }

    pub(super) fn scope(&self) -> Scope {
        Scope::Session(self.name.to_string())
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("name", &self.name).field("home", &self.home).finish_non_exhaustive()
    }
}
