//! The message that a supervisor is started with.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use mw_model::wire::{
    Launch, Metadata, PLAIN_START_VERSION, RefusalCode, SESSIONS_DIR, START_VERSION, SessionWatch,
    StartMessage,
};
use mw_model::{
    CALLS_VARIABLE, DEFAULT_SESSION, Dialect, Lifetime, Limits, Process, RawText, Resources, Status,
    TaskSpec, Timestamp,
};

use super::backend::{Plan, Stop, backend_of};
use crate::confine::confinement;
use crate::disk::home::Home;
use crate::disk::session_dir::agent_sessions::kept_agent;
use crate::disk::session_dir::dir::SessionDir;
use crate::disk::session_dir::lease;
use crate::error::{Error, Result};
use crate::redact::Redactor;
use crate::settings::{RedactSettings, Settings};

/// Returns the start message for executing a task.
pub(crate) fn spawn_message(settings: &Settings, spec: &TaskSpec, run: u32) -> Result<StartMessage> {
    let backend = backend_of(settings, spec);
    let plan = backend.plan(&settings.home, spec, run)?;
    let mut message = start_message(settings, spec, run, plan);
    // A driver runs on this machine, its task elsewhere.
    if let Some(confinement) = confinement(spec, &settings.home).filter(|_| backend.runs_here()) {
        message.version = START_VERSION;
        if let (Launch::Spawn { env, .. }, Some(calls)) = (&mut message.launch, &confinement.calls) {
            env.push([CALLS_VARIABLE.as_bytes(), b"=", calls.as_bytes()].concat().into());
        }
        message.confinement = Some(Box::new(confinement));
    }
    Ok(message)
}

/// Returns the start message for taking over a task that runs, or ran.
pub(super) fn adopt_message(
    settings: &Settings,
    spec: &TaskSpec,
    run: u32,
    (process, started_at): (Process, Timestamp),
) -> StartMessage {
    let backend = backend_of(settings, spec);
    // Without its driver, the task ends when the driver that runs now ends.
    let plan = if backend.runs_here() { None } else { backend.plan(&settings.home, spec, run).ok() };
    let driver = plan.and_then(|plan| plan.driver);
    start_message(settings, spec, run, Plan { launch: Launch::Adopt { process, started_at }, driver })
}

fn start_message(settings: &Settings, spec: &TaskSpec, run: u32, plan: Plan) -> StartMessage {
    let backend = backend_of(settings, spec);
    let mut settle = settings.executables.settle.clone();
    let ready = spec.ready.is_some().then(|| {
        let own = ["--ready", spec.id.as_str()].map(RawText::from);
        settle.iter().cloned().chain(own).collect()
    });
    settle.push(RawText::from(spec.id.as_str()));
    // Limits of processes elsewhere are enforced there.
    let resources = if backend.runs_here() { spec.limits.resources } else { Resources::default() };
    StartMessage {
        version: if plan.driver.is_some() { START_VERSION } else { PLAIN_START_VERSION },
        task: spec.id.clone(),
        launch: plan.launch,
        io: spec.io,
        limits: Limits { resources, ..spec.limits.clone() },
        settle,
        // Tasks that an agent leaves behind move to the session that asked it. Another run may follow.
        always_settle: spec.agent.is_some()
            || spec.hooks.unwrap_or_else(|| settings.hooks.any())
            || spec.trace.is_some_and(|trace| trace.is_exported())
            || spec.schedule.as_ref().is_some_and(|schedule| schedule.may_run_again()),
        ready,
        progress: spec.progress_fd,
        leader_first: backend.stop() == Stop::LeaderFirst,
        log_header: spec.log_header.then(|| log_header(spec)),
        session: session_watch(settings, spec),
        metadata: metadata(spec, run, &settings.redact, None),
        driver: plan.driver,
        caller_cpu: None,
        confinement: None,
    }
}

