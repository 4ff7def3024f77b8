//! Questions of an agent that wait for a person, and what our own agent says beside the protocol.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use agent_client_protocol::v1::schema::{
    PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome,
};
use agent_client_protocol::{Responder, V1};
use mw_model::approval::ProposalId;
use mw_model::chat::Reply;

/// What a question of our own agent has under `_meta`: its id in the store.
pub(crate) const PROPOSAL: &str = "meanwhile/proposal";
/// What an error of our own agent has where the words were kept.
pub(crate) const HEARD: &str = "heard";

/// Returns under which id the store has a question, too.
pub(super) fn proposal(request: &RequestPermissionRequest) -> Option<ProposalId> {
    request.meta.as_ref()?.get(PROPOSAL)?.as_str()?.parse().ok()
}

type Question = (RequestPermissionRequest, Responder<RequestPermissionResponse, V1>);

/// Questions that were not answered yet.
#[derive(Default)]
pub(super) struct Questions {
    last: AtomicU64,
    open: Mutex<HashMap<u64, Question>>,
}

impl Questions {
    pub(super) fn add(&self, question: Question) -> u64 {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(number, question);
        number
    }

    /// Answers; what is allowed goes to `allowed` before the agent hears of it.
    pub(super) fn answer(&self, number: u64, reply: Reply, allowed: impl FnOnce(&RequestPermissionRequest)) {
        let question = self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
        if let Some((request, responder)) = question {
            match reply {
                Reply::Once | Reply::Session => allowed(&request),
                Reply::Deny => {}
            }
            let _ = responder.respond(RequestPermissionResponse::new(chosen(&request, reply)));
        }
    }

    pub(super) fn cancel_all(&self) {
        let open = std::mem::take(&mut *self.open.lock().unwrap_or_else(PoisonError::into_inner));
        for (_, responder) in open.into_values() {
            let _ = responder.respond(RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled));
        }
    }
}

fn chosen(request: &RequestPermissionRequest, reply: Reply) -> RequestPermissionOutcome {
    let wanted = match reply {
        Reply::Once => [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways],
        Reply::Session => [PermissionOptionKind::AllowAlways, PermissionOptionKind::AllowOnce],
        Reply::Deny => [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways],
    };
    let option = wanted.iter().find_map(|kind| request.options.iter().find(|option| option.kind == *kind));
    match option {
        Some(option) => {
            RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone()))
        }
        None => RequestPermissionOutcome::Cancelled,
    }
}
