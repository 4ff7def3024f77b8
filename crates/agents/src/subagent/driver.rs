//! Drives one agent through one turn. This is the command of an agent task.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use meanwhile::Error;
use meanwhile::engine::{AgentMessage, Clock, DeliveryPolicy, Runtime, SystemClock, child_session};
use mw_model::wire::{DIFF_FILE, TRANSCRIPT_FILE};
use mw_model::{AgentRecord, AgentTurn, EnvVar, TaskId};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::link::AgentLink;
use super::transcript::{SubagentTranscript, TaskClient};
use super::turn::{AfterTurn, SubagentTurn};
use crate::acp::PolicyPermissions;
use crate::acp::client::Client;
use crate::acp::converse::Streams;
use crate::acp::error::AcpError;
use crate::acp::quirks::Quirks;
use crate::acp::terminals::Terminals;
use mw_tools::delegation::worktree;
use mw_tools::delegation::worktree::Changes;

/// The options of a driver.
pub struct DriverOptions {
    /// The agent task.
    pub task: TaskId,
    /// The permissions of the agent, with its directory, its shell and the settings of the engine.
    pub permissions: Arc<PolicyPermissions>,
    /// The environment of the agent's commands.
    pub env: Vec<EnvVar>,
    /// The path of `mw`, for the agent's MCP server.
    pub mw: PathBuf,
}

impl DriverOptions {
    /// Returns the environment of processes that belong to the session of the agent's tasks.
    pub(super) fn child_env(&self) -> Vec<EnvVar> {
        let mut env = self.env.clone();
        EnvVar::set(&mut env, "MEANWHILE_SESSION", &child_session(&self.task));
        env
    }
}

/// How long the remaining processes of an agent may take to exit after a kill.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);
/// The exit code of a turn without an answer.
const NO_ANSWER: u8 = 1;

/// Runs the turn of the current run of an agent task. Returns the exit code of the driver.
///
/// # Errors
/// When the task's files cannot be read or written.
pub fn drive(options: &DriverOptions) -> Result<u8, Error> {
    options.permissions.home.with(|runtime| drive_with(options, runtime))
}

fn drive_with(options: &DriverOptions, runtime: &Runtime) -> Result<u8, Error> {
    let id = options.task.clone();
    let message = runtime.agents().agent_message(&id)?;
    let mut record = runtime.agents().agent_record(&id);
    begin_turn(&mut record, &message);
    runtime.agents().write_agent_record(&id, &record)?;
    let child = child_session(&id);
    // The tasks of the agent end with this process, unless they are reassigned below.
    let host = runtime.notifications().host(&child, DeliveryPolicy::NextRun)?;
    let client = Arc::new(client(options, &message)?);
    let outcome = run_agent(options, &message, &mut record, &client, runtime);
    client.terminals.release_all();
    finish_turn(&mut record, &client, &outcome);
    finish_worktree(runtime, &message, &client);
    runtime.agents().write_agent_record(&id, &record)?;
    if outcome == Err(AcpError::Cancelled) {
        let _ = runtime.sessions().end_session(&child, "the end of its agent")?.all_done()?;
    } else {
        runtime.sessions().reassign(&child, &message.spec.session, "its agent has ended")?;
    }
    drop(host);
    end_rest(runtime, &id);
    Ok(if outcome.is_ok() { 0 } else { NO_ANSWER })
}

fn begin_turn(record: &mut AgentRecord, message: &AgentMessage) {
    record.version = AgentRecord::VERSION;
    if let Some(agent) = &message.spec.agent {
        record.agent.clone_from(&agent.name);
    }
    // A run that is repeated after a crash replaces its earlier record.
    record.turns.retain(|turn| turn.run != message.run);
    record.turns.push(AgentTurn {
        run: message.run,
        prompt: message.text.clone(),
        accepted: false,
        answer: None,
        error: None,
        stop_reason: None,
        started_at: SystemClock.now(),
        ended_at: None,
        activity: mw_model::Activity::default(),
    });
}

fn client(options: &DriverOptions, message: &AgentMessage) -> Result<TaskClient, Error> {
    let settings = options.permissions.home.settings();
    // The threads of the client write the transcript, so they need a separate connection.
    let runtime = Runtime::open(settings.clone())?;
    let file = runtime.home().task(&options.task).join(TRANSCRIPT_FILE);
    let transcript = SubagentTranscript::new(runtime, options.task.clone(), message.run, &file);
    let terminals = Terminals {
        permissions: Arc::clone(&options.permissions),
        session: child_session(&options.task),
        env: options.child_env(),
        limits: settings.limits.clone(),
        holder: None,
        known: Mutex::default(),
    };
    let quirks = Quirks::of(message.spec.agent.as_ref().map_or(&[], |agent| &agent.command));
    Ok(Client::new(Mutex::new(transcript), terminals, quirks))
}