/// Returns the session that a task ends with, if any. Tasks of the default session end with none. The keeper of an
/// agent ends with the agent's session.
pub(crate) fn session_watch(settings: &Settings, spec: &TaskSpec) -> Option<SessionWatch> {
    let home = std::path::absolute(&settings.home).unwrap_or_else(|_| settings.home.clone());
    let agent = kept_agent(&spec.session).and_then(|agent| Home::unchecked(&home).task(&agent).spec().ok());
    let spec = agent.as_ref().unwrap_or(spec);
    let ends = match spec.lifetime {
        Lifetime::Session | Lifetime::Client => spec.session != DEFAULT_SESSION,
        Lifetime::Kept | Lifetime::Detached => false,
    };
    ends.then(|| {
        let directory = SessionDir::of(&home.join(SESSIONS_DIR), &spec.session);
        let (grace_ms, hosted) = match spec.bond {
            Some(bond) => (bond.grace_ms, bond.held),
            // An earlier version wrote the spec.
            None => (settings.session_grace_ms(), lease::held(directory.path()).keeps(spec.lifetime)),
        };
        let directory = RawText::from(directory.path().as_os_str().as_bytes());
        let servers = spec.lifetime == Lifetime::Client;
        SessionWatch { directory, grace_ms, hosted, servers }
    })
}

/// Returns the header of a log without its last line: the supervisor adds the start time.
fn log_header(spec: &TaskSpec) -> String {
    format!(
        "# Background task: {}\n# Command: {}\n# Approved by: {} at {}\n",
        spec.handle(),
        spec.to_line().replace('\n', " "),
        spec.approved_by,
        spec.approved_at,
    )
}

/// Returns the metadata file that co-cli's tools read; `None` for a task of another dialect. It has the names of
/// variables but not their values, and no secrets of the command. Text that was hidden while the task was queued
/// stays hidden, whichever process launches it.
pub(crate) fn metadata(
    spec: &TaskSpec,
    run: u32,
    settings: &RedactSettings,
    waiting: Option<Metadata>,
) -> Option<Metadata> {
    if spec.dialect != Dialect::CoCli {
        return None;
    }
    let agent = spec.agent.as_deref();
    let (words, description, prompt) = match waiting {
        Some(waiting) => (waiting.command, waiting.description, waiting.prompt),
        None => (
            spec.command.argv().iter().map(RawText::to_lossy).collect(),
            spec.description.clone().unwrap_or_else(|| spec.to_line()),
            agent.map(|agent| agent.prompt.clone()),
        ),
    };
    let mut texts: Vec<_> = words.iter().map(String::as_str).collect();
    texts.push(&description);
    texts.extend(prompt.as_deref());
    let redactor = Redactor::for_texts(settings, &spec.env, &texts);
    Some(Metadata {
        task_id: spec.handle(),
        created_at: spec.created_at,
        started_at: None,
        completed_at: None,
        status: Status::Running,
        command: redactor.words(&words),
        cwd: spec.cwd.to_lossy(),
        env: spec.env.iter().map(|var| var.name.to_lossy()).collect(),
        description: redactor.text(&description).into_owned(),
        subagent_type: agent.map(|agent| agent.name.clone()),
        prompt: prompt.as_ref().map(|prompt| redactor.text(prompt).into_owned()),
        pid: None,
        exit_code: None,
        trace_id: spec.trace.map(|trace| trace.trace_id),
        span_id: spec.trace.map(|trace| trace.execute_span(run)),
        approved_by: spec.approved_by.clone(),
        approved_at: spec.approved_at,
    })
}

/// Refuses a working directory that no longer exists.
pub(crate) fn check_place(cwd: &RawText) -> Result<()> {
    let directory = Path::new(OsStr::from_bytes(cwd.as_bytes()));
    if directory.is_dir() {
        return Ok(());
    }
    let message = format!("{} is no longer a directory", directory.display());
    Err(Error::Spawn { code: RefusalCode::Directory, message })
}
