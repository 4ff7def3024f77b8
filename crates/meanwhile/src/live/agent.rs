//! Agent tasks: their record in the task's directory, and what passes on when one ends.

use std::fs;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};

use mw_model::wire::{
    ACTIVITY_FILE, AGENT_FILE, AGENT_SOCKET, DIFF_FILE, FOLLOW_UPS_DIR, KillReceipt, TRANSCRIPT_FILE,
};
use mw_model::{Activity, AgentRecord, Cause, Lifetime, RunOrigin, TaskId, TaskKind, TaskSpec, TaskState};

use super::kill::KillRequest;
use crate::disk::agent_sessions::{child_session, is_of_agent, keeper_session, kept_agent};
use crate::disk::bell::short;
use crate::disk::lease;
use crate::disk::look;
use crate::disk::store::Filter;
use crate::error::{Error, Result};
use crate::live::{Agents, Live};
use crate::redact::Redaction;
use crate::retain::Retention;
use crate::retain::clear::{ClearReport, Untold};
use crate::session::Sessions;
use crate::task::{AgentView, Scope, Task};

/// What an agent is to be asked in a run.
#[derive(Clone, Debug)]
pub struct AgentMessage {
    /// The task.
    pub spec: TaskSpec,
    /// The number of the run.
    pub run: u32,
    /// The message: the prompt of the first run, a follow-up in later ones.
    pub text: String,
    /// Whether it follows an answer.
    pub follows: bool,
}

