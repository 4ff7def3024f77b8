//! `mw hook`: answers a host's hook with undelivered notifications.

use std::env;
use std::io::Read;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use clap::Args;
use meanwhile::Settings;
use meanwhile::engine::{Runtime, is_shared};
use mw_agents::hosts::{HOSTS, HookCall, HookMoment, Hooks, SessionEvidence, deliver, session_of};

use crate::context::{Context, Needs};
use crate::error::{CommandError, CommandResult};

/// How long a host may have to wait. Notifications that are not delivered by then wait for the next hook.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of the input. It holds the reply of a tool, which can be long.
const MAX_BYTES: u64 = 64 << 20;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The host that calls the hook: claude-code, codex or gemini
    host: String,
    /// Wait for a notification and wake the idle agent with it; for a hook that runs in the background
    #[arg(long)]
    wake: bool,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let host = self.host()?;
        let settings = context.config.settings.clone();
        if self.wake {
            return wait_and_wake(host, settings);
        }
        let (done, is_done) = mpsc::channel();
        // If it takes too long, it ends with this process, and its notifications are undelivered again.
        thread::spawn(move || done.send(answer(host, settings)));
        match is_done.recv_timeout(TIMEOUT) {
            Ok(answered) => answered?,
            Err(_) => warn(&format!(
                "no notifications delivered: the hook took longer than {} s",
                TIMEOUT.as_secs()
            )),
        }
        Ok(0)
    }

    /// Runs it and reports errors as warnings, because a failing hook disturbs the host.
    pub(crate) fn run_without_failing(self, json: bool) -> CommandResult {
        self.host()?;
        match Context::load(json, Needs::Settings).and_then(|context| self.run(&context)) {
            Ok(code) => Ok(code),
            Err(error) => {
                warn(&error.message);
                Ok(0)
            }
        }
    }

    fn host(&self) -> Result<HookHost, CommandError> {
        let host = HOSTS.iter().find(|host| host.id == self.host);
        if let Some(host) = host
            && let Some(hooks) = &host.hooks
        {
            return Ok(HookHost { id: host.id, hooks });
        }
        let message = match host {
            Some(host) => format!("{} has no hooks that can pass text to its agent", host.title),
            None => format!("unknown host {:?}", self.host),
        };
        let names: Vec<_> = HOSTS.iter().filter(|host| host.hooks.is_some()).map(|host| host.id).collect();
        let hint = format!("supported hosts: {}", names.join(", "));
        // Not the code for bad usage: 2 has another meaning for a host.
        Err(CommandError { exit: crate::exit_code::FAILURE, ..CommandError::usage(message, hint) })
    }
}

/// A host that has hooks.
#[derive(Clone, Copy)]
struct HookHost {
    id: &'static str,
    hooks: &'static Hooks,
}

fn warn(message: &str) {
    if !message.is_empty() {
        crate::render::aside(&format!("mw hook: {message}"));
    }
}

/// Reads the input from the host.
fn asked(host: HookHost) -> Result<HookCall, CommandError> {
    let mut asked = Vec::new();
    std::io::stdin().lock().take(MAX_BYTES).read_to_end(&mut asked)?;
    HookCall::parse(host.id, host.hooks, &asked).map_err(|why| {
        CommandError::usage(
            format!("unexpected input from {}: {why}", host.id),
            "report it with the host's version",
        )
    })
}

/// Returns what identifies the calling agent.
fn evidence(call: &HookCall) -> SessionEvidence {
    let mut evidence = call.evidence(|name| env::var(name).ok(), &env::current_dir().unwrap_or_default());
    evidence.project = real_path(evidence.project);
    evidence
}

/// Waits for a notification for the agent that has just stopped, and wakes it.
fn wait_and_wake(host: HookHost, settings: Settings) -> CommandResult {
    let call = asked(host)?;
    let Some(signal) = call.wake_signal(|name| env::var(name).ok()) else { return Ok(0) };
    if !settings.home.exists() {
        return Ok(0);
    }
    let runtime = Runtime::open(settings)?;
    let of_its_own = |session: &String| runtime.sessions().knows_session(session);
    match sessions(&runtime, &evidence(&call))?.into_iter().find(of_its_own) {
        Some(session) => Ok(signal.wait(&runtime, &session, &call)?),
        None => Ok(0),
    }
}

fn answer(host: HookHost, settings: Settings) -> Result<(), CommandError> {
    let call = asked(host)?;
    if call.moment == HookMoment::Silent || !settings.home.exists() {
        return Ok(());
    }
    let evidence = evidence(&call);
    let runtime = Runtime::open(settings)?;
    for session in sessions(&runtime, &evidence)? {
        if tell(&runtime, &session, &call)? {
            break;
        }
    }
    Ok(())
}

/// Returns the sessions whose notifications this agent may get: its own, and that of the server which the same host
/// started. They differ after Claude Code's `/clear`, which begins a session and keeps the servers of the old one.
fn sessions(runtime: &Runtime, evidence: &SessionEvidence) -> Result<Vec<String>, CommandError> {
    let mut sessions = vec![session_of(evidence)];
    if evidence.meanwhile_session.is_none() {
        let beside = runtime.sessions().served_beside(std::process::id())?;
        sessions.extend(beside.into_iter().filter(|session| *session != sessions[0]).collect::<Vec<_>>());
    }
    // Inside a task only the notifications of its own session are delivered.
    sessions.retain(|session| runtime.approvals().enclosing_session(Some(session)).as_ref() == Some(session));
    Ok(sessions)
}

/// Answers with the notifications of a session. Returns whether there were any.
fn tell(runtime: &Runtime, session: &str, call: &HookCall) -> Result<bool, CommandError> {
    if !runtime.sessions().knows_session(session) {
        return Ok(false);
    }
    let mut relay = runtime.notifications().relay(session)?;
    if is_shared(session) {
        relay = relay.of_starts_beside(std::process::id());
    }
    Ok(deliver(&relay, |notices| call.answer(notices), std::io::stdout().lock())?)
}

/// Resolves links, because the same directory must have one name.
fn real_path(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or(path)
}
