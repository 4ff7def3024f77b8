//! `mw hook claude-code --wake`: wakes an idle agent when there is a notification.
//!
//! Claude Code runs such a hook in the background when its agent stops (`asyncRewake`). Exit code 2 wakes the agent, which
//! then reads what the hook wrote to standard error. Only the interactive program does so. `claude -p` and the SDKs do
//! not, and the notification would be lost.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::time::Duration;

use meanwhile::engine::{Host, Moment, Runtime, SessionInfo};
use meanwhile::model::Notice;
use mw_agents::hosts::HookCall;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::error::CommandError;

/// The exit code that makes Claude Code wake its agent.
const WAKES: u8 = 2;
/// How long to wait for another way of delivery: a busy agent gets the notification with its next tool call.
const LET_OTHERS: Duration = Duration::from_secs(1);
/// How often to check whether the host is alive.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Returns whether the host that runs this hook can be made to wake its agent.
pub(crate) fn is_interactive(variable: impl Fn(&str) -> Option<String>) -> bool {
    variable("CLAUDE_CODE_ENTRYPOINT").as_deref() == Some("cli")
}

/// Waits for a notification of a session while it has live tasks. Returns the exit code.
pub(crate) fn wake(runtime: &Runtime, session: &str, call: &HookCall) -> Result<u8, CommandError> {
    let Some(_only_one) = runtime.notifications().only_waker(session) else { return Ok(0) };
    // A descriptor, because another process may get the pid of a host that has exited.
    let host = runtime.sessions().program_above(std::process::id()).and_then(open_process);
    let listener = runtime.listen()?;
    while let Some(info) = known(runtime, session)? {
        let is_gone = host.as_ref().is_none_or(has_exited);
        if is_gone || (info.live == 0 && info.notices == 0) {
            break;
        }
        if info.notices > 0 {
            // Not `listener.wait`, because wake-ups may come all the time.
            std::thread::sleep(LET_OTHERS);
            let relay = runtime.notifications().relay(session)?;
            if deliver(&relay, |notices| call.waking_text(notices), std::io::stderr().lock())? {
                return Ok(WAKES);
            }
        }
        listener.wait(LOOK_EVERY);
    }
    Ok(0)
}

/// Writes the undelivered notifications that fit. Returns whether there were any.
pub(crate) fn deliver(
    relay: &Host<'_>,
    text: impl FnOnce(&[Notice]) -> Option<String>,
    mut out: impl Write,
) -> Result<bool, CommandError> {
    let mut delivery = relay.drain(Moment::Idle)?;
    delivery.keep(HookCall::fitting(delivery.notices()))?;
    let Some(text) = text(delivery.notices()) else { return Ok(false) };
    // They count as delivered only once they are written.
    out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
    delivery.acknowledge()?;
    Ok(true)
}

fn known(runtime: &Runtime, session: &str) -> Result<Option<SessionInfo>, CommandError> {
    Ok(runtime.sessions().list()?.into_iter().find(|info| info.id == session))
}

fn open_process(pid: u32) -> Option<OwnedFd> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

fn has_exited(process: &OwnedFd) -> bool {
    let mut polled = [PollFd::new(process, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}
