//! The facade: one home, opened. What front ends call.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mw_model::wire::{ControlReply, JournalEntry, Operation, STDIN_FIFO};
use mw_model::{RawText, Resources, TaskId, TaskKind, TaskState};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::clock::{Clock, SystemClock};
use crate::disk::database::Database;
use crate::disk::home::Home;
use crate::disk::platform;
use crate::disk::store::{EventRow, Filter, Naming, Page};
use crate::error::{Error, Result};
use crate::launch::hand_over::Supervisor;
use crate::live::control::Line;
use crate::notify::bell::Bell;
use crate::read::redact::Redactor;
use crate::settings::Settings;
use crate::task::{Scope, Task, TaskLimits};

/// An open home.
pub struct Runtime {
    pub(crate) settings: Settings,
    pub(crate) home: Home,
    pub(crate) database: Database,
    pub(crate) clock: Arc<dyn Clock>,
    /// A supervisor for the next start, if one was summoned early.
    pub(crate) ready: Cell<Option<Supervisor>>,
    /// Tasks that live and could not be adopted, and why.
    pub(crate) untended: RefCell<HashMap<TaskId, String>>,
    /// Whether this process is the one that settles: runs hooks, and removes what is old.
    pub(crate) settles_itself: Cell<bool>,
}

impl Runtime {
    /// Opens a home, making it when it is absent. Its database is opened when it is first needed; one
    /// that was removed is rebuilt then.
    ///
    /// # Errors
    /// When the home cannot be used.
    pub fn open(settings: Settings) -> Result<Self> {
        Self::open_with_clock(settings, Arc::new(SystemClock))
    }

    /// The same with a clock of the caller's.
    ///
    /// # Errors
    /// As [`Runtime::open`].
    pub fn open_with_clock(settings: Settings, clock: Arc<dyn Clock>) -> Result<Self> {
        let home = Home::open(&settings.home)?;
        Ok(Self {
            settings,
            home,
            database: Database::default(),
            clock,
            ready: Cell::new(None),
            untended: RefCell::default(),
            settles_itself: Cell::new(false),
        })
    }

