//! What a person changes about queued tasks: their order, their command, and whether one starts at once.

use mw_model::{CommandSpec, Event, TaskId, TaskKind, TaskState};

use super::Starts;
use super::check::refuse_bad_command;
use crate::disk::slots::{Pool, Slots};
use crate::disk::store::Transaction;
use crate::error::{Error, Result};
use crate::launch::message;
use crate::queue::Queue;
use crate::queue::next::Granted;
use crate::read::Tasks;
use crate::reconcile::Reconciler;
use crate::redact::Redaction;
use crate::task::Task;
use crate::task::queue_place::{QueuePlace, moved};

/// Where a queued task is moved to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveTo {
    /// Before all others of its session.
    First,
    /// Behind all others of its session.
    Last,
    /// Directly before another.
    Before(TaskId),
    /// Directly behind another.
    Behind(TaskId),
}

/// The person who changes a queued task.
const USER: &str = "user";

impl Starts<'_> {
    /// Moves a queued task to another place in the queue of its session. It takes the priority of its new neighbours if its own does
    /// not fit between them.
    ///
    /// # Errors
    /// When a task is not queued, or the other one is in another queue.
    pub fn move_queued(&self, id: &TaskId, to: &MoveTo) -> Result<Task> {
        Queue::on(self.base).change(|transaction| {
            let queue = self.queue_of(transaction, id)?;
            let from = place_in(&queue, id)?;
            let other = |other: &TaskId| match place_in(&queue, other) {
                Ok(at) if at == from => {
                    Err(Error::invalid(format!("{id} cannot be moved next to itself"), "name another task"))
                }
                Ok(at) => Ok(at - usize::from(at > from)),
                Err(_) => Err(Error::invalid(
                    format!("{other} is not in the queue of {id}"),
                    "name a queued task of the same session",
                )),
            };
            let to = match to {
                MoveTo::First => 0,
                MoveTo::Last => queue.len() - 1,
                MoveTo::Before(task) => other(task)?,
                MoveTo::Behind(task) => other(task)? + 1,
            };
            moved(queue, from, to).iter().try_for_each(|place| self.store_place(transaction, place))
        })?;
        self.shown(id)
    }

    /// Changes the priority of a queued task. Among those with this priority, it stands where its arrival puts it.
    ///
    /// # Errors
    /// When it is not queued.
    pub fn set_priority(&self, id: &TaskId, priority: i32) -> Result<Task> {
        Queue::on(self.base).change(|transaction| {
            let queue = self.queue_of(transaction, id)?;
            let place = queue[place_in(&queue, id)?].clone();
            self.store_place(transaction, &QueuePlace { priority, rank: 0, ..place })
        })?;
        self.shown(id)
    }

    /// Starts a queued task at once, whatever it waits for. It takes no slot.
    ///
    /// # Errors
    /// When it is not queued, or cannot be started.
    pub fn start_now(&self, id: &TaskId) -> Result<Task> {
        let granted = self.base.database.change(id, |changing| {
            refuse_unless_queued(changing.task())?;
            if Queue::on(self.base).awaits_last_run(changing.task())? {
                return Err(changing
                    .refusal("processes of its last run are still alive; try again when they have ended"));
            }
            let archived = self.base.home.task(id).archive_before(changing.task());
            archived.map_err(Error::io("cannot move the files of the earlier run"))?;
            changing.apply(&Event::Reserved { since: changing.now() })?;
            let hold = self.base.home.task(id).try_hold_start()?;
            Ok(Granted { task: changing.task().clone(), slots: Slots::none(), hold })
        })?;
        Reconciler::on(self.base).launch(granted)?;
        self.shown(id)
    }

    /// Replaces the command of a queued task. An approval was for the other command, so it is gone: only a person may call this.
    ///
    /// # Errors
    /// When it is not queued or has run before, or the command cannot be executed.
    pub fn set_command(&self, id: &TaskId, command: CommandSpec) -> Result<Task> {
        refuse_bad_command(&command)?;
        self.base.database.change(id, |changing| {
            refuse_unless_queued(changing.task())?;
            let files = self.base.home.task(id);
            let mut spec = files.spec()?;
            if spec.kind == TaskKind::Agent || changing.task().state.run() > 1 {
                return Err(changing.refusal("only a command that has not run can be changed"));
            }
            spec.command = command;
            (spec.approval, spec.approved_by) = (None, USER.to_owned());
            message::spawn_message(&self.base.settings, &spec, 1)?;
            changing.transaction().set_command(id, &spec.to_line(), USER)?;
            files.replace_spec(&spec)?;
            changing.note_change();
            Ok(())
        })?;
        self.shown(id)
    }

    /// Returns the queue of a queued task, in order.
    fn queue_of(&self, transaction: &Transaction<'_>, id: &TaskId) -> Result<Vec<QueuePlace>> {
        let task = transaction.task(id)?.ok_or_else(|| Error::NotFound(id.to_string()))?;
        refuse_unless_queued(&task)?;
        Ok(transaction.places(&task.session, Pool::of(task.kind))?)
    }

    fn store_place(&self, transaction: &Transaction<'_>, place: &QueuePlace) -> Result<()> {
        self.base.home.task(&place.id).change_place(place.priority, place.rank)?;
        Ok(transaction.set_place(place)?)
    }

    /// Returns the task as it is now, without secrets, and tells those who watch.
    fn shown(&self, id: &TaskId) -> Result<Task> {
        self.base.database.announce();
        let mut task = Reconciler::on(self.base).current(id)?;
        Tasks::on(self.base).complete(&mut task)?;
        Ok(Redaction::on(self.base).without_secrets(task))
    }
}

fn refuse_unless_queued(task: &Task) -> Result<()> {
    match &task.state {
        TaskState::Pending { .. } => Ok(()),
        _ => Err(task.refusal("it is not queued")),
    }
}

fn place_in(queue: &[QueuePlace], id: &TaskId) -> Result<usize> {
    queue.iter().position(|place| place.id == *id).ok_or_else(|| Error::NotFound(id.to_string()))
}
