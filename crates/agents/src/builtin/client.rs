//! The client of a session: messages, permission requests and files.

use std::path::Path;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, FileSystemCapabilities, Meta, PermissionOption, PermissionOptionKind,
    ReadTextFileRequest, RequestPermissionOutcome, RequestPermissionRequest, SessionId, SessionNotification,
    SessionUpdate, TextContent, ToolCallUpdate, WriteTextFileRequest,
};
use agent_client_protocol::{Client, Error};
use mw_model::approval::ProposalId;

use crate::acp::own_agent::PROPOSAL;

/// The id of the option that allows a call.
pub(super) const ALLOW: &str = "allow";
const REJECT: &str = "reject";

/// The client of one session.
#[derive(Clone)]
pub(super) struct SessionClient {
    pub(super) connection: ConnectionTo<Client>,
    pub(super) session: SessionId,
    /// Whether the client reads and writes files itself. It may have newer contents than the disk.
    pub(super) files: FileSystemCapabilities,
}

impl SessionClient {
    /// Sends an update. Errors are ignored, because the turn ends anyway after the client has disconnected.
    pub(super) fn tell(&self, update: SessionUpdate) {
        let _ = self.connection.send_notification(SessionNotification::new(self.session.clone(), update));
    }

    pub(super) fn text(&self, text: String) {
        self.tell(SessionUpdate::AgentMessageChunk(chunk(text)));
    }

    pub(super) fn thought(&self, text: String) {
        self.tell(SessionUpdate::AgentThoughtChunk(chunk(text)));
    }

    pub(super) fn user(&self, text: String) {
        self.tell(SessionUpdate::UserMessageChunk(chunk(text)));
    }

    /// Asks the client for permission to run a call. The request is also in the store, under this id.
    pub(super) async fn ask(
        &self,
        call: ToolCallUpdate,
        stored: &ProposalId,
    ) -> Result<RequestPermissionOutcome, Error> {
        let options = vec![
            PermissionOption::new(ALLOW, "Allow once", PermissionOptionKind::AllowOnce),
            PermissionOption::new(REJECT, "Reject", PermissionOptionKind::RejectOnce),
        ];
        let stored = Meta::from_iter([(PROPOSAL.to_owned(), stored.as_str().into())]);
        let request = RequestPermissionRequest::new(self.session.clone(), call, options).meta(stored);
        Ok(self.connection.send_request(request).block_task().await?.outcome)
    }

    pub(super) async fn read_file(&self, path: &Path) -> Result<String, Error> {
        let request = ReadTextFileRequest::new(self.session.clone(), path);
        Ok(self.connection.send_request(request).block_task().await?.content)
    }

    pub(super) async fn write_file(&self, path: &Path, content: String) -> Result<(), Error> {
        let request = WriteTextFileRequest::new(self.session.clone(), path, content);
        self.connection.send_request(request).block_task().await.map(drop)
    }
}

fn chunk(text: String) -> ContentChunk {
    ContentChunk::new(ContentBlock::Text(TextContent::new(text)))
}
