//! Answers one connection: which task calls, the call, the reply.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use meanwhile::engine::Runtime;
use meanwhile::{Meanwhile, Task};
use mw_model::{TaskGrant, TaskId};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

use super::listener::SettingsNow;
use super::peer::Peer;
use super::wire::{CallReply, MAX_CALL, TaskCall};
use crate::call::{CallContext, CallSettings, Caller, WaitDecision};
use crate::dialects::Dialect;
use crate::toolset::Toolset;

/// The tools that tasks may call. None of them answers a request, types into a task, or removes one.
const TOOLS: [&str; 5] = ["shell", "task_output", "task_wait", "task_stop", "task_list"];

/// How long sending a call, or receiving a reply, may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the answers for a session need.
pub(super) struct Answering {
    pub(super) home: Meanwhile,
    pub(super) session: String,
    pub(super) settings: Box<SettingsNow>,
}

/// Closes a connection with a reason.
pub(super) fn refuse(stream: UnixStream, code: &str, text: &str) {
    send(stream, &CallReply::refused(code, text));
}

fn send(mut stream: UnixStream, reply: &CallReply) {
    // A caller that does not read gets nothing.
    let _ = stream.set_write_timeout(Some(PATIENCE));
    let _ = stream.write_all(reply.to_line().as_bytes());
}

impl Answering {
    pub(super) fn answer(&self, stream: UnixStream) {
        let reply = self.reply_to(&stream);
        send(stream, &reply);
    }

    fn reply_to(&self, stream: &UnixStream) -> CallReply {
        let called = self.home.with(|runtime| {
            let Some((task, grant)) = caller_of(stream, &self.session, runtime) else {
                let text = "only confined tasks of the session that this socket belongs to can use it";
                return Ok(CallReply::refused("denied", text));
            };
            let Some(call) = read_call(stream).as_deref().and_then(TaskCall::from_line) else {
                return Ok(CallReply::refused("invalid", "not a call, or longer than a call may be"));
            };
            self.call(call, &task, grant, stream, runtime)
        });
        called.unwrap_or_else(|error| CallReply::refused(error.code().as_str(), &error.to_string()))
    }

    /// Runs a call as if the model had made it, except that a start gets at most the grant of the calling task.
    fn call(
        &self,
        mut call: TaskCall,
        task: &TaskId,
        grant: TaskGrant,
        stream: &UnixStream,
        runtime: &Runtime,
    ) -> Result<CallReply, meanwhile::Error> {
        if !TOOLS.contains(&call.tool.as_str()) {
            let text = format!("no tool {:?} for tasks; available: {}", call.tool, TOOLS.join(", "));
            return Ok(CallReply::refused("invalid", &text));
        }
        if call.tool == "shell" {
            call.arguments.insert("run_in_background".to_owned(), Value::Bool(true));
        }
        let mut settings: CallSettings = (self.settings)(runtime)?;
        settings.session.clone_from(&self.session);
        settings.policy.at_most = Some(grant);
        // The model's position in an output stays where it is.
        settings.context_stamp = task.to_string();
        let caller = TaskCaller(stream);
        let cx = CallContext { by_task: Some(task), ..CallContext::new(runtime, &settings, &caller) };
        // The ends that the reply reports are still delivered to the model.
        let reply = Toolset::of(Dialect::Canonical).call(&call.tool, &call.arguments, &cx);
        Ok(reply.map_or_else(
            || CallReply::refused("invalid", "background tasks are disabled in this session"),
            CallReply::from,
        ))
    }
}

/// Returns the confined task of the session that has connected, by the process tree.
fn caller_of(stream: &UnixStream, session: &str, runtime: &Runtime) -> Option<(TaskId, TaskGrant)> {
    let peer = Peer::of(stream)?;
    let found = runtime.sessions().confined_task_of(peer.pid(), session)?;
    // If it has ended, another process may have had its id.
    peer.is_alive().then_some(found)
}

/// Reads a line. Returns `None` if it is too long, or does not arrive in time.
fn read_call(mut stream: &UnixStream) -> Option<Vec<u8>> {
    let until = Instant::now() + PATIENCE;
    let (mut line, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let left = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
        stream.set_read_timeout(Some(left)).ok()?;
        match stream.read(&mut part) {
            Ok(0) => return None,
            Ok(read) => line.extend_from_slice(&part[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
        if line.len() > MAX_CALL {
            return None;
        }
        if line.ends_with(b"\n") {
            return Some(line);
        }
    }
}

/// A process of a task that waits for a reply.
struct TaskCaller<'a>(&'a UnixStream);

impl Caller for TaskCaller<'_> {
    fn while_waiting(&self, _: &[Task]) -> WaitDecision {
        if is_ready(self.0, PollFlags::RDHUP) { WaitDecision::Cancel } else { WaitDecision::Continue }
    }
}

pub(super) fn is_ready(fd: &impl std::os::fd::AsFd, events: PollFlags) -> bool {
    let mut fds = [PollFd::new(fd, events)];
    poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}
