//! Runs the slash commands about tasks.

use std::cell::Cell;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use meanwhile::engine::{GatedCall, KillRequest, ReadFrom, ReadRequest, Runtime, clean_text};
use meanwhile::{Error, Meanwhile, Scope, Task, TaskFilter};
use mw_desk::OpenRequest;
use mw_desk::text::error_text;
use mw_model::Status;
use mw_model::approval::Proposal;
use mw_model::signal::SIGKILL;
use mw_model::{TaskId, parse_short_handle};
use mw_policy::Tool;

use super::announcing::{Announcement, Announcing};
use super::core::Message;
use super::slash::Slash;
use crate::lock::Lock;
use mw_tools::call::{CallContext, CallRefusal, CallSettings, Caller, WaitDecision};
use mw_tools::dialects::{Dialect, DialectTools};
use mw_tools::operations::{ShellCall, start};
use mw_tools::screens::{self, Layout};

/// Runs commands about tasks on separate threads, because some wait for approval or for the end of a task.
#[derive(Clone)]
pub(super) struct CommandRunner {
    pub(super) home: Meanwhile,
    pub(super) call_settings: CallSettings,
    pub(super) layout: Layout,
    pub(super) dialect: Dialect,
    pub(super) messages: Sender<Message>,
    pub(super) queue: Queue,
    pub(super) announcing: Announcing,
}

/// Runs commands in order. Each waits until the previous one has finished or waits for approval or for the end of a
/// task.
#[derive(Clone, Default)]
pub(super) struct Queue(Arc<Mutex<Option<Receiver<()>>>>);

/// A command in the queue. The next command waits until this one gives up its turn. Notifications wait until its output
/// is shown.
struct QueuedCommand {
    turn: Cell<Option<Sender<()>>>,
    announcement: Cell<Option<Announcement>>,
}

impl Queue {
    /// Adds a command. Returns it, and a receiver that is closed when the previous command has given up its turn.
    fn join(&self, announcement: Announcement) -> (QueuedCommand, Option<Receiver<()>>) {
        let (done, next) = channel();
        let before = self.0.locked().replace(next);
        (QueuedCommand { turn: Some(done).into(), announcement: Some(announcement).into() }, before)
    }
}

/// Notifies the core when approval is required. Other commands and notifications continue until the answer.
struct Asking<'a> {
    runner: &'a CommandRunner,
    queued: &'a QueuedCommand,
}

impl Caller for Asking<'_> {
    fn while_waiting(&self, _: &[Task]) -> WaitDecision {
        WaitDecision::Continue
    }

    fn ask(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> meanwhile::engine::AskOutcome {
        const ANSWER_CHECK_INTERVAL: Duration = Duration::from_millis(50);
        let _ = self.runner.messages.send(Message::Asked(OpenRequest::of(proposal)));
        self.queued.turn.take();
        self.queued.announcement.take();
        let deadline = Instant::now() + self.runner.call_settings.policy.timeouts.wait;
        while !answered() && Instant::now() < deadline {
            thread::sleep(ANSWER_CHECK_INTERVAL);
        }
        // After approval, a task starts as soon as this returns.
        self.queued.announcement.set(Some(self.runner.announcing.begin()));
        meanwhile::engine::AskOutcome::Elsewhere
    }
}

impl meanwhile::engine::Asker for Asking<'_> {
    fn ask(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> meanwhile::engine::AskOutcome {
        Caller::ask(self, proposal, answered)
    }
}

impl CommandRunner {
    /// Runs a command and sends its output to the core.
    pub(super) fn run(self: &Arc<Self>, command: Slash) {
        let runner = Arc::clone(self);
        let (queued, before) = self.queue.join(self.announcing.begin());
        thread::spawn(move || {
            // Nothing is ever received: this returns when the previous command has released its turn.
            let _ = before.map(|before| before.recv());
            let text = runner.answer(command, &queued).unwrap_or_else(|error| runner.refused(&error));
            runner.print(text, &queued);
            queued.turn.take();
        });
    }

    /// Prints the output of a command. Notifications that waited for it are then shown.
    fn print(&self, text: String, queued: &QueuedCommand) {
        let _ = self.messages.send(Message::Printed(text, queued.announcement.take()));
    }

    fn refused(&self, error: &Error) -> String {
        match error {
            Error::NotFound(id) => format!("Task {id} not found."),
            // The request has named the command, and the hint is for models only.
            Error::NoConsent { why, .. } => format!("Not done: {why}."),
            error => format!("{}.", error_text(error)),
        }
    }

    fn scope(&self) -> Scope {
        Scope::Session(self.call_settings.session.clone())
    }

    /// Finds a task by its handle. A number refers to a task of this chat.
    fn resolve(&self, runtime: &Runtime, id: &str) -> Result<TaskId, Error> {
        if self.dialect.numbers_tasks() && parse_short_handle(id).is_some() {
            return runtime.reader().resolve_in_context(
                id,
                &self.call_settings.session,
                &self.call_settings.context_stamp,
            );
        }
        runtime.lookup().resolve(id, &self.scope())
    }

    /// Replaces the handle of a task by the one that it has in this chat.
    pub(super) fn seen(&self, mut task: Task) -> Task {
        // In another context, the number of the task refers to another task.
        task.context.take_if(|context| *context != self.call_settings.context_stamp);
        task
    }

