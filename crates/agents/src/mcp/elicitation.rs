//! Asks the user of a client for approval (`elicitation/create`).
//!
//! Clients of older protocol revisions are asked during the call. Newer ones get the question as the reply, and repeat the
//! call with the answer. The approval is bound to the command that was asked about, so only the same call can use it.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use meanwhile::engine::{AskOutcome, Runtime};
use mw_model::approval::{Answer, Proposal, ProposalId, Remember};
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequests, InputRequiredResult, InputResponses, ProtocolVersion,
};
use serde_json::{Value, json};

use super::server::Context;
use crate::lock::Lock;

/// How an answer was given, for the record.
pub(super) const WAY: &str = "the agent's host";

/// Minimum time in which a person can read a question and answer it. A host without a user declines sooner: Codex after
/// about a millisecond.
const AT_LEAST: Duration = Duration::from_millis(500);

/// Maximum number of questions whose time is remembered.
const MAX_PUT: usize = 1000;

/// How the user of a client can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElicitationMode {
    /// By a request during the call.
    InTheCall,
    /// By the reply. The client then repeats the call with the answer.
    InTheReply,
    /// Not possible.
    NotAtAll,
}

impl ElicitationMode {
    pub(super) fn of(context: &Context) -> Self {
        let declared = context.client_capabilities().and_then(|declared| declared.elicitation);
        // A client that declares neither mode supports forms.
        let has_forms = declared.is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
        let is_newer = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        match (has_forms, is_newer) {
            (false, _) => Self::NotAtAll,
            (true, true) => Self::InTheReply,
            (true, false) => Self::InTheCall,
        }
    }
}

/// Returns the form for an approval request. To accept it is to approve.
pub(super) fn question(proposal: &Proposal) -> Option<ElicitRequestParams> {
    let schema: ElicitationSchema = serde_json::from_value(json!({
        "type": "object",
        "properties": {
            "for_session": {
                "type": "boolean",
                "title": "For the rest of this session",
                "description": "Do not ask again for exactly this command",
                "default": false,
            },
        },
    }))
    .ok()?;
    let message = proposal.form();
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema })
}

/// Interprets the response to a question that was asked `after` ago. A closed dialog is not an answer, and neither is a
/// refusal that comes faster than a person can read: the host sent it because it has no user.
pub(super) fn heard(given: &ElicitResult, after: Duration) -> AskOutcome {
    let is_by_a_person = after >= AT_LEAST;
    match given.action {
        ElicitationAction::Accept => {
            let content = given.content.as_ref().unwrap_or(&Value::Null);
            let remember = if content["for_session"] == true { Remember::Session } else { Remember::Once };
            AskOutcome::Answered { answer: Answer::Approve(remember), by: WAY }
        }
        ElicitationAction::Decline if is_by_a_person => {
            AskOutcome::Answered { answer: Answer::Deny(String::new()), by: WAY }
        }
        ElicitationAction::Cancel if is_by_a_person => AskOutcome::Dismissed,
        ElicitationAction::Decline | ElicitationAction::Cancel => AskOutcome::Elsewhere,
        // An unknown action of a later revision is not an answer.
        _ => AskOutcome::Elsewhere,
    }
}

/// When each question was asked by a reply.
#[derive(Default)]
pub(super) struct AskedAt(Mutex<HashMap<ProposalId, Instant>>);

impl AskedAt {
    fn note(&self, id: &ProposalId) {
        let mut asked_at = self.0.locked();
        if asked_at.len() >= MAX_PUT {
            asked_at.retain(|_, at| at.elapsed() < AT_LEAST);
        }
        asked_at.insert(id.clone(), Instant::now());
    }

    /// Returns how long ago a question was asked. An unknown one was asked by an earlier server, so long ago.
    fn age(&self, id: &ProposalId) -> Duration {
        let asked_at = self.0.locked();
        asked_at.get(id).map_or(AT_LEAST, Instant::elapsed)
    }
}

/// Returns a reply that asks the question.
pub(super) fn reply(proposal: &Proposal, asked_at: &AskedAt) -> Option<InputRequiredResult> {
    let request = InputRequest::Elicitation(ElicitRequest::new(question(proposal)?));
    let requests = InputRequests::from([(proposal.id.to_string(), request)]);
    asked_at.note(&proposal.id);
    Some(InputRequiredResult::from_input_requests(requests))
}

/// Takes the answers that come with a repeated call, and ignores those to questions of other sessions. Returns the
/// questions that were closed without an answer, because asking them again at once could repeat forever.
pub(super) fn take_in(
    runtime: &Runtime,
    session: &str,
    responses: &InputResponses,
    asked_at: &AskedAt,
) -> Result<Vec<ProposalId>, meanwhile::Error> {
    let mut closed = Vec::new();
    for (key, response) in responses {
        let Ok(id) = key.parse::<ProposalId>() else { continue };
        let Ok(response) = serde_json::from_value::<ElicitResult>(response.clone()) else { continue };
        let known = runtime
            .approvals()
            .find_approval(id.as_str())
            .is_ok_and(|entry| entry.proposal.session == session);
        if !known {
            continue;
        }
        match heard(&response, asked_at.age(&id)) {
            AskOutcome::Answered { answer, by } => runtime.approvals().answer_first(&id, answer, by)?,
            AskOutcome::Dismissed | AskOutcome::Elsewhere | AskOutcome::Later => closed.push(id),
        }
    }
    Ok(closed)
}
