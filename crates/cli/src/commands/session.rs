//! `mw session`: runs a host, lists, ends or deletes sessions.

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::thread;

use clap::{Args, Subcommand};
use meanwhile::Meanwhile;
use meanwhile::engine::model::wire::KillReceipt;
use meanwhile::engine::model::{DEFAULT_SESSION, LONGEST_SESSION_NAME, Requester};
use meanwhile::engine::{DeliveryPolicy, Runtime, SessionInfo, SessionPolicy, check_session_name};
use mw_desk::rows::{KillOutcome, ended_by};
use mw_desk::text::count;
use mw_tools::call::CallSettings;
use mw_tools::task_calls::TaskCalls;
use rustix::process::{Pid, Signal};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;

use crate::arguments::environment::current_umask;
use crate::config::call_settings::call_settings;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::exit_code;
use crate::hints;
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
        /// The program and its arguments
        #[arg(last = true, required = true, value_name = "PROGRAM")]
        program: Vec<OsString>,
    },
    /// Move a session's live tasks and undelivered notifications to another session
    Reassign {
        /// The session to move from
        from: String,
        /// The session to move to
        to: String,
        /// A reason for the record
        #[arg(long, default_value = "requested by the user")]
        reason: String,
    },
    /// End all tasks of a session; detached tasks keep running
    End {
        /// The session
        name: String,
    },
    /// End all tasks of a session and remove them, their files and its notifications
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
            What::Run { name, program } => {
                context.config.check()?;
                host(context, &usable(name)?, &program)
            }
            What::Reassign { from, to, reason } => reassign(context, &usable(from)?, &usable(to)?, &reason),
            What::End { name } => end(context, &usable(name)?),
            What::Delete { name } => delete(context, &usable(name)?),
        }
    }
}

/// Checks the name of a session. The default session has no host.
fn checked(name: String) -> Result<String, CommandError> {
    if check_session_name(&name).is_err() || name == DEFAULT_SESSION {
        return Err(CommandError::usage(
            format!("{name:?} is not a session"),
            format!(
                "use 1 to {LONGEST_SESSION_NAME} printable characters; mw session list shows those that have tasks"
            ),
        ));
    }
    Ok(name)
}

/// A task reaches only its own session and sessions that it has started.
fn reachable(context: &Context, name: String) -> Result<String, CommandError> {
    if context.runtime()?.approvals().may_act_for(&name) {
        return Ok(name);
    }
    Err(CommandError::usage(
        format!("cannot reach session {name}: this command is part of a task of another session"),
        "run it outside tasks, or choose an unused name",
    ))
}

fn list(context: &Context) -> CommandResult {
    let runtime = context.runtime()?;
    let mut sessions = runtime.sessions().list()?;
    sessions.retain(|session| runtime.approvals().may_act_for(&session.id));
    context.show(&json!({ "sessions": sessions }), || table(&sessions, context.colour()))
}

/// Draws sessions as a table. Numbers are aligned to the right.
fn table(sessions: &[SessionInfo], colour: bool) -> String {
    if sessions.is_empty() {
        return "No sessions.\n".to_owned();
    }
    let heading = ["SESSION", "LIVE", "TASKS", "UNDELIVERED", "HOSTS"].map(str::to_owned);
    let row = |session: &SessionInfo| {
        let SessionInfo { id, live, tasks, notices, hosts } = session;
        [id.clone(), live.to_string(), tasks.to_string(), notices.to_string(), hosts.to_string()]
    };
    let name = |id: &str| mw_desk::text::columns(id);
    let widest = sessions.iter().map(|session| name(&session.id)).max().unwrap_or(0).max(heading[0].len());
    let line = |[id, rest @ ..]: &[String; 5]| {
        let numbers = rest.iter().zip(&heading[1..]).map(|(text, head)| format!("  {text:>0$}", head.len()));
        format!("{id}{}{}", " ".repeat(widest - name(id)), numbers.collect::<String>())
    };
    let mut text = render::paint(&line(&heading), "1", colour) + "\n";
    for session in sessions {
        let code = if session.live > 0 { "36" } else { "2" };
        text.push_str(&render::paint(&line(&row(session)), code, colour));
        text.push('\n');
    }
    text
}

/// Runs a host. The session ends with the program. If this process is killed, the supervisors end the tasks.
fn host(context: &Context, session: &str, program: &[OsString]) -> CommandResult {
    let runtime = context.runtime()?;
    let is_hosted = runtime.sessions().is_hosted(session);
    let host = runtime.notifications().host(session, DeliveryPolicy::NextRun)?;
    set_policy(context, &runtime, session, is_hosted)?;
    let _answering = answer_tasks(context, &runtime, session)?;
    let [name, arguments @ ..] = program else {
        return Err(CommandError::usage("no program given", "write mw session run NAME -- PROGRAM"));
    };
    let status = run_to_its_end(Command::new(name).args(arguments).env("MEANWHILE_SESSION", session));
    let kills = host.end_tasks(&Requester::SessionEnd.to_string())?;
    drop(host);
    if let Some(ended) = ended_words(&kills.receipts) {
        render::note(&format!("session {session} ended, and {ended} with it"));
    }
    for failure in &kills.failures {
        render::note(&format!("could not end: {}", failure.error));
    }
    let status = status.map_err(|error| {
        CommandError::usage(
            format!("cannot run {}: {error}", name.to_string_lossy()),
            "give an existing program",
        )
    })?;
    let by_signal = status.signal().map(exit_code::of_signal);
    Ok(status.code().map(|code| code as u8).or(by_signal).unwrap_or(exit_code::FAILURE))
}

