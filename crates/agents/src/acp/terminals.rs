//! `terminal/*`: a command that an agent runs is a task in the agent's session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use agent_client_protocol::v1::schema::{CreateTerminalRequest, TerminalExitStatus, TerminalOutputResponse};
use meanwhile::engine::{
    Approval, Condition, Holder, KillRequest, ReadFrom, ReadRequest, Runtime, TaskRequest, WaitRequest,
    clean_text,
};
use meanwhile::{Error, Scope, Task};
use mw_model::{CommandSpec, EnvVar, RawText, TaskId};

use super::permissions::PolicyPermissions;
use crate::lock::Lock;
use mw_tools::call::POLL_INTERVAL;

/// How much output of a terminal is returned if the agent sets no limit.
const USUAL_LIMIT: u64 = 1 << 20;

/// The terminals of one agent.
pub(crate) struct Terminals {
    /// The permissions of the agent, with its directory and shell.
    pub(crate) permissions: Arc<PolicyPermissions>,
    /// The session that owns the tasks.
    pub(crate) session: String,
    pub(crate) env: Vec<EnvVar>,
    pub(crate) limits: mw_model::Limits,
    /// The process that delivers the notifications of the session, if any. It does not deliver the ends that the agent
    /// waits for, and a person can move a command to the background.
    pub(crate) holder: Option<Holder>,
    /// How much output of each terminal is returned.
    pub(crate) known: Mutex<HashMap<String, u64>>,
}

impl Terminals {
    fn with<T>(&self, work: impl FnOnce(&Runtime) -> Result<T, Error>) -> Result<T, Error> {
        self.permissions.home.with(work)
    }

    fn scope(&self) -> Scope {
        Scope::Session(self.session.clone())
    }

    /// Returns the command of a request: a program with arguments, or a script.
    pub(crate) fn command(&self, request: &CreateTerminalRequest) -> CommandSpec {
        if request.args.is_empty() && request.command.contains(char::is_whitespace) {
            return CommandSpec::Shell {
                program: self.permissions.shell.clone(),
                script: request.command.as_str().into(),
            };
        }
        let words = std::iter::once(&request.command).chain(&request.args);
        CommandSpec::Argv(words.map(|word| RawText::from(word.as_str())).collect())
    }

    pub(crate) fn create(&self, request: &CreateTerminalRequest) -> Result<String, Error> {
        let mut env = self.env.clone();
        for added in &request.env {
            EnvVar::set(&mut env, &added.name, &added.value);
        }
        let cwd = request.cwd.clone().unwrap_or_else(|| self.permissions.cwd.clone());
        // It needs no slot, because the agent waits for it.
        let task = TaskRequest {
            uncounted: true,
            limits: self.limits.clone(),
            approval: Approval::Auto,
            reporter: self.holder.clone(),
            ..TaskRequest::new(&self.session, self.command(request), cwd, env)
        };
        let task = self.with(|runtime| runtime.starts().start(&task))?;
        let id = task.task.id.to_string();
        let limit = request.output_byte_limit.unwrap_or(USUAL_LIMIT);
        self.known.locked().insert(id.clone(), limit);
        Ok(id)
    }

    pub(crate) fn output(&self, id: &str) -> Result<TerminalOutputResponse, Error> {
        let most = self.known.locked().get(id).copied().unwrap_or(USUAL_LIMIT);
        let request =
            ReadRequest { from: ReadFrom::TailBytes(most), max_bytes: most, ..ReadRequest::default() };
        self.with(|runtime| {
            let task = runtime.tasks().task(id, &self.scope())?;
            let read = runtime.reader().read_shown(id, &self.scope(), &request)?;
            let mut text = clean_text(&read.text());
            if task.status.is_terminal() {
                self.note_reported(runtime, &task.id)?;
            } else if runtime.live().is_moved_to_background(&task.id) {
                let name = task.handle();
                text.push_str(&format!("\n[moved to the background by the user; it continues as {name}]\n"));
            }
            let reply = TerminalOutputResponse::new(text, read.has_earlier);
            Ok(reply.exit_status(task.status.is_terminal().then(|| exit_status(&task))))
        })
    }

