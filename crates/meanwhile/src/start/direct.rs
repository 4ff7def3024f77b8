//! A start without the database: the task has no name that must be unique, follows no other task, and a slot is free.
//!
//! The small `mw` executable starts tasks in this way. Whatever does not fit is left to the engine before anything is
//! changed.

use std::os::unix::net::UnixStream;

use mw_model::{Event, TaskId, next_state};

use super::check::check_command;
use super::write_down::{LastNumbers, NewTask, Numbers};
use crate::base::Directories;
use crate::disk::platform;
use crate::disk::slots::{Pool, Slots};
use crate::disk::store::StoreError;
use crate::disk::task_dir::StartHold;
use crate::disk::wake_up;
use crate::error::{Error, Result};
use crate::request::{Approval, TaskRequest};
use crate::supervisor::SupervisorLink;
use crate::task::Task;

/// The result of a start without the database.
#[derive(Debug)]
pub enum DirectStart {
    /// The task runs.
    Started(Box<Task>),
    /// The supervisor was killed before it answered. The command may run.
    Unanswered(TaskId),
    /// Nothing was started and nothing is left. The engine must start the task, or say why it cannot.
    Undone,
}

/// No counter may be missing, because the last numbers are in the database.
struct Unknown;

impl LastNumbers for Unknown {
    fn number(&self, _: &str) -> Result<u64> {
        Err(Error::Unanswered)
    }

    fn handle_number(&self, _: &str, _: Option<&str>) -> Result<u64> {
        Err(Error::Unanswered)
    }
}

impl Directories {
    /// Returns whether this process may belong to a task, of any home.
    #[must_use]
    pub fn is_below_supervisor() -> bool {
        platform::look_above().any_supervisor
    }

    /// Starts a task of the user with a supervisor that this process has forked; `line` is the connection to it. Inside a task
    /// nothing is started, because the command acts for the session of that task.
    #[must_use]
    pub fn start(&self, request: &TaskRequest, line: UnixStream) -> DirectStart {
        let above = platform::look_above();
        if above.any_supervisor {
            return DirectStart::Undone;
        }
        let supervisor = SupervisorLink::of(line, above.cpu_of_parent);
        match self.prepare(request) {
            Ok(Some((slots, numbers))) => self.start_in_slots(request, &numbers, slots, supervisor),
            Ok(None) | Err(_) => DirectStart::Undone,
        }
    }

    fn has_hooks(&self) -> bool {
        self.settings.hooks.any() || self.settings.hooks.before.is_some()
    }

    fn prepare(&self, request: &TaskRequest) -> Result<Option<(Slots, Numbers)>> {
        let is_plain = request.name.is_none()
            && request.after.is_empty()
            && request.ready.is_none()
            && request.schedule.is_none();
        if !is_plain || !matches!(request.approval, Approval::User) || self.has_hooks() {
            return Ok(None);
        }
        check_command(request, &self.settings.backends)?;
        let Some(slots) = self.free_slots(request)? else { return Ok(None) };
        Ok(Some((slots, self.take_numbers(request, &Unknown)?)))
    }

    fn start_in_slots(
        &self,
        request: &TaskRequest,
        numbers: &Numbers,
        slots: Slots,
        supervisor: SupervisorLink,
    ) -> DirectStart {
        let Ok((new, hold)) = self.new_directory(request) else { return DirectStart::Undone };
        match self.launch_new(request, &new, numbers, hold, supervisor, slots) {
            Ok(task) => {
                wake_up::send(&self.home);
                DirectStart::Started(Box::new(task))
            }
            Err(Error::Unanswered) => DirectStart::Unanswered(new.id),
            Err(_) => {
                // The mark says that remaining files are not a task.
                let directory = self.home.task(&new.id);
                directory.begin_clearing();
                directory.remove();
                DirectStart::Undone
            }
        }
    }

    /// Takes the slots of a task that may start now; `None` if it must be queued. A slot that was not given back may
    /// belong to a task that is still running.
    pub(super) fn free_slots(&self, request: &TaskRequest) -> Result<Option<Slots>> {
        let (pool, limits) = (Pool::of(request.kind), request.queue_limits(&self.settings));
        let session = self.home.session(&request.session);
        let slots = session.take_slots(&self.home.common_slots(), &limits, pool)?;
        Ok(slots.filter(|slots| slots.were_given_back() && !self.home.is_waiting_noted()))
    }

    /// Writes down a task that has its slots and launches it. The process that opens the database next records it there.
    pub(super) fn launch_new(
        &self,
        request: &TaskRequest,
        new: &NewTask,
        numbers: &Numbers,
        hold: StartHold,
        supervisor: SupervisorLink,
        slots: Slots,
    ) -> Result<Task> {
        supervisor.send_to(&hold.directory);
        let (spec, mut task) = self.write_down(request, new, numbers)?;
        let since = spec.created_at;
        task.set_state(next_state(&task.state, &Event::Reserved { since }).map_err(StoreError::from)?);
        let launched = self.launch(task, &spec, Some(supervisor), slots);
        drop(hold);
        launched
    }
}
