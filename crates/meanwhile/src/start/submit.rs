//! Submits a request: the task is started, queued, or refused without leaving anything behind.

use mw_model::wire::Metadata;
use mw_model::{Status, TaskId};

use super::check::check;
use super::write_down::NewTask;
use crate::approval::Approvals;
use crate::disk::slots::{Pool, Slots};
use crate::disk::task_dir::StartHold;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::launch::before::UpcomingRun;
use crate::launch::message;
use crate::queue::Queue;
use crate::queue::next::Picked;
use crate::read::Tasks;
use crate::reconcile::Reconciler;
use crate::redact::{Redaction, Redactor};
use crate::request::{IfRunning, TaskRequest};
use crate::settings::AtCapacity;
use crate::start::Starts;
use crate::supervisor::SupervisorLink;
use crate::task::{Scope, Task};

/// The result of a start.
#[derive(Clone, Debug)]
pub struct Started {
    /// The task; pending if it is queued.
    pub task: Task,
    /// Whether it was already running under that name.
    pub existed: bool,
}

/// Whether a task may start at once.
enum PlaceAtOnce {
    /// It may, in these slots.
    Free(Slots),
    /// All slots are taken, so nothing that has happened to other tasks matters now.
    Full,
    /// The database decides, when it knows what has happened to other tasks.
    Uncertain,
}