    /// Returns the task of a terminal and its last lines, for a screen.
    pub(crate) fn tail(&self, id: &str) -> String {
        const LINES: u64 = 40;
        const BYTES: u64 = 8 << 10;
        let request =
            ReadRequest { from: ReadFrom::TailLines(LINES), max_bytes: BYTES, ..ReadRequest::default() };
        let read = self.with(|runtime| {
            let task = runtime.tasks().task(id, &self.scope())?;
            let text = clean_text(&runtime.reader().read_shown(id, &self.scope(), &request)?.text());
            Ok(format!("[{}]\n{text}", task.handle()))
        });
        read.unwrap_or_else(|error| format!("[{id}: {error}]"))
    }

    pub(crate) fn wait(&self, id: &str) -> Result<TerminalExitStatus, Error> {
        self.with(|runtime| {
            let request = WaitRequest {
                tasks: vec![runtime.lookup().resolve(id, &self.scope())?],
                any: false,
                condition: Condition::Exit,
                timeout: None,
                poll_interval: self.holder.is_some().then_some(POLL_INTERVAL),
            };
            let waited = runtime.reader().wait_with(&request, |tasks| {
                !tasks.iter().any(|task| runtime.live().is_moved_to_background(&task.id))
            })?;
            let task = waited.tasks.into_iter().next().ok_or_else(|| Error::NotFound(id.to_owned()))?;
            if task.status.is_terminal() {
                self.note_reported(runtime, &task.id)?;
            } else {
                self.leave(runtime, &task.id)?;
            }
            Ok(exit_status(&task))
        })
    }

    /// Records that the agent knows how a task ended.
    fn note_reported(&self, runtime: &Runtime, task: &TaskId) -> Result<(), Error> {
        let kept = match &self.holder {
            Some(holder) => runtime.notifications().complete_reservation(task, holder)?,
            None => false,
        };
        if kept { Ok(()) } else { runtime.notifications().note_known(task) }
    }

    /// Lets the agent get a notification of a task's end, because it no longer waits for it.
    fn leave(&self, runtime: &Runtime, task: &TaskId) -> Result<(), Error> {
        self.holder
            .as_ref()
            .map_or(Ok(()), |holder| runtime.notifications().release_reservation(task, holder))
    }

    /// Lets the agent get notifications for all running tasks, because the turn that started them has ended.
    pub(crate) fn leave_all(&self) {
        for id in self.ids() {
            // If this fails, it happens when this process ends.
            let _ = self.with(|runtime| {
                let task = runtime.tasks().task(&id, &self.scope())?;
                if task.status.is_terminal() { Ok(()) } else { self.leave(runtime, &task.id) }
            });
        }
    }

    fn ids(&self) -> Vec<String> {
        self.known.locked().keys().cloned().collect()
    }

    /// Ends the command of a terminal, unless a person moved it to the background.
    pub(crate) fn kill(&self, id: &str) -> Result<(), Error> {
        self.with(|runtime| {
            let task = runtime.lookup().resolve(id, &self.scope());
            if task.is_ok_and(|task| runtime.live().is_moved_to_background(&task)) {
                return Ok(());
            }
            let request = KillRequest::term("its agent".to_owned());
            runtime.notifications().kill_as_owner(&[id], &self.session, &request)?.all_done().map(drop)
        })
    }

    /// Ends the command of a terminal and forgets the terminal. The task stays recorded.
    pub(crate) fn release(&self, id: &str) -> Result<(), Error> {
        self.kill(id)?;
        self.known.locked().remove(id);
        Ok(())
    }

    /// Ends all of them.
    pub(crate) fn release_all(&self) {
        for id in self.ids() {
            // One that cannot be reached ends with its session.
            let _ = self.release(&id);
        }
    }
}

fn exit_status(task: &Task) -> TerminalExitStatus {
    let code = task.exit_code.and_then(|code| u32::try_from(code).ok());
    TerminalExitStatus::new().exit_code(code).signal(task.signal.clone())
}
