//! `mw session`: run a host, list sessions, end or delete one.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::thread;

use clap::{Args, Subcommand};
use meanwhile::model::DEFAULT_SESSION;
use meanwhile::{DeliveryPolicy, Runtime};
use rustix::process::{Pid, Signal};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::exit_code;
use crate::render;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// List sessions that have tasks
    List,
    /// Run a program as the session's host; the session's tasks end with it
    Run {
        /// The session
        name: String,
        /// Program and arguments
        #[arg(last = true, required = true, value_name = "PROGRAM")]
        program: Vec<OsString>,
    },
    /// Pass a session's unfinished tasks, and what was not told of them, on to another
    Reassign {
        /// The session that has them
        from: String,
        /// The session that gets them
        to: String,
        /// Why, for the record
        #[arg(long, default_value = "asked for by the user")]
        reason: String,
    },
    /// End a session's tasks, all at once; detached ones live on
    End {
        /// The session
        name: String,
    },
    /// End a session's tasks and remove them, their files and its messages
    Delete {
        /// The session
        name: String,
    },
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let usable = |name| checked(name).and_then(|name| reachable(context, name));
        match self.what {
            What::List => list(context),
            What::Run { name, program } => host(context, &usable(name)?, &program),
            What::Reassign { from, to, reason } => reassign(context, &usable(from)?, &usable(to)?, &reason),
            What::End { name } => end(context, &usable(name)?),
            What::Delete { name } => delete(context, &usable(name)?),
        }
    }
}

/// The tasks of the person at the terminal belong to no session.
fn checked(name: String) -> Result<String, CommandError> {
    let odd = name.is_empty() || name.len() > 200 || name.chars().any(char::is_control);
    if odd || name == DEFAULT_SESSION {
        return Err(CommandError::usage(
            format!("{name:?} is not a session"),
            "use up to 200 printable characters; mw session list shows those that have tasks",
        ));
    }
    Ok(name)
}

/// What runs in a task reaches no session but its own, and those that it begins.
fn reachable(context: &Context, name: String) -> Result<String, CommandError> {
    if context.runtime()?.may_act_for(&name) {
        return Ok(name);
    }
    Err(CommandError::usage(
        format!("session {name} is out of reach: this command is part of a task of another session"),
        "run it outside of tasks, or choose a name that nobody uses",
    ))
}

fn list(context: &Context) -> CommandResult {
    let runtime = context.runtime()?;
    let mut sessions = runtime.sessions()?;
    sessions.retain(|session| runtime.may_act_for(&session.id));
    if context.json {
        render::json(&json!({ "sessions": sessions }))?;
        return Ok(0);
    }
    for session in &sessions {
        render::out(&format!(
            "{}  {} live of {}, {} untold, {}\n",
            session.id,
            session.live,
            mw_desk::text::count(session.tasks as usize, "task", "tasks"),
            session.notices,
            mw_desk::text::count(session.hosts, "host", "hosts"),
        ))?;
    }
    Ok(0)
}

/// The session ends with the program, whichever way that goes; if this process is killed, the supervisors see to it.
fn host(context: &Context, session: &str, program: &[OsString]) -> CommandResult {
    let runtime = context.runtime()?;
    let host = runtime.host(session, DeliveryPolicy::NextRun)?;
    // What runs in the session can change its environment, and must not loosen anything by that.
    // Inside a task of a session with such rules they hold for this one, too.
    let around = runtime.session_around(None).map(|outer| runtime.house_rules(&outer)).transpose()?.flatten();
    let rules = around.map_or_else(|| context.config.house_rules(), Ok)?;
    runtime.set_house_rules(session, &rules)?;
    let [name, arguments @ ..] = program else {
        return Err(CommandError::usage("no program is named", "write mw session run NAME -- PROGRAM"));
    };
    let status = run_to_its_end(Command::new(name).args(arguments).env("MEANWHILE_SESSION", session));
    let kills = host.end_tasks("the end of its session")?;
    drop(host);
    if !kills.receipts.is_empty() {
        let tasks = mw_desk::text::count(kills.receipts.len(), "task", "tasks");
        render::note(&format!("session {session} ended, and {tasks} with it"));
    }
    for failure in &kills.failures {
        render::note(&format!("not ended: {}", failure.error));
    }
    let status = status.map_err(|error| {
        CommandError::usage(
            format!("{} cannot be run: {error}", name.to_string_lossy()),
            "name a program that exists",
        )
    })?;
    let by_signal = status.signal().map(|signal| exit_code::SIGNAL_BASE + signal);
    Ok(status.code().or(by_signal).unwrap_or(1) as u8)
}

/// Runs a program. What ends programs ends this one, and not us: its session is still to be ended.
fn run_to_its_end(command: &mut Command) -> io::Result<ExitStatus> {
    let mut signals = SignalsInfo::<WithOrigin>::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    let handle = signals.handle();
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let passing_on = thread::spawn(move || {
        for found in &mut signals {
            // A terminal sends its signals to both of us.
            if let (Some(_), Some(signal)) = (found.process, Signal::from_named_raw(found.signal)) {
                let _ = rustix::process::kill_process(pid, signal);
            }
        }
    });
    let status = child.wait();
    handle.close();
    let _ = passing_on.join();
    status
}

/// Opens the home for a session that has tasks there: a name that was mistyped should not look like a success.
fn with_tasks(context: &Context, session: &str) -> Result<Runtime, CommandError> {
    context.speak_for(session)?;
    let runtime = context.runtime()?;
    if runtime.sessions()?.iter().any(|known| known.id == session) {
        return Ok(runtime);
    }
    let hint = "mw session list shows the sessions that have tasks";
    Err(CommandError::not_found(format!("no session {session:?} has tasks"), hint))
}

fn reassign(context: &Context, from: &str, to: &str, reason: &str) -> CommandResult {
    if from == to {
        return Err(CommandError::usage(
            "both sessions are the same",
            "name another one to pass the tasks on to",
        ));
    }
    let tasks = with_tasks(context, from)?.reassign(from, to, reason)?;
    if context.json {
        render::json(&json!({ "tasks": tasks }))?;
    } else {
        render::out(&format!("passed {} on to {to}\n", mw_desk::text::count(tasks.len(), "task", "tasks")))?;
    }
    Ok(0)
}

fn end(context: &Context, session: &str) -> CommandResult {
    let runtime = with_tasks(context, session)?;
    let kills = runtime.end_session(session, &context.requester())?;
    super::kill::show(context, &runtime, kills, false)
}

fn delete(context: &Context, session: &str) -> CommandResult {
    let report = with_tasks(context, session)?.delete_session(session, &context.requester())?;
    if context.json {
        render::json(&report)?;
    } else {
        render::out(&format!("removed {} tasks\n", report.cleared.len()))?;
        for kept in &report.kept {
            render::out(&format!("kept {}: {}\n", kept.id, kept.reason))?;
        }
    }
    Ok(0)
}