impl Starts<'_> {
    /// Refuses a request that could never run, and changes nothing.
    ///
    /// # Errors
    /// For bad requests, and programs that do not exist.
    pub fn check(&self, request: &TaskRequest) -> Result<()> {
        check(request, &self.base.settings.backends)
    }

    /// Starts a task and returns at once.
    ///
    /// When this returns, the task is on disk and its first process has been executed, or it is queued. After an error
    /// nothing is left of it.
    ///
    /// # Errors
    /// For bad requests, names of live tasks, no free slot, and programs that cannot be executed.
    pub fn start(&self, request: &TaskRequest) -> Result<Started> {
        check(request, &self.base.settings.backends)?;
        if let Some(name) = &request.name
            && let Some(existing) = self.live_named(&request.session, name)?
        {
            return self.meet_name(request, existing);
        }
        if let Some(name) = &request.name
            && let Some(hidden) = self.base.database.store()?.hidden_by(name)?
        {
            let message = format!("the name {name:?} is a prefix of the id {hidden}");
            return Err(Error::invalid(message, "choose another name"));
        }
        let place = self.place_at_once(request)?;
        let (new, hold) = self.base.new_directory(request)?;
        if let Some(granted) = request.approval.granted()
            && let Err(error) = Approvals::on(self.base).use_for(granted, request, &new.id)
        {
            self.forget(&new.id);
            return Err(error);
        }
        let started = match place {
            PlaceAtOnce::Free(slots) => self.start_at_once(request, &new, hold, slots),
            PlaceAtOnce::Full => self.start_in_order(request, &new, hold),
            PlaceAtOnce::Uncertain => Reconciler::on(self.base)
                .reconcile_unsettled()
                .and_then(|()| self.start_in_order(request, &new, hold)),
        };
        match started {
            Ok(mut task) => {
                self.base.database.announce();
                let texts = [&task.command, task.description.as_ref().unwrap_or(&task.command)];
                let texts = texts.map(String::as_str);
                Redactor::for_texts(&self.base.settings.redact, &request.env, &texts).task(&mut task);
                Ok(Started { task, existed: false })
            }
            Err(error) => {
                self.forget(&new.id);
                Err(error)
            }
        }
    }

    /// Reports a start whose supervisor was killed before it answered. The task's directory shows how far it got.
    ///
    /// # Errors
    /// When the command was not executed. Nothing is left of the task then.
    pub fn conclude_unanswered(&self, id: &TaskId) -> Result<Started> {
        let task = Reconciler::on(self.base).after_silence(id, Error::Unanswered);
        task.map(|task| Started { task, existed: false }).inspect_err(|_| self.forget(id))
    }

    /// Takes slots for a task if it may start at once, without using the database: it has no name that must be unique, follows no
    /// other task, may start now, and the queue is empty.
    fn place_at_once(&self, request: &TaskRequest) -> Result<PlaceAtOnce> {
        if request.name.is_some() || !request.after.is_empty() || request.schedule.not_before.is_some() {
            return Ok(PlaceAtOnce::Uncertain);
        }
        if request.uncounted {
            return Ok(PlaceAtOnce::Free(Slots::none()));
        }
        let (pool, limits) = (Pool::of(request.kind), request.queue_limits(&self.base.settings));
        let take = || Queue::on(self.base).take_slots(&request.session, pool, &limits);
        let mut slots = take()?;
        if slots.is_none() && request.at_capacity == AtCapacity::Reject {
            // Another process may hold the slot just to test it, which happens only inside a transaction.
            slots = self.base.database.transact(|_| take())?;
            if slots.is_none() {
                return Err(Error::AtCapacity { limit: pool.limit(&limits) });
            }
        }
        Ok(match slots {
            // A slot that was not given back may belong to a task that is still running.
            Some(slots) if slots.were_given_back() && !self.base.home.is_waiting_noted() => {
                PlaceAtOnce::Free(slots)
            }
            Some(_) => PlaceAtOnce::Uncertain,
            None => PlaceAtOnce::Full,
        })
    }

    /// Starts a task that has its slots. The process that opens the database next records it there.
    fn start_at_once(
        &self,
        request: &TaskRequest,
        new: &NewTask,
        hold: StartHold,
        slots: Slots,
    ) -> Result<Task> {
        // Before anything is written down: if this process is killed meanwhile, there is no task.
        self.base.pass_before(&UpcomingRun {
            id: &new.id,
            run: 1,
            name: request.name.as_deref(),
            session: &request.session,
            command: &|| {
                let prompt = request.agent.as_ref().map(|agent| agent.prompt.clone());
                prompt.unwrap_or_else(|| request.command.to_line())
            },
            cwd: &request.cwd,
            env: &request.env,
        })?;
        // The supervisor prepares while the task is written to disk.
        let supervisor = SupervisorLink::start(&self.base.settings.executables)?;
        let numbers = self.base.take_numbers(request, &self.base.database)?;
        match self.base.launch_new(request, new, &numbers, hold, supervisor, slots) {
            // The task's directory shows how far the start got.
            Err(error @ Error::Unanswered) => Reconciler::on(self.base).after_silence(&new.id, error),
            other => other,
        }
    }

    /// Queues a task, and starts all queued tasks that may start.
    fn start_in_order(&self, request: &TaskRequest, new: &NewTask, hold: StartHold) -> Result<Task> {
        let id = &new.id;
        let numbers = self.base.take_numbers(request, &self.base.database)?;
        let (spec, task) = self.base.write_down(request, new, &numbers)?;
        if let Some(metadata) = message::metadata(&spec, 1, &self.base.settings.redact, None) {
            self.base.home.task(id).write_metadata(&Metadata { status: Status::Pending, ..metadata });
        }
        let (mut picked, queued) = self.enqueue(request, task)?;
        let untended = picked.any_untended;
        fail_point("start-committed");
        let own = picked.to_launch.iter().position(|granted| granted.task.id == *id);
        let own = own.map(|at| picked.to_launch.remove(at));
        let launched = own.map(|granted| Reconciler::on(self.base).launch(granted));
        drop(hold);
        if Reconciler::on(self.base).launch_all(picked.to_launch) || untended {
            Reconciler::on(self.base).pump_queue();
        }
        match launched {
            Some(task) => task,
            None => {
                // Other processes know it by now, and one may have started it. So what cannot be read at the moment is no reason to
                // refuse it.
                let mut task = self.base.database.stored(id).unwrap_or(queued);
                let _ = Tasks::on(self.base).complete(&mut task);
                Ok(task)
            }
        }
    }

    /// Writes a task's row and decides which tasks start. Durable when it returns.
    fn enqueue(&self, request: &TaskRequest, mut task: Task) -> Result<(Picked, Task)> {
        let limits = self.base.settings.queue;
        Queue::on(self.base)
            .change(|transaction| {
                if let Some(name) = &request.name
                    && let Some(other) = transaction.live_named(&request.session, name)?
                {
                    let status = transaction.task(&other)?.map_or(Status::Pending, |task| task.status);
                    return Err(Error::NameLive { name: name.clone(), id: other, status });
                }
                for before in &request.after {
                    if transaction.task(&before.id)?.is_none() {
                        return Err(Error::NotFound(before.id.to_string()));
                    }
                }
                task.number = transaction.take_number(&task.session, task.number)?;
                transaction.insert(&task)?;
                if let Some(holder) = &request.reporter {
                    transaction.reserve_end(&task, &holder.0)?;
                }
                self.base.home.note_waiting()?;
                let picked = Queue::on(self.base).pick(transaction, &request.session)?;
                let waits = !picked.to_launch.iter().any(|granted| granted.task.id == task.id);
                let waits_for_slot =
                    waits && request.after.is_empty() && request.schedule.not_before.is_none();
                if waits_for_slot && request.at_capacity == AtCapacity::Reject {
                    return Err(Error::AtCapacity { limit: Pool::of(request.kind).limit(&limits.limits()) });
                }
                Ok(picked)
            })
            .map(|picked| (picked, task))
    }

    fn live_named(&self, session: &str, name: &str) -> Result<Option<Task>> {
        let found = self.base.database.store()?.resolve_live_name(session, name)?;
        let Some(id) = found else { return Ok(None) };
        // Bring the state of the task with that name up to date before the name counts as in use.
        Reconciler::on(self.base).reconcile_task(&id)?;
        Ok(self.base.database.store()?.task(&id)?.filter(|task| !task.status.is_terminal()))
    }

    fn meet_name(&self, request: &TaskRequest, existing: Task) -> Result<Started> {
        match request.if_running {
            IfRunning::Refuse => Err(Error::NameLive {
                name: existing.name.clone().unwrap_or_default(),
                id: existing.id,
                status: existing.status,
            }),
            IfRunning::Return => {
                Ok(Started { task: Redaction::on(self.base).without_secrets(existing), existed: true })
            }
            IfRunning::Restart => {
                self.check_same(request, &existing)?;
                let task = self.restart(existing.id.as_str(), &Scope::Session(request.session.clone()))?;
                Ok(Started { task, existed: true })
            }
        }
    }

    /// Removes all traces of a refused task.
    fn forget(&self, id: &TaskId) {
        // The files first, as in a removal, because files without a row might be taken for a task again. The mark says
        // that remaining files are not a task.
        self.base.home.task(id).begin_clearing();
        self.base.home.task(id).remove();
        let removed = self.base.database.transact(|transaction| {
            transaction.delete_all(std::slice::from_ref(id))?;
            Ok(transaction.delete_spans(id)?)
        });
        // The next command sweeps what could not be removed now.
        let _ = removed.and_then(|()| Reconciler::on(self.base).reconcile_unsettled());
        Reconciler::on(self.base).pump_queue();
    }
}