    /// Returns the home.
    #[must_use]
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Returns the settings it was opened with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Finds the one task that a person means who wants to look at it: by its id or any beginning of that, a handle, or a
    /// name.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn resolve(&self, handle: &str, scope: &Scope) -> Result<TaskId> {
        self.resolve_as(handle, scope, Naming::Look)
    }

    /// Finds the one task that a person means who wants to do something to it: the beginning of an id must have four of its
    /// random characters.
    ///
    /// # Errors
    /// As [`Runtime::resolve`]; a beginning that is too short is refused with the tasks that it fits.
    pub fn resolve_for_deed(&self, handle: &str, scope: &Scope) -> Result<TaskId> {
        match self.resolve_as(handle, scope, Naming::Deed) {
            Err(Error::NotFound(_)) => {
                let fitting = self.store()?.resolve(handle, scope, Naming::Look)?;
                if fitting.is_empty() {
                    return Err(Error::NotFound(handle.to_owned()));
                }
                let fitting: Vec<_> = fitting.iter().map(ToString::to_string).collect();
                Err(Error::Invalid {
                    message: format!(
                        "{handle:?} is too short to choose a task by: it fits {}",
                        fitting.join(", ")
                    ),
                    hint: "write at least four characters after the dash, the whole id, or the name"
                        .to_owned(),
                })
            }
            other => other,
        }
    }

    /// Finds the one task that a model means: by its whole id, a handle or a name, never by a beginning.
    ///
    /// # Errors
    /// As [`Runtime::resolve`].
    pub fn resolve_exact(&self, handle: &str, scope: &Scope) -> Result<TaskId> {
        self.resolve_as(handle, scope, Naming::Exact)
    }

    fn resolve_as(&self, handle: &str, scope: &Scope, naming: Naming) -> Result<TaskId> {
        // A whole id needs no looking up where nothing is hidden.
        if let (Scope::All, Ok(id)) = (scope, handle.parse::<TaskId>())
            && self.home.has_spec(&id)?
            && self.home.refuse_foreign(&id).is_ok()
        {
            return Ok(id);
        }
        let mut found = self.store()?.resolve(handle, scope, naming)?;
        match found.len() {
            0 => self.resolve_damaged(handle, scope),
            1 => Ok(found.swap_remove(0)),
            _ => Err(Error::Ambiguous {
                handle: handle.to_owned(),
                found: found.iter().map(ToString::to_string).collect(),
            }),
        }
    }

    /// Nobody knows whose a task is that cannot be read: who sees all may name it, by its whole id.
    fn resolve_damaged(&self, handle: &str, scope: &Scope) -> Result<TaskId> {
        let found = match (scope, handle.parse::<TaskId>()) {
            (Scope::All, Ok(id)) => self.damage(&id)?.map(|error| (id, error)),
            (Scope::All | Scope::Session(_), _) => None,
        };
        match found {
            Some((_, foreign @ Error::Foreign { .. })) => Err(foreign),
            Some((id, _)) => Ok(id),
            None => Err(Error::NotFound(handle.to_owned())),
        }
    }

    /// Returns a task as the database has it.
    pub(crate) fn stored(&self, id: &TaskId) -> Result<Task> {
        match self.store()?.task(id, &self.home.tasks())? {
            Some(task) => Ok(task),
            None => Err(self.damage(id)?.unwrap_or_else(|| Error::NotFound(id.to_string()))),
        }
    }

    /// Returns a task as it is.
    ///
    /// # Errors
    /// When it is unknown.
    pub fn task(&self, handle: &str, scope: &Scope) -> Result<Task> {
        let id = self.resolve(handle, scope)?;
        let mut task = self.current(&id)?;
        if self.store()?.any_waiting()? {
            self.reconcile()?;
            task = self.current(&id)?;
        }
        self.complete(&mut task)?;
        if task.status.is_terminal() {
            self.add_agent(&mut task);
        }
        if let Ok(spec) = self.home.spec(&id) {
            (task.parent_session, task.parent_message) = (spec.parent_session, spec.parent_message);
            task.place = Some(spec.place).filter(|place| !place.is_process());
            task.proposal = spec.approval.map(|approval| approval.proposal);
            task.limits = self.limits_of(&id, &spec.limits.resources)?;
            Redactor::new(&self.settings.redact, &spec.env).task(&mut task);
            return Ok(task);
        }
        Ok(self.without_secrets(task))
    }

    /// Returns a task's limits on resources; its journal says how they are held.
    fn limits_of(&self, id: &TaskId, resources: &Resources) -> Result<Option<TaskLimits>> {
        if resources.is_none() {
            return Ok(None);
        }
        let enforcement = self.home.journal(id)?.iter().rev().find_map(|line| match line.entry {
            JournalEntry::Spawning { enforcement, .. } => enforcement,
            _ => None,
        });
        Ok(TaskLimits::of(resources, enforcement))
    }

    /// Lists tasks as they are.
    ///
    /// # Errors
    /// When the database fails.
    pub fn list(&self, filter: &Filter) -> Result<Page> {
        self.reconcile()?;
        let mut page = self.store()?.list(filter, &self.home.tasks())?;
        for task in &mut page.tasks {
            self.overlay(task);
            self.complete(task)?;
            self.redactor(&task.id).task(task);
        }
        Ok(page)
    }

    /// Returns how many come before a task in a list, wherever the page begins; nothing if it is not listed.
    ///
    /// # Errors
    /// When the database fails.
    pub fn place(&self, filter: &Filter, id: &TaskId) -> Result<Option<u64>> {
        Ok(self.store()?.place(filter, id)?)
    }

    /// Adds what is not stored because it changes while nobody writes.
    pub(crate) fn complete(&self, task: &mut Task) -> Result<()> {
        task.untended = self.untended.borrow().get(&task.id).cloned();
        match &task.state {
            TaskState::Pending { .. } => {
                task.queue_position = Some(self.store()?.queue_position(task)?);
                self.add_agent(task);
            }
            TaskState::Starting { .. } => {}
            TaskState::Running { process, started_at, .. }
            | TaskState::Cancelling { process, started_at, .. } => {
                // The time of day may be set while a task runs.
                let by_wall = || self.clock.now().ms_since(*started_at);
                task.duration_ms = Some(platform::running_ms(process).unwrap_or_else(by_wall));
                if let Some((end, dropped)) = self.output_size(task) {
                    (task.output_bytes, task.dropped_bytes) = (end, dropped);
                }
                if task.kind == TaskKind::Agent {
                    self.add_agent(task);
                }
                if task.agent.is_none() {
                    task.progress = self.progress(task);
                }
            }
            TaskState::Ended { .. } => {
                if task.survivors > 0
                    && let Ok(ControlReply::Status { tree, output_bytes, dropped_bytes, .. }) =
                        self.control(&task.id, Operation::Status)
                {
                    task.survivors = tree.len() as u32;
                    (task.output_bytes, task.dropped_bytes) = (output_bytes, dropped_bytes);
                }
            }
        }
        self.add_waiting(task)
    }

    pub(crate) fn control(&self, id: &TaskId, operation: Operation) -> Result<ControlReply> {
        let failed = |error: std::io::Error| Error::Refused {
            id: id.to_string(),
            message: format!("its supervisor cannot be reached: {error}"),
        };
        let mut line = Line::connect_patiently(&self.home, id).map_err(failed)?;
        let _ = line.set_patience(Some(Duration::from_secs(5)));
        line.ask(operation).map_err(failed)
    }

    /// Returns the processes of a task that live, as its supervisor sees them; none when it cannot be asked.
    #[must_use]
    pub fn processes_of(&self, id: &TaskId) -> Vec<u32> {
        match self.control(id, Operation::Status) {
            Ok(ControlReply::Status { pids, .. }) => pids,
            Ok(_) | Err(_) => Vec::new(),
        }
    }

    fn running(&self, handle: &str, scope: &Scope) -> Result<TaskId> {
        let id = self.resolve_for_deed(handle, scope)?;
        self.reconcile_task(&id)?;
        let task = self.stored(&id)?;
        if task.state.process().is_some() {
            return Ok(id);
        }
        Err(Error::WrongState {
            id: id.to_string(),
            status: task.status.word(),
            message: "it is not running".to_owned(),
        })
    }

    /// Opens a task's standard input for writing, as a pipe that waits until the task reads; nothing when it has none, or
    /// none any more. It has one from the moment on in which it has a pid.
    ///
    /// # Errors
    /// When it cannot be opened for another reason.
    pub fn open_input(&self, id: &TaskId) -> Result<Option<File>> {
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let failed =
            |error: Errno| Error::io(format!("cannot open the standard input of {id}"))(error.into());
        let end = match rustix::fs::open(self.home.task(id).join(STDIN_FIFO), flags, Mode::empty()) {
            Ok(end) => end,
            Err(Errno::NOENT | Errno::NXIO) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        rustix::io::ioctl_fionbio(&end, false).map_err(failed)?;
        Ok(Some(File::from(end)))
    }

    /// Types into a task's standard input; returns how many bytes it took. `eof` closes it after them.
    ///
    /// # Errors
    /// When the task does not run, has no open input, or does not read for five seconds.
    pub fn input(&self, handle: &str, scope: &Scope, data: &[u8], eof: bool) -> Result<u64> {
        const PART: usize = 32 << 10;
        let id = self.running(handle, scope)?;
        let patience = Instant::now() + Duration::from_secs(5);
        let mut sent = 0;
        loop {
            let part = &data[sent..(sent + PART).min(data.len())];
            let last = sent + part.len() == data.len();
            let (bytes, end_is_due) = self.type_some(&id, part, eof && last)?;
            sent += bytes;
            if sent == data.len() && !end_is_due {
                return Ok(sent as u64);
            }
            if Instant::now() > patience {
                let end = if sent == data.len() { ", and not their end" } else { "" };
                let message =
                    format!("it does not read its input: {sent} of {} bytes were taken{end}", data.len());
                return Err(Error::Refused { id: id.to_string(), message });
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Types as much into a task's standard input as it takes now. `eof` closes it once all of it was taken. Returns how many
    /// bytes were taken, and whether the end is still to be typed.
    ///
    /// # Errors
    /// When the task has no open input, or its supervisor cannot be reached.
    pub fn type_some(&self, id: &TaskId, data: &[u8], eof: bool) -> Result<(usize, bool)> {
        let refused = |message: String| Error::Refused { id: id.to_string(), message };
        match self.control(id, Operation::Input { data: RawText::from(data), eof })? {
            ControlReply::Done { bytes, eof_due } => Ok((bytes as usize, eof_due)),
            ControlReply::Refused { message } => Err(refused(message)),
            _ => Err(refused("its supervisor gave an odd answer".to_owned())),
        }
    }

    /// Changes the size of a task's terminal.
    ///
    /// # Errors
    /// When the task does not run or has no terminal.
    pub fn resize(&self, handle: &str, scope: &Scope, rows: u16, cols: u16) -> Result<()> {
        let id = self.running(handle, scope)?;
        match self.control(&id, Operation::Resize { rows, cols })? {
            ControlReply::Refused { message } => Err(Error::Refused { id: id.to_string(), message }),
            _ => Ok(()),
        }
    }

    /// Waits until a task's output has grown past an offset, or the task has ended, or for a while.
    ///
    /// # Errors
    /// When the database fails.
    pub fn wait_for_output(&self, id: &TaskId, seen: u64, longest: Duration) -> Result<()> {
        /// A task that was just started opens its socket in a moment.
        const MOMENT: Duration = Duration::from_millis(5);
        let ear = self.listen()?;
        let task = self.stored(id)?;
        if matches!(task.state, TaskState::Pending { .. }) {
            ear.wait(longest);
            // Whoever should have started it may have been killed.
            return self.reconcile();
        }
        let after_end = task.status.is_terminal();
        let Ok(mut line) = Line::connect(&self.home, id) else {
            ear.wait(longest.min(MOMENT));
            return Ok(());
        };
        let _ = line.set_patience(Some(longest));
        if line.send(Operation::Watch { offset: seen, after_end }).is_ok() {
            let _ = line.reply();
        }
        Ok(())
    }

    /// Returns events after a place in the stream, oldest first.
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
        self.reconcile()?;
        let events = self.store()?.events_after(seq, scope, task, most)?;
        Ok(self.events_without_secrets(events))
    }

    /// Returns the place of the newest event.
    ///
    /// # Errors
    /// When the database fails.
    pub fn last_event(&self) -> Result<i64> {
        Ok(self.store()?.last_event()?)
    }

    /// Begins to listen for writers; what happens after this call is heard.
    ///
    /// # Errors
    /// When no bell can be hung.
    pub fn listen(&self) -> Result<Ear> {
        Bell::hang(&self.home).map(Ear).map_err(Error::io("cannot listen for wake-ups"))
    }
}

/// Hears when somebody has written to a home.
pub struct Ear(Bell);

impl Ear {
    /// Sleeps until some writer has rung since the last call, or for a while.
    pub fn wait(&self, longest: Duration) {
        let timeout = Timespec { tv_sec: longest.as_secs() as i64, tv_nsec: longest.subsec_nanos().into() };
        let _ = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&timeout));
        self.0.clear();
    }
}