impl Agents<'_> {
    /// Returns what an agent is to be asked in a task's present run. For whoever drives the agent.
    ///
    /// # Errors
    /// When the task is none of an agent's, or its files are damaged.
    pub fn agent_message(&self, id: &TaskId) -> Result<AgentMessage> {
        let spec = self.base.home.spec(id)?;
        let run = self.base.home.journal(id)?.iter().map(|line| line.run).max().unwrap_or(1);
        let follow_up = self.base.home.follow_up(id, run)?;
        let Some(agent) = &spec.agent else {
            let message = "it is not an agent's task".to_owned();
            return Err(Error::Damaged { id: id.to_string(), message });
        };
        let follows = follow_up.is_some();
        let text = follow_up.unwrap_or_else(|| agent.prompt.clone());
        Ok(AgentMessage { run, text, follows, spec })
    }

    /// Returns what an agent was asked and has answered, as it is stored; empty before it has begun.
    #[must_use]
    pub fn agent_record(&self, id: &TaskId) -> AgentRecord {
        let text = fs::read(self.base.home.task(id).join(AGENT_FILE)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Stores that.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_agent_record(&self, id: &TaskId, record: &AgentRecord) -> Result<()> {
        let failed = || Error::io(format!("cannot write {AGENT_FILE} of {id}"));
        let text = serde_json::to_vec_pretty(record).map_err(|error| failed()(error.into()))?;
        self.base.home.replace(id, AGENT_FILE, &text).map_err(failed())
    }

    /// Stores what an agent is doing. Best effort: the next word of it says the same and more.
    pub fn write_activity(&self, id: &TaskId, activity: &Activity) {
        if let Ok(text) = serde_json::to_vec(activity) {
            let _ = self.base.home.replace(id, ACTIVITY_FILE, &text);
        }
    }

    fn activity(&self, id: &TaskId) -> Option<Activity> {
        serde_json::from_slice(&fs::read(self.base.home.task(id).join(ACTIVITY_FILE)).ok()?).ok()
    }

    /// Returns what a task shows of its agent; nothing for other tasks.
    pub(crate) fn agent_view(&self, id: &TaskId) -> Option<Box<AgentView>> {
        let agent = self.base.home.spec(id).ok()?.agent?;
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

    /// Adds to a task what its agent does.
    pub(crate) fn add_agent(&self, task: &mut Task) {
        if task.kind != TaskKind::Agent {
            return;
        }
        task.agent = self.agent_view(&task.id);
        if task.resume_count > 0 {
            // Only what its session took counts, and a follow-up that is under way: should that not be taken, it no longer
            // counts when it has ended.
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
    /// When there is none, or no longer.
    pub fn lingering_agent(&self, id: &TaskId) -> io::Result<UnixStream> {
        short(&self.base.home.task(id).join(AGENT_SOCKET), |path| UnixStream::connect(path))
    }

    /// Makes the socket at which an agent that is kept alive is found. For whoever keeps it.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn keep_agent(&self, id: &TaskId) -> io::Result<UnixListener> {
        short(&self.base.home.task(id).join(AGENT_SOCKET), |path| {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            UnixListener::bind(path)
        })
    }

    /// Returns what a run of an agent answered, as it may be shown; nothing for tasks that keep no record.
    #[must_use]
    pub fn agent_result(&self, id: &TaskId, run: u32) -> Option<String> {
        let result = self.agent_record(id).result_of(run)?;
        Some(Redaction::on(self.base).redactor(id).text(&result).into_owned())
    }

    /// Passes on what an agent that has ended leaves behind in the session of its own: to whoever asked it, or to
    /// its end if the agent was to end.
    ///
    /// # Errors
    /// When the database fails, or a task cannot be reached.
    pub fn release_children(&self, task: &Task) -> Result<Vec<TaskId>> {
        let child = child_session(&task.id);
        if task.kind != TaskKind::Agent || !Sessions::on(self.base).knows_session(&child) {
            return Ok(Vec::new());
        }
        match task.cause_value() {
            Some(Cause::Cancelled { .. } | Cause::TimedOut { .. } | Cause::LimitReached { .. }) => {
                let _ = Sessions::on(self.base).end_session(&child, "the end of its agent")?.all_done()?;
                Ok(Vec::new())
            }
            Some(
                Cause::Exited { .. }
                | Cause::Signaled { .. }
                | Cause::SpawnFailed { .. }
                | Cause::Lost { .. }
                | Cause::Skipped { .. },
            )
            | None => Sessions::on(self.base).reassign(&child, &task.session, "its agent has ended"),
        }
    }

    /// Ends what keeps the agent of a task alive, if anything does.
    pub(crate) fn end_keeper(&self, id: &TaskId, request: &KillRequest) -> Result<Vec<KillReceipt>> {
        if !self.has_keeper(id) {
            return Ok(Vec::new());
        }
        let tasks = self.base.store()?.tasks_of(&keeper_session(id), &self.base.home.tasks())?;
        let ids: Vec<_> = tasks.into_iter().map(|task| task.id).collect();
        Live::on(self.base).kill_all(&ids, request).all_done()
    }

    /// Returns the agents that have answered, are kept alive for a follow-up, and end with their session.
    pub(crate) fn agents_kept_in(&self, session: &str, lifetimes: &[Lifetime]) -> Result<Vec<TaskId>> {
        let mut kept = Vec::new();
        let store = self.base.store()?;
        for task in store.unsettled(&self.base.home.tasks())? {
            let Some(agent) = kept_agent(&task.session) else { continue };
            let agent = store.task(&agent, &self.base.home.tasks())?;
            let ends = |agent: &Task| {
                agent.session == session
                    && lifetimes.contains(&agent.lifetime)
                    && matches!(agent.state, TaskState::Ended { .. })
            };
            kept.extend(agent.filter(ends).map(|agent| agent.id));
        }
        Ok(kept)
    }

    /// Tells without the database whether anything may have kept a task's agent alive.
    fn has_keeper(&self, id: &TaskId) -> bool {
        is_of_agent(id) && Sessions::on(self.base).knows_session(&keeper_session(id))
    }

    /// Removes what kept the agent of a removed task alive, with its session.
    pub(crate) fn remove_keeper(&self, id: &TaskId) -> Result<()> {
        if self.has_keeper(id) { self.remove_keeper_session(id) } else { Ok(()) }
    }

    /// Removes what kept agents of tasks that are gone: whoever removed those may have been killed before this.
    pub(crate) fn sweep_keepers(&self) -> Result<()> {
        for id in self.base.store()?.gone_with_keepers()? {
            // The agent's task is only unreadable while it has a directory.
            if !self.base.home.has_task(&id)? {
                self.remove_keeper_session(&id)?;
            }
        }
        Ok(())
    }

    /// Removes the sessions of agents whose tasks are gone, once none of their own tasks is left.
    pub(crate) fn sweep_child_sessions(&self) -> Result<()> {
        for entry in fs::read_dir(self.base.home.sessions()).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let agent = name.to_str().and_then(|name| name.parse::<TaskId>().ok()).filter(is_of_agent);
            let Some(agent) = agent else { continue };
            let session = child_session(&agent);
            let any = Filter { limit: 1, internal: true, ..Filter::new(Scope::Session(session.clone())) };
            let is_used = self.base.home.has_task(&agent)?
                || !lease::holders(&entry.path()).is_empty()
                || self.base.store()?.list(&any, &self.base.home.tasks())?.total > 0;
            if !is_used {
                self.base.transact(|transaction| Ok(transaction.forget_session(&session)?))?;
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        Ok(())
    }

    fn remove_keeper_session(&self, id: &TaskId) -> Result<()> {
        let session = keeper_session(id);
        let all = Filter { limit: u32::MAX, ..Filter::new(Scope::Session(session.clone())) };
        let tasks = self.base.store()?.list(&all, &self.base.home.tasks())?.tasks;
        let ids: Vec<_> = tasks.into_iter().map(|task| task.id).collect();
        Live::on(self.base)
            .kill_all(&ids, &KillRequest::term("the removal of its agent".to_owned()))
            .all_done()?;
        Retention::on(self.base).clear_finished(&ids, Untold::Goes, &mut ClearReport::default())?;
        self.base.transact(|transaction| Ok(transaction.forget_session(&session)?))?;
        let _ = fs::remove_dir_all(self.base.home.session(&session).path());
        Ok(())
    }
}

impl crate::disk::home::Home {
    /// Returns the message that made a run, if one did.
    pub(crate) fn follow_up(&self, id: &TaskId, run: u32) -> Result<Option<String>> {
        let text = look::read(&self.task(id).join(FOLLOW_UPS_DIR).join(run.to_string()))?;
        Ok(text.and_then(|text| String::from_utf8(text).ok()))
    }

    /// Counts the messages that made runs up to this one.
    pub(crate) fn follow_ups(&self, id: &TaskId, run: u32) -> Result<u32> {
        (2..=run).try_fold(0, |count, run| Ok(count + u32::from(self.follow_up(id, run)?.is_some())))
    }
}
