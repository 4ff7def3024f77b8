//! Hands a task to a supervisor and reads its answer.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IoSlice};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use mw_model::wire::{
    Answer, Launch, MOST_SLOTS, Metadata, RefusalCode, SESSIONS_DIR, START_VERSION, SessionWatch,
    StartMessage,
};
use mw_model::{DEFAULT_SESSION, Dialect, Lifetime, Process, RawText, Status, TaskSpec, Timestamp};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::backend::{Stop, backend_of};
use super::fork_server;
use crate::disk::home::Home;
use crate::disk::session_dir::agent_sessions::kept_agent;
use crate::disk::session_dir::dir::SessionDir;
use crate::disk::session_dir::lease;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::redact::Redactor;
use crate::settings::{Programs, RedactSettings, Settings};

/// What a supervisor is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To execute a command.
    Spawn,
    /// To adopt a running task.
    Adopt,
}

impl Purpose {
    const fn word(self) -> &'static str {
        match self {
            Self::Spawn => "spawn",
            Self::Adopt => "adopt",
        }
    }
}

/// A supervisor process that waits for its start message. If this value is dropped first, the process exits.
pub struct Supervisor {
    /// The connection to it: a socket, because descriptors are passed through it.
    line: UnixStream,
    /// The process to wait for, if there is one.
    process: Option<Child>,
}

impl Supervisor {
    /// Starts a supervisor early, for a task that is about to be requested: it prepares on another core while the task is
    /// written to disk.
    ///
    /// # Errors
    /// When the program cannot be executed.
    pub fn summon(programs: &Programs) -> Result<Self> {
        Self::summon_for(programs, Purpose::Spawn, 1)
    }

    pub(crate) fn summon_for(programs: &Programs, purpose: Purpose, run: u32) -> Result<Self> {
        let path = &programs.supervisor;
        let stays = programs.starter_exits;
        if purpose == Purpose::Spawn
            && !stays
            && let Some(line) = fork_server::fork_supervisor(path, run)
        {
            return Ok(Self { line, process: None });
        }
        let no_socket = Error::io("cannot create a socket");
        let pair = UnixStream::pair().and_then(|(line, its_end)| Ok((line, its_end.try_clone()?, its_end)));
        let (line, stdin, stdout) = pair.map_err(no_socket)?;
        let process = Command::new(path)
            .args([purpose.word(), &run.to_string()])
            .args(stays.then_some("stay"))
            .stdin(OwnedFd::from(stdin))
            .stdout(OwnedFd::from(stdout))
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| Error::Supervisor { path: path.clone(), source })?;
        Ok(Self { line, process: (!stays).then_some(process) })
    }

    /// Sends it the task's directory, where it prepares. If it was killed, its answer will be missing.
    pub(crate) fn send_to(&self, directory: &File) {
        let _ = send(&self.line, b"d", &[directory.as_fd()]);
    }

    /// Sends it the start message and the slots; returns the process it started.
    pub(crate) fn hand_over(
        self,
        message: &StartMessage,
        slots: &[BorrowedFd<'_>],
    ) -> Result<(Process, Timestamp)> {
        let gone = |what: &str| Error::Spawn {
            code: RefusalCode::System,
            message: format!("the supervisor {what}"),
        };
        let text = serde_json::to_vec(message).map_err(|_| gone("did not accept the start message"))?;
        let _ = send(&self.line, &text, slots);
        let _ = self.line.shutdown(Shutdown::Write);
        fail_point("start-message-sent");
        let mut answer = String::new();
        if BufReader::with_capacity(256, &self.line).read_line(&mut answer).unwrap_or(0) == 0 {
            return Err(Error::Unanswered);
        }
        match serde_json::from_str(&answer) {
            Ok(Answer::Started { process, started_at }) => Ok((process, started_at)),
            Ok(Answer::Refused { code, message }) => Err(Error::Spawn { code, message }),
            Err(error) => Err(gone(&format!("gave an unreadable answer: {error}"))),
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // With a start message it continues without us; without one it exits at the end of its input.
        let _ = self.line.shutdown(Shutdown::Write);
        if let Some(process) = &mut self.process {
            let _ = process.wait();
        }
    }
}

/// Sends the message, and the descriptors with its first byte.
fn send(line: &UnixStream, text: &[u8], slots: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_SLOTS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !slots.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(slots));
    }
    let mut sent = sendmsg(line, &[IoSlice::new(text)], &mut ancillary, SendFlags::NOSIGNAL)?;
    while sent < text.len() {
        sent += rustix::net::send(line, &text[sent..], SendFlags::NOSIGNAL)?;
    }
    Ok(())
}

/// Returns the start message for executing a task.
pub(crate) fn spawn_message(settings: &Settings, spec: &TaskSpec, run: u32) -> Result<StartMessage> {
    let launch = backend_of(spec).plan(spec, run)?;
    Ok(message(settings, spec, run, launch))
}

/// Returns the start message for adopting a running task without a supervisor.
pub(crate) fn adopt_message(settings: &Settings, spec: &TaskSpec, run: u32, launch: Launch) -> StartMessage {
    message(settings, spec, run, launch)
}

fn message(settings: &Settings, spec: &TaskSpec, run: u32, launch: Launch) -> StartMessage {
    let mut settle = settings.programs.settle.clone();
    let ready = spec.ready.is_some().then(|| {
        let own = ["--ready", spec.id.as_str()].map(RawText::from);
        settle.iter().cloned().chain(own).collect()
    });
    settle.push(RawText::from(spec.id.as_str()));
    StartMessage {
        version: START_VERSION,
        task: spec.id.to_string(),
        launch,
        io: spec.io,
        limits: spec.limits.clone(),
        settle,
        // Tasks that an agent leaves behind move to the session that asked it.
        always_settle: spec.agent.is_some()
            || spec.hooks.unwrap_or_else(|| settings.hooks.any())
            || spec.trace.is_some_and(|trace| trace.is_exported()),
        ready,
        progress: spec.progress_fd,
        leader_first: backend_of(spec).stop() == Stop::LeaderFirst,
        log_header: spec.log_header.then(|| log_header(spec)),
        session: session_watch(settings, spec),
        metadata: metadata(spec, run, &settings.redact, None),
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
            None => (settings.session_grace_ms, lease::held(directory.path()).keeps(spec.lifetime)),
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
