//! Asking the person behind a client.
//!
//! Clients of older revisions are asked in the middle of a call. Newer ones get the question as the reply, and make
//! the call again with the answer; the approval binds what was asked, so only the same call can use it.

use meanwhile::Runtime;
use mw_model::approval::{Answer, Proposal, ProposalId, Remember};
use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequests, InputRequiredResult, InputResponses, ProtocolVersion,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

/// The way an answer came, for the record.
pub(super) const WAY: &str = "the agent's host";

/// How a client's person can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// By a request of ours while the call goes on.
    InTheCall,
    /// By the reply, after which the call is made again.
    InTheReply,
    /// There is no way.
    NotAtAll,
}

impl Manner {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        let declared = context.client_capabilities().and_then(|declared| declared.elicitation);
        // One that says neither means forms.
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

/// Puts a proposal into a form: to accept is to approve.
pub(super) fn question(proposal: &Proposal) -> Option<ElicitRequestParams> {
    let schema: ElicitationSchema = serde_json::from_value(json!({
        "type": "object",
        "properties": {
            "for_session": {
                "type": "boolean",
                "title": "For the rest of this session",
                "description": "Do not ask again about exactly this",
                "default": false,
            },
        },
    }))
    .ok()?;
    let message = format!("{}\n\n{}", proposal.matter(), proposal.prompt());
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema })
}

/// Reads an answer.
pub(super) fn answer(given: &ElicitResult) -> Answer {
    match given.action {
        ElicitationAction::Accept => {
            let content = given.content.as_ref().unwrap_or(&Value::Null);
            let remember = if content["for_session"] == true { Remember::Session } else { Remember::Once };
            Answer::Approve(remember)
        }
        ElicitationAction::Decline | ElicitationAction::Cancel => Answer::Deny(String::new()),
        // What a later revision may add is no yes.
        _ => Answer::Deny(String::new()),
    }
}

/// Makes a question the reply to a call.
pub(super) fn reply(proposal: &Proposal) -> Option<InputRequiredResult> {
    let request = InputRequest::Elicitation(ElicitRequest::new(question(proposal)?));
    let requests = InputRequests::from([(proposal.id.to_string(), request)]);
    Some(InputRequiredResult::from_input_requests(requests))
}

/// Takes in the answers that come with a call that is made again. Those to questions of other sessions are none.
pub(super) fn take_in(
    runtime: &Runtime,
    session: &str,
    responses: &InputResponses,
) -> Result<(), meanwhile::Error> {
    for (key, response) in responses {
        let Ok(id) = key.parse::<ProposalId>() else { continue };
        let Ok(response) = serde_json::from_value::<ElicitResult>(response.clone()) else { continue };
        let known = runtime.find_approval(id.as_str()).is_ok_and(|entry| entry.proposal.session == session);
        if known {
            // It may have been answered another way meanwhile; the first answer counts.
            let _ = runtime.answer(&id, answer(&response), WAY);
        }
    }
    Ok(())
}
