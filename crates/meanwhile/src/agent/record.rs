//! Agent tasks: the record in the task's directory, and the socket of an agent that is kept alive.

use std::fs;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};

use mw_model::wire::{ACTIVITY_FILE, AGENT_FILE, AGENT_SOCKET, DIFF_FILE, TRANSCRIPT_FILE};
use mw_model::{Activity, AgentRecord, RunOrigin, TaskId, TaskKind, TaskSpec};

use crate::agent::Agents;
use crate::disk::platform::short;
use crate::error::{Error, Result};
use crate::redact::Redaction;
use crate::task::{AgentView, Task};

/// The message to an agent in a run.
#[derive(Clone, Debug)]
pub struct AgentMessage {
    /// The task.
    pub spec: TaskSpec,
    /// The number of the run.
    pub run: u32,
    /// The message: the prompt of the first run, a follow-up in later ones.
    pub text: String,
    /// Whether it follows an earlier answer.
    pub follows: bool,
}

impl Agents<'_> {
    /// Returns the message to the agent in a task's current run, for the agent's driver.
    ///
    /// # Errors
    /// When the task is not an agent's, or its files are damaged.
    pub fn agent_message(&self, id: &TaskId) -> Result<AgentMessage> {
        let spec = self.base.home.task(id).spec()?;
        let run = self.base.home.task(id).journal()?.iter().map(|line| line.run).max().unwrap_or(1);
        let follow_up = self.base.home.task(id).follow_up(run)?;
        let Some(agent) = &spec.agent else {
            let message = "it is not an agent's task".to_owned();
            return Err(Error::Damaged { id: id.clone(), message });
        };
        let follows = follow_up.is_some();
        let text = follow_up.unwrap_or_else(|| agent.prompt.clone());
        Ok(AgentMessage { run, text, follows, spec })
    }

    /// Returns an agent's messages and answers, as stored; empty before it has begun.
    #[must_use]
    pub fn agent_record(&self, id: &TaskId) -> AgentRecord {
        let text = fs::read(self.base.home.task(id).join(AGENT_FILE)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Stores an agent's messages and answers.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_agent_record(&self, id: &TaskId, record: &AgentRecord) -> Result<()> {
        let failed = || Error::io(format!("cannot write {AGENT_FILE} of {id}"));
        let text = serde_json::to_vec_pretty(record).map_err(|error| failed()(error.into()))?;
        self.base.home.task(id).replace(AGENT_FILE, &text).map_err(failed())
    }

    /// Stores what an agent is doing. Best effort: the next update replaces it.
    pub fn write_activity(&self, id: &TaskId, activity: &Activity) {
        if let Ok(text) = serde_json::to_vec(activity) {
            let _ = self.base.home.task(id).replace(ACTIVITY_FILE, &text);
        }
    }

    fn activity(&self, id: &TaskId) -> Option<Activity> {
        serde_json::from_slice(&fs::read(self.base.home.task(id).join(ACTIVITY_FILE)).ok()?).ok()
    }

    /// Returns the view of a task's agent; `None` for other tasks.
    pub(crate) fn agent_view(&self, id: &TaskId) -> Option<Box<AgentView>> {
        let agent = self.base.home.task(id).spec().ok()?.agent?;
        let record = self.agent_record(id);
        let directory = self.base.home.task(id);
        let shown = |name: &str| directory.join(name).to_string_lossy().into_owned();
        let last = record.turns.last();
        Some(Box::new(AgentView {
            name: agent.name,
            activity: self.activity(id).unwrap_or_default(),
            worktree: agent.worktree.map(|worktree| worktree.path.to_lossy()),
            diff_path: directory.join(DIFF_FILE).exists().then(|| shown(DIFF_FILE)),
            answer: record.answer().map(str::to_owned),
            error: last.and_then(|turn| turn.error.clone()),
            turns: record.turns.len(),
            record_path: shown(AGENT_FILE),
            transcript_path: shown(TRANSCRIPT_FILE),
            info: record.agent_info,
        }))
    }

    /// Adds the agent's view, follow-ups and progress to a task.
    pub(crate) fn add_agent(&self, task: &mut Task) {
        if task.kind != TaskKind::Agent {
            return;
        }
        task.agent = self.agent_view(&task.id);
        if task.resume_count > 0 {
            // Only accepted follow-ups count, and one that is running. If that one is not accepted, it no longer
            // counts after its end.
            let record = self.agent_record(&task.id);
            let is_follow_up = task.state.origin() == RunOrigin::Resume && !task.status.is_terminal();
            let is_counted = record.turn(task.state.run()).is_some_and(|turn| turn.accepted);
            task.resume_count = record.resumes() + u32::from(is_follow_up && !is_counted);
        }
        if let Some(agent) = task.agent.as_ref().filter(|_| !task.status.is_terminal()) {
            task.progress = agent.activity.progress();
        }
    }

    /// Connects to an agent that is kept alive for the next message.
    ///
    /// # Errors
    /// When there is none, or it has exited.
    pub fn lingering_agent(&self, id: &TaskId) -> io::Result<UnixStream> {
        short(&self.base.home.task(id).join(AGENT_SOCKET), |path| UnixStream::connect(path))
    }

    /// Creates the socket of an agent that is kept alive, for the process that keeps it.
    ///
    /// # Errors
    /// When the socket cannot be created.
    pub fn keep_agent(&self, id: &TaskId) -> io::Result<UnixListener> {
        short(&self.base.home.task(id).join(AGENT_SOCKET), |path| {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            UnixListener::bind(path)
        })
    }

    /// Returns an agent's answer of a run, without secrets; `None` for tasks without a record.
    #[must_use]
    pub fn agent_result(&self, id: &TaskId, run: u32) -> Option<String> {
        let result = self.agent_record(id).result_of(run)?;
        Some(Redaction::on(self.base).redactor(id).text(&result).into_owned())
    }
}
