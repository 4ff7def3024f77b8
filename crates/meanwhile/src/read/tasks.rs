//! The current tasks and events.

use std::collections::HashSet;
use std::fs;

use mw_model::wire::{ControlReply, JournalEntry, PLACE_FILE, PlaceRecord};
use mw_model::{CommandSpec, Resources, Status, TaskGrant, TaskId, TaskKind, TaskState};

use super::output::{ReadFrom, ReadRequest};
use super::{Reader, Tasks};
use crate::agent::Agents;
use crate::confine::{grant_of, refused_in};
use crate::database::Lookup;
use crate::database::arrivals::DAMAGED;
use crate::disk::platform;
use crate::disk::store::{TaskEvent, TaskFilter, TaskPage};
use crate::error::{Result, Retained};
use crate::queue::Queue;
use crate::reconcile::Reconciler;
use crate::redact::{Redaction, Redactor};
use crate::task::{LastRun, PlaceState, Scope, Task, TaskConfinement, TaskLimits};

/// How much of the end of a failed command's output is searched for a refusal.
const REFUSAL_BYTES: u64 = 16 << 10;

impl Reader<'_> {
    /// Returns what a confined command printed when it was refused something, if it failed.
    pub(crate) fn refused(&self, task: &Task, confined: &TaskConfinement) -> Option<String> {
        if confined.by.is_empty() || task.status != Status::Failed {
            return None;
        }
        let request = ReadRequest {
            from: ReadFrom::TailBytes(REFUSAL_BYTES),
            max_bytes: REFUSAL_BYTES,
            ..ReadRequest::default()
        };
        refused_in(&self.read_task_shown(task, &request).ok()?.text())
    }
}

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
            task.place = spec.place_name();
            task.place_state = self.place_state(&task);
            if let Some(grant) = grant_of(&spec) {
                let mut confined = self.confined_of(&id, &grant)?;
                confined.refused = Reader::on(self.base).refused(&task, &confined);
                task.confined = Some(confined);
            }
            (task.parent_session, task.parent_message) = (spec.parent_session, spec.parent_message);
            task.proposal = spec.approval.map(|approval| approval.proposal);
            task.limits = self.limits_of(&id, &spec.limits.resources)?;
            task.shell = match &spec.command {
                CommandSpec::Shell { program, .. } => Some(program.to_lossy()),
                CommandSpec::Argv(_) => None,
            };
            Redactor::new(&self.base.settings.redact, &spec.env).task(&mut task);
            return Ok(task);
        }
        Ok(Redaction::on(self.base).without_secrets(task))
    }

    /// Returns where the current run of a task is, according to its driver.
    fn place_state(&self, task: &Task) -> Option<PlaceState> {
        let text = fs::read(self.base.home.task(&task.id).join(PLACE_FILE)).ok()?;
        let record: PlaceRecord = serde_json::from_slice(&text).ok()?;
        (record.run == task.state.run()).then(|| PlaceState::of(record))
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

    /// Returns what a task may do, and what enforces that according to the journal of its latest run.
    pub(crate) fn confined_of(&self, id: &TaskId, grant: &TaskGrant) -> Result<TaskConfinement> {
        let journal = self.base.home.task(id).journal()?;
        let by = journal.iter().rev().find_map(|line| match &line.entry {
            JournalEntry::Started { confined_by, .. } => Some(confined_by.clone()),
            _ => None,
        });
        Ok(TaskConfinement::of(grant, &by.flatten().unwrap_or_default()))
    }

    /// Lists the current tasks.
    ///
    /// # Errors
    /// When the database fails.
    pub fn list(&self, filter: &TaskFilter) -> Result<TaskPage> {
        Reconciler::on(self.base).reconcile()?;
        let mut page = self.base.database.healing(|| Ok(self.base.database.store()?.list(filter)?))?;
        for task in &mut page.tasks {
            self.base.database.overlay(task);
            self.complete(task)?;
            Redaction::on(self.base).redactor(&task.id).task(task);
        }
        Ok(page)
    }

    /// Returns the number of tasks that match a filter, as of the last list.
    ///
    /// # Errors
    /// When the database fails.
    pub fn count(&self, filter: &TaskFilter) -> Result<u64> {
        Ok(self.base.database.store()?.matching(filter)?)
    }

    /// Returns how many tasks come before a task in a list, wherever the page begins; `None` if it is not listed.
    ///
    /// # Errors
    /// When the database fails.
    pub fn position(&self, filter: &TaskFilter, id: &TaskId) -> Result<Option<u64>> {
        Ok(self.base.database.store()?.position(filter, id)?)
    }

    /// Adds the values that are not stored, because they change without an event.
    pub(crate) fn complete(&self, task: &mut Task) -> Result<()> {
        task.untended = self.base.untended.borrow().get(&task.id).cloned();
        match &task.state {
            TaskState::Pending { .. } => {
                task.queue_position = Some(self.base.database.store()?.queue_position(task)?);
                if task.may_run_again() && task.state.run() > 1 {
                    let (files, last) = (self.base.home.task(&task.id), task.state.run() - 1);
                    let record =
                        files.earlier_result(last)?.map_or_else(|| files.result(last), |it| Ok(Some(it)))?;
                    task.last_run = record.as_ref().map(LastRun::from);
                }
                Agents::on(self.base).add_agent(task);
            }
            TaskState::Starting { .. } => {}
            TaskState::Running { process, started_at, .. }
            | TaskState::Cancelling { process, started_at, .. } => {
                // The system time may be changed while a task runs.
                let by_wall = || self.base.clock.now().ms_since(*started_at);
                task.duration_ms = Some(platform::running_ms(process).unwrap_or_else(by_wall));
                task.paused = platform::is_stopped(process);
                if let Some((end, dropped)) = Reader::on(self.base).output_size(task) {
                    (task.output_bytes, task.dropped_bytes) = (end, dropped);
                }
                if task.kind == TaskKind::Agent {
                    Agents::on(self.base).add_agent(task);
                }
                if task.agent.is_none() {
                    task.progress = self.progress(task);
                }
                if task.kind == TaskKind::Remote {
                    task.place_state = self.place_state(task);
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
        self.mark_unresponsive(task);
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
    ) -> Result<Vec<TaskEvent>> {
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