    fn name(&self, task: &Task) -> String {
        self.dialect.handle(&self.seen(task.clone()))
    }

    fn answer(&self, command: Slash, queued: &QueuedCommand) -> Result<String, Error> {
        self.home.with(|runtime| match command {
            Slash::Background(command) => self.background(runtime, &command, queued),
            Slash::Tasks(status) => self.tasks(runtime, status.as_deref()),
            Slash::Status(id) => self.status(runtime, &id),
            Slash::End { id, signal } => self.end(runtime, &id, signal, queued),
            Slash::Restart(id) => self.restart(runtime, &id, queued),
            Slash::Resume { id, message } => {
                let id = self.resolve(runtime, &id)?;
                let task = runtime.starts().resume(id.as_str(), &self.scope(), &message)?;
                Ok(format!("Resumed task {}. You get a notification with its answer.", self.name(&task)))
            }
            // The core runs these commands itself.
            Slash::Answer { .. } | Slash::Mode(_) | Slash::Help => Ok(String::new()),
        })
    }

    fn background(&self, runtime: &Runtime, command: &str, queued: &QueuedCommand) -> Result<String, Error> {
        let caller = Asking { runner: self, queued };
        let tool = Tool::named("shell").unwrap_or(Tool::UNKNOWN);
        let cx = CallContext {
            tool,
            dialect: self.dialect,
            ..CallContext::new(runtime, &self.call_settings, &caller)
        };
        let call =
            (DialectTools::of(self.dialect).command)(command, &self.call_settings.shell).map(ShellCall::of);
        match call.and_then(|call| start(&call, &cx)) {
            Ok(task) => Ok(screens::started(&task, self.layout, self.dialect, runtime)),
            Err(CallRefusal::Engine(error)) => Err(error),
            Err(other) => Ok(format!("{other}.")),
        }
    }

    fn tasks(&self, runtime: &Runtime, status: Option<&str>) -> Result<String, Error> {
        const MAX_TASKS: u32 = 200;
        let words = screens::words(self.layout, self.dialect);
        if let Some(status) =
            status.filter(|status| !words.contains(status) && Status::from_word(status).is_none())
        {
            return Ok(format!("No status {status:?}; choose one of {}.", words.join(", ")));
        }
        let page = runtime.tasks().list(&TaskFilter { limit: MAX_TASKS, ..TaskFilter::new(self.scope()) })?;
        let wanted = |task: &Task| {
            let own = screens::word(task, self.layout, self.dialect);
            status.is_none_or(|word| task.status.word() == word || own == word)
        };
        let tasks: Vec<_> = page.tasks.into_iter().filter(wanted).map(|task| self.seen(task)).collect();
        Ok(screens::tasks(&tasks, self.layout, self.dialect))
    }

    fn status(&self, runtime: &Runtime, id: &str) -> Result<String, Error> {
        const LINES: u32 = 20;
        const BYTES: u64 = 16 << 10;
        let task = self.seen(runtime.tasks().task(self.resolve(runtime, id)?.as_str(), &self.scope())?);
        let request = ReadRequest {
            from: ReadFrom::TailLines(LINES.into()),
            max_bytes: BYTES,
            ..ReadRequest::default()
        };
        let read = runtime.reader().read_shown(task.id.as_str(), &self.scope(), &request)?;
        Ok(screens::one(&task, &clean_text(&read.text()), self.layout, self.dialect, runtime))
    }

    fn end(&self, runtime: &Runtime, id: &str, signal: i32, queued: &QueuedCommand) -> Result<String, Error> {
        let id = match parse_short_handle(id) {
            Some(_) => self.resolve(runtime, id)?,
            None => runtime.lookup().resolve_to_act(id, &self.scope())?,
        };
        let task = runtime.tasks().task(id.as_str(), &self.scope())?;
        let name = self.name(&task);
        if task.status.is_terminal() {
            let word = screens::word(&task, self.layout, self.dialect);
            return Ok(format!("Task {name} is not running (status: {word})."));
        }
        self.print(format!("Cancelling task {name}..."), queued);
        queued.turn.take();
        let grace_ms = (signal == SIGKILL).then_some(0);
        let request = KillRequest { by: "the user, in the chat".to_owned(), signal, grace_ms };
        let receipt = runtime.live().kill(task.id.as_str(), &self.scope(), &request)?;
        Ok(match receipt.survivors.len() {
            0 => format!("Task {name} cancelled."),
            left => format!("Task {name} cancelled; {left} of its processes are still alive."),
        })
    }

    fn restart(&self, runtime: &Runtime, id: &str, queued: &QueuedCommand) -> Result<String, Error> {
        let caller = Asking { runner: self, queued };
        let id = match parse_short_handle(id) {
            Some(_) => self.resolve(runtime, id)?.to_string(),
            None => id.to_owned(),
        };
        if let Some(tool) = Tool::named("restart") {
            let gated_call = GatedCall { tool, policy: &self.call_settings.policy, asker: &caller };
            runtime.approvals().pass_restart(id.as_str(), &self.scope(), &gated_call)?;
        }
        let task = runtime.starts().restart(id.as_str(), &self.scope())?;
        let name = self.name(&task);
        if task.never_ran() {
            let cause = task.cause.as_deref().unwrap_or(task.status.word());
            return Ok(format!("Task {name} did not start: {cause}"));
        }
        Ok(format!("Restarted task {name}. Use /status {name} to check progress."))
    }
}
