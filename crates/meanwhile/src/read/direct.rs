//! A wait for the end of one running task, without the database.

use std::time::Duration;

use mw_model::wire::{ControlReply, ExitRecord, Operation};
use mw_model::{Cause, TaskId, Timestamp};

use crate::base::Directories;
use crate::database::on_disk;
use crate::disk::platform;
use crate::redact::Redactor;
use crate::supervisor::control::{Connection, NEW_SUPERVISOR};
use crate::task::Task;

impl Directories {
    /// Returns the task that this full id names, if it has files here.
    #[must_use]
    pub fn find(&self, handle: &str) -> Option<TaskId> {
        let id = handle.parse::<TaskId>().ok()?;
        let directory = self.home.task(&id);
        let is_ours =
            directory.has_spec().is_ok_and(|has_spec| has_spec) && directory.refuse_foreign().is_ok();
        is_ours.then_some(id)
    }

    /// Begins to wait for the end of a running task. `None` if it does not run, or may run again by itself:
    /// [`Reader::wait`](crate::engine::Reader::wait) handles that.
    #[must_use]
    pub fn watch_end(&self, id: &TaskId) -> Option<WatchedEnd> {
        let task = on_disk::running_task_of_one_run(&self.home, id).ok()??;
        // The supervisor of a task that was just started does not listen yet.
        let mut connection = Connection::connect_within(&self.home, id, NEW_SUPERVISOR).ok()?;
        connection.send(Operation::Wait).ok()?;
        Some(WatchedEnd { task, redactor: self.redactor(id), connection })
    }
}

/// A running task whose supervisor will report its end to this process.
pub struct WatchedEnd {
    task: Task,
    redactor: Redactor,
    connection: Connection,
}

impl WatchedEnd {
    /// Shows the task with an end that has not come. What is done for the first time, or after a while, is slow.
    pub fn rehearse(&self, show: impl FnOnce(Task)) {
        let cause = Cause::Exited { code: 0 };
        let record = ExitRecord::unsupervised(self.task.state.run(), cause, Timestamp::default());
        let reply = serde_json::to_string(&ControlReply::Ended { record: Box::new(record) });
        let heard = reply.ok().and_then(|reply| serde_json::from_str(&reply).ok());
        _ = heard.and_then(|reply| self.ended(reply)).map(show);
    }

    /// Waits, and returns the task as it is shown. `None` if its supervisor is killed.
    ///
    /// The end of the process wakes this process together with the supervisor, which needs some time for the exit record.
    /// Meanwhile the reply is rehearsed.
    #[must_use]
    pub fn wait(mut self, show: impl FnOnce(Task)) -> Option<Task> {
        if let Some(process) = self.task.state.process() {
            platform::sleep_until_end(&self.connection, process.pid);
            if !platform::is_readable_within(&self.connection, Duration::ZERO) {
                self.rehearse(show);
                platform::stay_awake_for(&self.connection);
            }
        }
        let reply = self.connection.reply().ok()?;
        self.ended(reply)
    }

    fn ended(&self, reply: ControlReply) -> Option<Task> {
        let ControlReply::Ended { record } = reply else { return None };
        let mut task = self.task.clone();
        task.show_record(&record);
        self.redactor.task(&mut task);
        task.status.is_terminal().then_some(task)
    }
}