/// Answers the confined tasks of a session by its policy, until this is dropped.
fn answer_tasks(context: &Context, runtime: &Runtime, session: &str) -> Result<TaskCalls, CommandError> {
    let session_policy = runtime.approvals().session_policy(session)?;
    let (cwd, umask) = (env::current_dir()?, current_umask());
    let settings = CallSettings {
        session: session.to_owned(),
        ..call_settings(&context.config, cwd, None, umask, session_policy.as_ref())?
    };
    let answering = TaskCalls::default();
    let home = Meanwhile::open_lazy(context.config.settings.clone());
    answering.hold(&home, session, move |runtime| settings.clone().in_mode_of_session(runtime));
    Ok(answering)
}

/// Stores the policy of a session. Its tasks can change their environment, which must not loosen the policy: a session that
/// a host holds, or whose own task runs this, keeps the policy that it has. Inside a task of another session, the policy of
/// that session holds.
fn set_policy(
    context: &Context,
    runtime: &Runtime,
    session: &str,
    is_hosted: bool,
) -> Result<(), CommandError> {
    let approvals = runtime.approvals();
    let outer = approvals.enclosing_session(None);
    let has_policy = approvals.session_policy(session)?.is_some();
    if outer.as_deref() == Some(session) || (is_hosted && has_policy) {
        return Ok(());
    }
    let around = outer.as_ref().map(|outer| approvals.session_policy(outer)).transpose()?.flatten();
    let rules = around.map_or_else(|| context.config.session_policy(), Ok)?;
    approvals.set_session_policy(session, &SessionPolicy { within: outer, ..rules })?;
    Ok(())
}

/// Describes what the end of a session has ended; none if nothing was left.
fn ended_words(receipts: &[KillReceipt]) -> Option<String> {
    let number = |what: KillOutcome| receipts.iter().filter(|receipt| ended_by(receipt) == what).count();
    let parts = [
        (number(KillOutcome::Task), "task", "tasks"),
        (number(KillOutcome::IdleAgent), "idle agent", "idle agents"),
        (number(KillOutcome::Remains), "task's left-over processes", "tasks' left-over processes"),
    ];
    let parts: Vec<_> = parts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(n, one, many)| count(n, one, many))
        .collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

/// Runs a program and passes signals on to it. This process outlives it, because it must end the session.
fn run_to_its_end(command: &mut Command) -> io::Result<ExitStatus> {
    let mut signals = SignalsInfo::<WithOrigin>::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    let handle = signals.handle();
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let passing_on = thread::Builder::new().spawn(move || {
        for found in &mut signals {
            // A terminal sends its signals to both processes.
            if let (Some(_), Some(signal)) = (found.process, Signal::from_named_raw(found.signal)) {
                let _ = rustix::process::kill_process(pid, signal);
            }
        }
    });
    let passing_on = match passing_on {
        Ok(thread) => thread,
        Err(error) => {
            // Without signals it could not be ended.
            let _ = child.kill();
            let _ = child.wait();
            return Err(error);
        }
    };
    let status = child.wait();
    handle.close();
    let _ = passing_on.join();
    status
}

/// Opens the home and checks that the session has tasks, so that a typo is an error.
fn with_tasks(context: &Context, session: &str) -> Result<Runtime, CommandError> {
    context.speak_for(session)?;
    let runtime = context.runtime()?;
    if runtime.sessions().list()?.iter().any(|known| known.id == session) {
        return Ok(runtime);
    }
    let hint = "mw session list shows the sessions that have tasks";
    Err(CommandError::not_found(format!("no session {session:?} has tasks"), hint))
}

fn reassign(context: &Context, from: &str, to: &str, reason: &str) -> CommandResult {
    if from == to {
        return Err(CommandError::usage(
            "both sessions are the same",
            "choose another session to move the tasks to",
        ));
    }
    let tasks = with_tasks(context, from)?.sessions().reassign(from, to, reason)?;
    context.show(&json!({ "tasks": tasks }), || {
        format!("moved {} to {to}\n", count(tasks.len(), "task", "tasks"))
    })
}

fn end(context: &Context, session: &str) -> CommandResult {
    let runtime = with_tasks(context, session)?;
    let kills = runtime.sessions().end_session(session, &context.requester())?;
    super::kill::show(context.json, runtime.directories(), kills, false)
}

fn delete(context: &Context, session: &str) -> CommandResult {
    let report = with_tasks(context, session)?.sessions().delete_session(session, &context.requester())?;
    let report = hints::with_commands(report);
    context.show(&report, || {
        let kept = report.kept.iter().map(|kept| format!("kept {}: {}\n", kept.id, kept.reason));
        format!("removed {}\n{}", count(report.cleared.len(), "task", "tasks"), kept.collect::<String>())
    })
}
