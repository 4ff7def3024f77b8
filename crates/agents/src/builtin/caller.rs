//! The caller of a tool call in a turn. It handles cancellation and approval requests.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent_client_protocol::v1::schema::{
    RequestPermissionOutcome, SessionUpdate, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields,
};
use meanwhile::Task;
use meanwhile::engine::{AskOutcome, Asker};
use mw_model::approval::{Answer, Proposal, Remember};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::client::{ALLOW, SessionClient};
use crate::question::await_answer;
use mw_tools::call::{Caller, WaitDecision};

/// The time between two checks whether the turn was cancelled.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// The way in which an answer was given, for the record.
const WAY: &str = "the agent's client";

/// A turn that waits for a call to end.
pub(super) struct TurnCaller {
    pub(super) cancelled: CancellationToken,
    pub(super) closing: CancellationToken,
    pub(super) client: SessionClient,
    /// The call in the form that the client knows.
    pub(super) call: ToolCall,
    pub(super) handle: Handle,
    gave_up: AtomicBool,
}

impl TurnCaller {
    pub(super) fn new(
        cancelled: CancellationToken,
        closing: CancellationToken,
        client: SessionClient,
        call: ToolCall,
    ) -> Self {
        Self { cancelled, closing, client, call, handle: Handle::current(), gave_up: AtomicBool::new(false) }
    }

    /// Returns whether the call was ended because the turn was cancelled.
    pub(super) fn gave_up(&self) -> bool {
        self.gave_up.load(Ordering::Relaxed)
    }

    /// Returns the call together with the reasons for the request.
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

    async fn put(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> AskOutcome {
        let asked = self.client.ask(self.question(proposal), &proposal.id);
        let answer = match await_answer(asked, [&self.cancelled, &self.closing], answered).await {
            Some(Ok(RequestPermissionOutcome::Selected(chosen))) if &*chosen.option_id.0 == ALLOW => {
                Answer::Approve(Remember::Once)
            }
            Some(Ok(RequestPermissionOutcome::Selected(_))) => Answer::Deny(String::new()),
            Some(Ok(RequestPermissionOutcome::Cancelled)) => {
                self.cancelled.cancel();
                return AskOutcome::Elsewhere;
            }
            // No person could be asked. The request can still be answered elsewhere.
            Some(_) | None => return AskOutcome::Elsewhere,
        };
        let status = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress);
        let update = ToolCallUpdate::new(self.call.tool_call_id.clone(), status);
        self.client.tell(SessionUpdate::ToolCallUpdate(update));
        AskOutcome::Answered { answer, by: WAY }
    }
}

impl Caller for TurnCaller {
    fn poll_interval(&self) -> Duration {
        CANCEL_CHECK_INTERVAL
    }

    fn while_waiting(&self, _: &[Task]) -> WaitDecision {
        if self.cancelled.is_cancelled() {
            self.gave_up.store(true, Ordering::Relaxed);
            return WaitDecision::Cancel;
        }
        if self.closing.is_cancelled() { WaitDecision::Detach } else { WaitDecision::Continue }
    }

    fn ask(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> AskOutcome {
        self.handle.block_on(self.put(proposal, answered))
    }
}

impl Asker for TurnCaller {
    fn ask(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> AskOutcome {
        Caller::ask(self, proposal, answered)
    }

    fn still_waits(&self) -> bool {
        self.while_waiting(&[]) == WaitDecision::Continue
    }
}
