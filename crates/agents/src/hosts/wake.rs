//! Delivers notifications through a hook, and wakes an idle agent with them (`mw hook HOST --wake`).

use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::time::Duration;

use meanwhile::engine::{Moment, Runtime, SessionHolder as Relay, SessionInfo};
use meanwhile::model::Notice;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::hook::HookCall;

/// How long to wait for another way of delivery: a busy agent gets the notification with its next tool call.
const LET_OTHERS: Duration = Duration::from_secs(1);
/// How often to check whether the host is alive.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// How a hook that runs in the background wakes the idle agent. The agent reads what the hook wrote to standard error.
#[derive(Debug)]
pub struct WakeSignal {
    /// The exit code that wakes the agent.
    pub exit_code: u8,
    /// The variable, and its value, by which the host says that it can be made to wake its agent.
    pub interactive: (&'static str, &'static str),
}

impl WakeSignal {
    /// Returns whether the host that runs this hook can be made to wake its agent.
    pub(super) fn is_possible(&self, variable: impl Fn(&str) -> Option<String>) -> bool {
        let (name, value) = self.interactive;
        variable(name).as_deref() == Some(value)
    }

    /// Waits for a notification of a session while it has live tasks, and writes it to standard error. Returns the exit
    /// code of the hook.
    ///
    /// # Errors
    /// When the home directory cannot be used, or standard error cannot be written.
    pub fn wait(&self, runtime: &Runtime, session: &str, call: &HookCall) -> Result<u8, DeliverError> {
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
                if deliver(&relay, |notices| call.waking_text(notices), io::stderr().lock())? {
                    return Ok(self.exit_code);
                }
            }
            listener.wait(POLL_INTERVAL);
        }
        Ok(0)
    }
}

/// Why notifications were not delivered.
#[derive(Debug, thiserror::Error)]
pub enum DeliverError {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] meanwhile::Error),
    /// They could not be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Writes the undelivered notifications that fit. Returns whether there were any.
///
/// # Errors
/// When the home directory cannot be used, or the text cannot be written.
pub fn deliver(
    relay: &Relay<'_>,
    text: impl FnOnce(&[Notice]) -> Option<String>,
    mut out: impl Write,
) -> Result<bool, DeliverError> {
    let mut delivery = relay.drain(Moment::Idle)?;
    delivery.keep(HookCall::fitting(delivery.notices()))?;
    let Some(text) = text(delivery.notices()) else { return Ok(false) };
    // They count as delivered only once they are written.
    out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
    delivery.acknowledge()?;
    Ok(true)
}

fn known(runtime: &Runtime, session: &str) -> Result<Option<SessionInfo>, meanwhile::Error> {
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
