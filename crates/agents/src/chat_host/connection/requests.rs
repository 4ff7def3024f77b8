//! The permission requests of an agent that wait for a person.

use std::collections::HashMap;
use std::sync::Mutex;

use agent_client_protocol::v1::schema::{
    PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
};
use agent_client_protocol::{Responder, V1};
use mw_desk::chat_protocol::ApprovalReply;

use crate::acp::permissions::choose;
use crate::lock::Lock;

type Question = (RequestPermissionRequest, Responder<RequestPermissionResponse, V1>);

/// The maximum number of open requests. An agent that sends more does not wait for answers.
pub(super) const MAX_REQUESTS: usize = 100;

/// The requests that are not answered yet.
#[derive(Default)]
pub(super) struct Requests(Mutex<OpenRequests>);

#[derive(Default)]
struct OpenRequests {
    last: u64,
    /// Whether it was reported that there are too many requests.
    is_too_much: bool,
    /// Whether the turn was cancelled. Its further requests are denied.
    is_stopped: bool,
    questions: HashMap<u64, Question>,
}

impl Requests {
    /// Adds a request. If there are too many, it is denied at once.
    pub(super) fn add(&self, question: Question) -> Added {
        let mut open = self.0.locked();
        if open.is_stopped {
            cancel(question.1);
            return Added::Refused;
        }
        if open.questions.len() >= MAX_REQUESTS {
            cancel(question.1);
            let is_told = std::mem::replace(&mut open.is_too_much, true);
            return if is_told { Added::Refused } else { Added::FirstRefused };
        }
        open.last += 1;
        let number = open.last;
        open.questions.insert(number, question);
        Added::Number(number)
    }

    /// Answers a request. If the answer is an approval, `allowed` is called before the agent receives the answer.
    pub(super) fn answer(
        &self,
        number: u64,
        reply: ApprovalReply,
        allowed: impl FnOnce(&RequestPermissionRequest),
    ) {
        let question = self.0.locked().questions.remove(&number);
        if let Some((request, responder)) = question {
            if reply != ApprovalReply::Deny {
                allowed(&request);
            }
            let wanted = match reply {
                ApprovalReply::Once => [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways],
                ApprovalReply::Session => {
                    [PermissionOptionKind::AllowAlways, PermissionOptionKind::AllowOnce]
                }
                ApprovalReply::Deny => [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways],
            };
            let _ = responder.respond(RequestPermissionResponse::new(choose(&request, wanted)));
        }
    }

    /// Accepts requests again, because a new turn begins.
    pub(super) fn begin_turn(&self) {
        self.0.locked().is_stopped = false;
    }

    /// Denies all open requests and further ones of this turn.
    pub(super) fn cancel_all(&self) {
        let mut open = self.0.locked();
        (open.is_stopped, open.is_too_much) = (true, false);
        for (_, responder) in std::mem::take(&mut open.questions).into_values() {
            cancel(responder);
        }
    }
}

/// The result of adding a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// The request was added under this number.
    Number(u64),
    /// The request was denied, because there are too many. This is the first such denial.
    FirstRefused,
    /// The request was denied.
    Refused,
}

fn cancel(responder: Responder<RequestPermissionResponse, V1>) {
    let _ = responder.respond(RequestPermissionResponse::new(RequestPermissionOutcome::Cancelled));
}
