//! The caller that waits for the reply of a call.

use std::time::Duration;

use meanwhile::Task;
use meanwhile::engine::{Asked, Asker};
use mw_model::TaskId;
use mw_model::approval::Proposal;

/// How often a blocked call checks its caller.
pub const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The caller of a blocking call.
pub trait Caller {
    /// Gets the state of the tasks about every second, and decides whether the call continues.
    fn meanwhile(&self, tasks: &[Task]) -> Patience;

    /// Gets the tasks whose ends the reply will report, before a wait starts. They must not be reported in another way
    /// meanwhile.
    fn awaits(&self, _: &[TaskId]) {}

    /// Returns how long it may take until a call notices that it was cancelled.
    fn look_every(&self) -> Duration {
        LOOK_EVERY
    }

    /// Asks for approval, see [`Asker::ask`]. By default the caller cannot ask a person.
    fn ask(&self, _: &Proposal, _: &mut dyn FnMut() -> bool) -> Asked {
        Asked::Elsewhere
    }
}

/// Whether a blocking call continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// The call continues.
    GoOn,
    /// The caller has disconnected but may come back. Running tasks are left alone.
    Leave,
    /// The caller has cancelled. The wait ends, and so does a foreground command.
    GiveUp,
}

/// A caller that waits until the call ends.
#[derive(Clone, Copy, Debug)]
pub struct Patient;

impl Caller for Patient {
    fn meanwhile(&self, _: &[Task]) -> Patience {
        Patience::GoOn
    }
}

/// Passes approval requests to the caller.
pub(super) struct ByCaller<'a>(pub(super) &'a dyn Caller);

impl Asker for ByCaller<'_> {
    fn ask(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> Asked {
        self.0.ask(proposal, answered)
    }

    fn still_waits(&self) -> bool {
        self.0.meanwhile(&[]) == Patience::GoOn
    }
}
