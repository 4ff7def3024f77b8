//! Extensions of the protocol that only our own agent uses.

use agent_client_protocol::v1::schema::RequestPermissionRequest;
use mw_model::approval::ProposalId;

/// The field of a permission request's `_meta` with the id of the request in the store.
pub(crate) const PROPOSAL: &str = "meanwhile/proposal";
/// The field of an error's data that says whether the message was recorded.
pub(crate) const HEARD: &str = "heard";

/// Returns the id of a permission request in the store.
pub(crate) fn proposal(request: &RequestPermissionRequest) -> Option<ProposalId> {
    request.meta.as_ref()?.get(PROPOSAL)?.as_str()?.parse().ok()
}
