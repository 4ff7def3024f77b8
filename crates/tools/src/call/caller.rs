//! The caller of a tool call, which waits for the reply.

use std::time::Duration;

use meanwhile::Task;
use meanwhile::engine::{AskOutcome, Asker};
use mw_model::TaskId;
use mw_model::approval::Proposal;

/// The default interval at which a blocking call checks its caller.
pub const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The caller of a blocking call.
pub trait Caller {
    /// Decides whether a blocking call continues. It is called about every second with the state of the awaited tasks.
    fn while_waiting(&self, tasks: &[Task]) -> WaitDecision;

    /// Announces, before a wait starts, the tasks whose ends the reply will report. No other reply may report them
    /// meanwhile.
    fn awaits(&self, _: &[TaskId]) {}

    /// Returns the interval at which a call checks whether it was cancelled.
    fn poll_interval(&self) -> Duration {
        POLL_INTERVAL
    }

    /// Asks for approval; see [`Asker::ask`]. The default implementation cannot ask a person.
    fn ask(&self, _: &Proposal, _: &mut dyn FnMut() -> bool) -> AskOutcome {
        AskOutcome::Elsewhere
    }
}

/// A caller's decision about a blocking call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitDecision {
    /// The call continues.
    Continue,
    /// The caller has disconnected but may return. The call ends, and running tasks continue.
    Detach,
    /// The caller has cancelled the call. The wait ends, and a foreground command is killed.
    Cancel,
}

/// A caller that waits until the call ends.
#[derive(Clone, Copy, Debug)]
pub struct PatientCaller;

impl Caller for PatientCaller {
    fn while_waiting(&self, _: &[Task]) -> WaitDecision {
        WaitDecision::Continue
    }
}

/// An asker that passes approval requests to the caller.
pub(super) struct ByCaller<'a>(pub(super) &'a dyn Caller);

impl Asker for ByCaller<'_> {
    fn ask(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> AskOutcome {
        self.0.ask(proposal, answered)
    }

    fn still_waits(&self) -> bool {
        self.0.while_waiting(&[]) == WaitDecision::Continue
    }
}