/// Runs the turn with a new agent, or with one that a keeper holds. An agent that cannot load sessions is given to a
/// keeper.
fn run_agent(
    options: &DriverOptions,
    message: &AgentMessage,
    record: &mut AgentRecord,
    client: &Arc<TaskClient>,
    runtime: &Runtime,
) -> Result<String, AcpError> {
    let Some(agent) = &message.spec.agent else { return Err(AcpError::Cancelled) };
    let known = record.session_id.clone().filter(|_| message.follows);
    let mut turn =
        SubagentTurn { client, options, agent, known, prompt: &message.text, after_turn: AfterTurn::Unknown };
    if message.follows && !record.can_load {
        turn.after_turn = AfterTurn::Resident;
        let link = AgentLink::again(runtime, &options.task, record.keeper.clone())?;
        return run_turn(&turn, link, record, runtime);
    }
    if agent.linger_ms == 0 {
        turn.after_turn = AfterTurn::Passing;
    }
    let link = AgentLink::own(&agent.command, options)?;
    match run_turn(&turn, link, record, runtime) {
        Err(AcpError::NeedsKeeper) => {
            turn.after_turn = AfterTurn::Kept;
            let link = AgentLink::kept(runtime, options)?;
            record.keeper = link.0.keeper();
            run_turn(&turn, link, record, runtime)
        }
        outcome => outcome,
    }
}

fn run_turn(
    turn: &SubagentTurn<'_>,
    (link, streams): (AgentLink, Streams),
    record: &mut AgentRecord,
    runtime: &Runtime,
) -> Result<String, AcpError> {
    let mut outcome = turn.run(streams, &mut |change| {
        change(record);
        // If this fails, the record is written at the end, where an error is reported.
        let _ = runtime.agents().write_agent_record(&turn.options.task, record);
    });
    if let Err(AcpError::Gone { how }) = &mut outcome {
        *how = link.how_it_ended();
    }
    link.close(runtime, &outcome);
    outcome
}

fn finish_turn(record: &mut AgentRecord, client: &TaskClient, outcome: &Result<String, AcpError>) {
    let mut transcript = client.transcript();
    transcript.activity.waiting = None;
    transcript.write_now();
    let Some(turn) = record.turns.last_mut() else { return };
    turn.ended_at = Some(SystemClock.now());
    turn.activity = transcript.activity.clone();
    let said = transcript.answer();
    match outcome {
        Ok(reason) => {
            turn.stop_reason = Some(reason.clone());
            turn.answer = Some(said);
            transcript.print("");
        }
        Err(error) => {
            turn.error = Some(match said.is_empty() {
                true => error.to_string(),
                false => format!("{error}\nIts answer so far: {said}"),
            });
            transcript.print(&format!("✗ {error}"));
        }
    }
}

/// Saves the changes in the agent's worktree as a diff.
fn finish_worktree(runtime: &Runtime, message: &AgentMessage, client: &TaskClient) {
    let Some(worktree) = message.spec.agent.as_ref().and_then(|agent| agent.worktree.as_ref()) else {
        return;
    };
    let path = worktree.path.to_lossy();
    let line = match worktree::finish(worktree) {
        Changes::None => "the worktree had no changes and was removed".to_owned(),
        Changes::Commits => format!("no changed files; {path} was kept because it has commits"),
        Changes::Diff(diff) => {
            let file = runtime.home().task(&message.spec.id).join(DIFF_FILE);
            match fs::write(&file, diff) {
                Ok(()) => format!("changes in {path}, as a diff in {}", file.display()),
                Err(error) => format!("changes in {path}; the diff cannot be written: {error}"),
            }
        }
        Changes::Unknown(why) => format!("{path} was kept: {why}"),
    };
    client.transcript().print(&format!("[{line}]"));
}

fn open_process(pid: u32) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(i32::try_from(pid).ok()?)?, PidfdFlags::empty()).ok()
}

/// Kills the processes of the agent outside of its process group, because some agents start processes that outlive
/// them. Returns when they have exited, or after a second.
fn end_rest(runtime: &Runtime, id: &TaskId) {
    let me = std::process::id();
    let deadline = Instant::now() + KILL_TIMEOUT;
    loop {
        let left: Vec<_> = runtime.live().processes_of(id).into_iter().filter(|pid| *pid != me).collect();
        if left.is_empty() || Instant::now() > deadline {
            return;
        }
        let opened: Vec<_> = left.into_iter().filter_map(|pid| Some((pid, open_process(pid)?))).collect();
        // A pid may have been reused before it was opened. A process that still belongs to the task did so before.
        let still = runtime.live().processes_of(id);
        for (_, process) in opened.iter().filter(|(pid, _)| still.contains(pid)) {
            let _ = pidfd_send_signal(process, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
