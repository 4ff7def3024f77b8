//! The current tasks and events.

use std::collections::HashSet;

use mw_model::wire::{ControlReply, JournalEntry};
use mw_model::{Resources, TaskId, TaskKind, TaskState};

use super::{Reader, Tasks};
use crate::agent::Agents;
use crate::database::Lookup;
use crate::database::arrivals::DAMAGED;
use crate::database::retained::Retained;
use crate::disk::platform;
use crate::disk::store::{EventRow, Filter, Page};
use crate::error::Result;
use crate::queue::Queue;
use crate::reconcile::Reconciler;
use crate::redact::{Redaction, Redactor};
use crate::task::{Scope, Task, TaskLimits};

impl Tasks<'_> {
    /// Returns the current state of a task.
    ///
    /// # Errors
    /// When it is unknown.
    pub fn task(&self, handle: &str, scope: &Scope) -> Result<Task> {
        let id = Lookup::on(&self.base.database).resolve(handle, scope)?;
        let mut task = Reconciler::on(self.base).current(&id)?;
        if self.base.database.store()?.any_waiting()? {
            Reconciler::on(self.base).reconcile()?;
            task = Reconciler::on(self.base).current(&id)?;
        }
        self.complete(&mut task)?;
        if task.status.is_terminal() {
            Agents::on(self.base).add_agent(&mut task);
        }
        if let Ok(spec) = self.base.home.task(&id).spec() {
            (task.parent_session, task.parent_message) = (spec.parent_session, spec.parent_message);
            task.place = Some(spec.place).filter(|place| !place.is_process());
            task.proposal = spec.approval.map(|approval| approval.proposal);
            task.limits = self.limits_of(&id, &spec.limits.resources)?;
            Redactor::new(&self.base.settings.redact, &spec.env).task(&mut task);
            return Ok(task);
        }
        Ok(Redaction::on(self.base).without_secrets(task))
    }

    /// Returns a task's resource limits, and how they are enforced according to its journal.
    fn limits_of(&self, id: &TaskId, resources: &Resources) -> Result<Option<TaskLimits>> {
        if resources.is_none() {
            return Ok(None);
        }
        let enforcement = self.base.home.task(id).journal()?.iter().rev().find_map(|line| match line.entry {
            JournalEntry::Spawning { enforcement, .. } => enforcement,
            _ => None,
        });
        Ok(TaskLimits::of(resources, enforcement))
    }

    /// Lists the current tasks.
    ///
    /// # Errors
    /// When the database fails.
    pub fn list(&self, filter: &Filter) -> Result<Page> {
        Reconciler::on(self.base).reconcile()?;
        let mut page = self.base.database.healing(|| Ok(self.base.database.store()?.list(filter)?))?;
        for task in &mut page.tasks {
            self.base.database.overlay(task);
            self.complete(task)?;
            Redaction::on(self.base).redactor(&task.id).task(task);
        }
        Ok(page)
    }

    /// Returns how many tasks come before a task in a list, wherever the page begins; `None` if it is not listed.
    ///
    /// # Errors
    /// When the database fails.
    pub fn place(&self, filter: &Filter, id: &TaskId) -> Result<Option<u64>> {
        Ok(self.base.database.store()?.place(filter, id)?)
    }

    /// Adds the values that are not stored, because they change without an event.
    pub(crate) fn complete(&self, task: &mut Task) -> Result<()> {
        task.untended = self.base.untended.borrow().get(&task.id).cloned();
        match &task.state {
            TaskState::Pending { .. } => {
                task.queue_position = Some(self.base.database.store()?.queue_position(task)?);
                Agents::on(self.base).add_agent(task);
            }
            TaskState::Starting { .. } => {}
            TaskState::Running { process, started_at, .. }
            | TaskState::Cancelling { process, started_at, .. } => {
                // The system time may be changed while a task runs.
                let by_wall = || self.base.clock.now().ms_since(*started_at);
                task.duration_ms = Some(platform::running_ms(process).unwrap_or_else(by_wall));
                if let Some((end, dropped)) = Reader::on(self.base).output_size(task) {
                    (task.output_bytes, task.dropped_bytes) = (end, dropped);
                }
                if task.kind == TaskKind::Agent {
                    Agents::on(self.base).add_agent(task);
                }
                if task.agent.is_none() {
                    task.progress = self.progress(task);
                }
            }
            TaskState::Ended { .. } => {
                if task.survivors > 0
                    && let Some(ControlReply::Status { tree, output_bytes, dropped_bytes, .. }) =
                        self.supervisor_status(&task.id)
                {
                    task.survivors = tree.len() as u32;
                    (task.output_bytes, task.dropped_bytes) = (output_bytes, dropped_bytes);
                }
            }
        }
        self.add_silence(task);
        Queue::on(self.base).add_waiting(task)
    }

    /// Returns events after a position in the stream, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn events_after(
        &self,
        seq: i64,
        scope: &Scope,
        task: Option<&TaskId>,
        most: u32,
    ) -> Result<Vec<EventRow>> {
        Reconciler::on(self.base).reconcile()?;
        let events = self.base.database.store()?.events_after(seq, scope, task, most)?;
        Ok(Redaction::on(self.base).events_without_secrets(events))
    }

    /// Returns the position of the newest event.
    ///
    /// # Errors
    /// When the database fails.
    pub fn last_event(&self) -> Result<i64> {
        Ok(self.base.database.store()?.last_event()?)
    }

    /// Returns the tasks whose files cannot be read, and why. They are not changed, and no list includes them.
    ///
    /// # Errors
    /// When the database fails, or the directories cannot be inspected now.
    pub fn damaged(&self) -> Result<Vec<Retained>> {
        let store = self.base.database.store()?;
        if store.mark(DAMAGED)? == 0 {
            return Ok(Vec::new());
        }
        let arriving: HashSet<_> = self.base.home.arrivals().ids()?.into_iter().collect();
        let mut damaged = Vec::new();
        for id in self.base.home.task_ids()? {
            if store.task(&id)?.is_some() {
                continue;
            }
            let error = match self.base.database.damage(&id) {
                Err(error) if error.is_shortage() => return Err(error),
                Err(error) => error,
                Ok(Some(error)) if !arriving.contains(&id) => error,
                Ok(_) => continue,
            };
            damaged.push(Retained::because(&id, error));
        }
        damaged.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(damaged)
    }
}
