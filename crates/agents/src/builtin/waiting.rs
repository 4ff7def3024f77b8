//! A turn that waits for a call: the time limit, and approval requests.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent_client_protocol::v1::schema::{
    SessionUpdate, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use meanwhile::Task;
use meanwhile::engine::{Asked, Asker};
use mw_model::approval::{Answer, Proposal, Remember};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::talk::{Said, Talk};
use mw_tools::call::{Caller, Patience};

/// How often a question looks whether it was answered another way.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How soon a command ends once its turn is cancelled.
const LOOK_FOR_CANCELLING: Duration = Duration::from_millis(100);
/// By which way an answer came, for the record.
const WAY: &str = "the agent's client";

/// A turn that waits for a call to end.
pub(super) struct Waiting {
    pub(super) cancelled: CancellationToken,
    pub(super) closing: CancellationToken,
    pub(super) talk: Talk,
    /// The call, as the client knows it.
    pub(super) call: ToolCall,
    pub(super) handle: Handle,
    gave_up: AtomicBool,
}

impl Waiting {
    pub(super) fn new(
        cancelled: CancellationToken,
        closing: CancellationToken,
        talk: Talk,
        call: ToolCall,
    ) -> Self {
        Self { cancelled, closing, talk, call, handle: Handle::current(), gave_up: AtomicBool::new(false) }
    }

    /// Returns whether the call was ended because the turn was cancelled.
    pub(super) fn gave_up(&self) -> bool {
        self.gave_up.load(Ordering::Relaxed)
    }

    /// Puts the call and the reason for asking before the user.
    fn question(&self, proposal: &Proposal) -> ToolCallUpdate {
        let mut lines = vec![proposal.exact()];
        lines.extend(proposal.environment().into_iter().map(|line| format!("with {line}")));
        lines.extend(proposal.reasons.iter().cloned());
        lines.extend(proposal.effects.iter().map(|effect| format!("it {effect}")));
        lines.extend(proposal.estimates());
        let mut update = ToolCallUpdate::from(self.call.clone());
        update.fields.status = Some(ToolCallStatus::Pending);
        update.fields.content = Some(vec![ToolCallContent::from(lines.join("\n"))]);
        update
    }

    async fn put(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> Asked {
        let asked = self.talk.ask(self.question(proposal), &proposal.id);
        tokio::pin!(asked);
        loop {
            let said = tokio::select! {
                said = &mut asked => said,
                () = self.cancelled.cancelled() => return Asked::Elsewhere,
                () = self.closing.cancelled() => return Asked::Elsewhere,
                () = tokio::time::sleep(LOOK_EVERY) => {
                    if answered() {
                        return Asked::Elsewhere;
                    }
                    continue;
                }
            };
            let answer = match said {
                Said::Yes => Answer::Approve(Remember::Once),
                Said::No => Answer::Deny(String::new()),
                Said::Cancelled => {
                    self.cancelled.cancel();
                    return Asked::Elsewhere;
                }
                // Nobody can be asked here; whoever can may still answer.
                Said::Nothing => return Asked::Elsewhere,
            };
            let status = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress);
            let update = ToolCallUpdate::new(self.call.tool_call_id.clone(), status);
            self.talk.tell(SessionUpdate::ToolCallUpdate(update));
            return Asked::Answered { answer, by: WAY };
        }
    }
}

impl Caller for Waiting {
    fn look_every(&self) -> Duration {
        LOOK_FOR_CANCELLING
    }

    fn meanwhile(&self, _: &[Task]) -> Patience {
        if self.cancelled.is_cancelled() {
            self.gave_up.store(true, Ordering::Relaxed);
            return Patience::GiveUp;
        }
        if self.closing.is_cancelled() { Patience::Leave } else { Patience::GoOn }
    }

    fn ask(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> Asked {
        self.handle.block_on(self.put(proposal, answered))
    }
}

impl Asker for Waiting {
    fn ask(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> Asked {
        Caller::ask(self, proposal, answered)
    }

    fn still_waits(&self) -> bool {
        self.meanwhile(&[]) == Patience::GoOn
    }
}
