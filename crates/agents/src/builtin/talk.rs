//! Messages to the client during a turn.

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, Meta, PermissionOption, PermissionOptionKind, ReadTextFileRequest,
    RequestPermissionOutcome, RequestPermissionRequest, SessionId, SessionNotification, SessionUpdate,
    TextContent, ToolCallUpdate, WriteTextFileRequest,
};
use agent_client_protocol::{Client, Error};
use mw_model::approval::ProposalId;
use std::path::Path;

use crate::subagent::PROPOSAL;

const ALLOW: &str = "allow";
const REJECT: &str = "reject";

/// The client, as one session of it sees it.
#[derive(Clone)]
pub(super) struct Talk {
    pub(super) client: ConnectionTo<Client>,
    pub(super) session: SessionId,
    /// Whether the client reads and writes files itself, because it may have newer ones than the disk.
    pub(super) reads_files: bool,
    pub(super) writes_files: bool,
}

/// What the user said to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Yes,
    No,
    /// The turn was cancelled over it.
    Cancelled,
    /// No person could be asked.
    Nothing,
}

impl Talk {
    /// Tells the client something. A client that is gone ends the turn by other ways.
    pub(super) fn tell(&self, update: SessionUpdate) {
        let _ = self.client.send_notification(SessionNotification::new(self.session.clone(), update));
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

    /// Asks whether a call may be run; the store has the question, too.
    pub(super) async fn ask(&self, call: ToolCallUpdate, stored: &ProposalId) -> Said {
        let options = vec![
            PermissionOption::new(ALLOW, "Allow once", PermissionOptionKind::AllowOnce),
            PermissionOption::new(REJECT, "Reject", PermissionOptionKind::RejectOnce),
        ];
        let stored = Meta::from_iter([(PROPOSAL.to_owned(), stored.as_str().into())]);
        let request = RequestPermissionRequest::new(self.session.clone(), call, options).meta(stored);
        match self.client.send_request(request).block_task().await {
            Ok(response) => match response.outcome {
                RequestPermissionOutcome::Selected(chosen) if &*chosen.option_id.0 == ALLOW => Said::Yes,
                RequestPermissionOutcome::Selected(_) => Said::No,
                RequestPermissionOutcome::Cancelled => Said::Cancelled,
                _ => Said::Nothing,
            },
            Err(_) => Said::Nothing,
        }
    }

    pub(super) async fn read_file(&self, path: &Path) -> Result<String, Error> {
        let request = ReadTextFileRequest::new(self.session.clone(), path);
        Ok(self.client.send_request(request).block_task().await?.content)
    }

    pub(super) async fn write_file(&self, path: &Path, content: String) -> Result<(), Error> {
        let request = WriteTextFileRequest::new(self.session.clone(), path, content);
        self.client.send_request(request).block_task().await.map(drop)
    }
}

fn chunk(text: String) -> ContentChunk {
    ContentChunk::new(ContentBlock::Text(TextContent::new(text)))
}
