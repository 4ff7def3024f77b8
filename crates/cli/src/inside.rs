//! `mw` inside a confined task, from which the home is hidden: some commands become calls of tools, which a host of the
//! session answers. Without one, the commands are refused like all others there.

use std::env;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use meanwhile::engine::connect_for_calls;
use meanwhile::engine::model::CALLS_VARIABLE;
use mw_tools::task_calls::{CallReply, TaskCall};
use serde_json::Value;

use crate::commands::Command;
use crate::error::{CommandError, CommandResult};
use crate::{exit_code, render};

/// More than the longest call may take.
const PATIENCE: Duration = Duration::from_secs(600);

/// The maximum length of a reply. Replies are limited by the host; this is against something else that listens.
const MAX_REPLY: u64 = 16 << 20;

/// Runs a command through a host of the session; `None` if this process is in no confined task of a session, nobody answers,
/// or the command is not one that tasks can use.
pub(crate) fn answer(json: bool, command: &Command) -> Option<CommandResult> {
    let socket = env::var_os(CALLS_VARIABLE)?;
    let socket = Path::new(&socket);
    if !is_of_own_home(socket) {
        return None;
    }
    let Some(call) = command.as_call()? else {
        return Some(Err(CommandError::usage(
            "these options cannot be used inside a confined task",
            "there, mw has the options that the tools of models have; wait, status and output need the name of a task",
        )));
    };
    // A wait without a limit goes on after the longest call.
    let goes_on = |reply: &CallReply| {
        call.tool == "task_wait"
            && !call.arguments.contains_key("timeout")
            && reply.data.get("timed_out") == Some(&Value::Bool(true))
    };
    loop {
        let stream = connect_for_calls(socket).ok()?;
        match exchange(stream, &call) {
            Ok(reply) if goes_on(&reply) => {}
            Ok(reply) => return Some(show(json, command, &reply)),
            Err(error) => {
                return Some(Err(CommandError::conflict(
                    format!("the host of the session did not reply: {error}"),
                    "it may have ended during the call; see whether the call took effect, and try again",
                )));
            }
        }
    }
}

/// Returns whether a socket belongs to the home that this command uses, not to the one around it.
fn is_of_own_home(socket: &Path) -> bool {
    let Some(directory) = socket.parent() else { return false };
    env::var_os("MEANWHILE_HOME").filter(|home| !home.is_empty()).is_none_or(|home| {
        let home = std::path::absolute(home).unwrap_or_default();
        directory.with_extension("").file_name() == home.file_name() && directory.parent() == home.parent()
    })
}

fn exchange(mut stream: UnixStream, call: &TaskCall) -> io::Result<CallReply> {
    stream.set_read_timeout(Some(PATIENCE))?;
    // A refused caller may get its answer before it has sent the call.
    let _ = stream.write_all(call.to_line().as_bytes());
    let mut line = Vec::new();
    stream.take(MAX_REPLY).read_to_end(&mut line)?;
    CallReply::from_line(&line).ok_or_else(|| io::Error::other("no valid answer"))
}

fn show(json: bool, command: &Command, reply: &CallReply) -> CommandResult {
    if reply.failed {
        return Err(refusal(reply));
    }
    if json {
        render::json(&reply.data)?;
    } else {
        let field = |name: &str| reply.data.get(name).and_then(Value::as_str);
        let text = match command {
            Command::Output(_) => field("output"),
            Command::Start(start) if start.is_quiet() => field("task_id"),
            _ => None,
        };
        let text = text.unwrap_or(&reply.text);
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        render::out(&format!("{text}{end}"))?;
    }
    Ok(match command {
        Command::Wait(_) => code_of(&reply.data),
        _ => 0,
    })
}

/// Returns the exit code of a wait: that of the first task which has another than 0.
fn code_of(data: &Value) -> u8 {
    if data["timed_out"] == true {
        return exit_code::TIMED_OUT;
    }
    let code = |task: &Value| match (task["exit_code"].as_i64(), task["status"].as_str()) {
        (Some(code), _) => u8::try_from(code).unwrap_or(exit_code::FAILURE),
        (None, Some("completed" | "running")) => 0,
        (None, _) => exit_code::FAILURE,
    };
    data["tasks"].as_array().into_iter().flatten().map(code).find(|code| *code != 0).unwrap_or(0)
}

fn refusal(reply: &CallReply) -> CommandError {
    let code = reply.data["error"]["code"].as_str().unwrap_or("refused").to_owned();
    let exit = match code.as_str() {
        "approval_needed" => exit_code::ASK,
        "denied" => exit_code::DENY,
        "not_found" => exit_code::NOT_FOUND,
        "invalid" => exit_code::USAGE,
        "busy" => exit_code::CONFLICT,
        _ => exit_code::FAILURE,
    };
    let message = reply.data["error"]["message"].as_str().unwrap_or(&reply.text).to_owned();
    let hint = reply.data["hint"].as_str().unwrap_or_default().to_owned();
    CommandError { code, message, hint, exit, library: None, unknown_task: None }
}
