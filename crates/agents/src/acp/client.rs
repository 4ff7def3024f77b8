//! What an agent asks of us while it works. Nothing here blocks the protocol: whatever may take time happens on
//! threads of its own.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, CreateTerminalResponse, PermissionOptionKind, ReadTextFileRequest,
    ReadTextFileResponse, RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome, TerminalOutputResponse, WaitForTerminalExitResponse, WriteTextFileRequest,
    WriteTextFileResponse,
};
use mw_model::CommandSpec;
use serde_json::json;

use super::files;
use super::permissions::{Answer, Asked, Permissions, understand};
use super::terminals::Terminals;
use super::transcript::Transcript;

type Refusal = agent_client_protocol::Error;

/// What serves an agent.
pub(super) struct Client {
    pub(super) transcript: Mutex<Transcript>,
    pub(super) terminals: Terminals,
    pub(super) permissions: Arc<dyn Permissions>,
    /// Where it may read and write files.
    pub(super) root: PathBuf,
}

/// Why something was refused.
struct Reason(String);

impl From<String> for Reason {
    fn from(why: String) -> Self {
        Self(why)
    }
}

impl From<std::io::Error> for Reason {
    fn from(why: std::io::Error) -> Self {
        Self(why.to_string())
    }
}

impl From<meanwhile::Error> for Reason {
    fn from(why: meanwhile::Error) -> Self {
        Self(why.to_string())
    }
}

/// Refuses a request in words that the agent's model will read.
fn refused(why: impl Into<Reason>) -> Refusal {
    Refusal::new(-32000, why.into().0)
}

impl Client {
    pub(super) fn transcript(&self) -> MutexGuard<'_, Transcript> {
        self.transcript.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks whether something may be done. While somebody has to be asked, the task shows that it waits.
    fn ask(&self, asked: &Asked, title: &str) -> Answer {
        let answer = self.permissions.at_once(asked).unwrap_or_else(|| {
            self.transcript().wait_for(Some(format!("permission for {title}")));
            let answer = self.permissions.ask(asked);
            self.transcript().wait_for(None);
            answer
        });
        let mut transcript = self.transcript();
        transcript.hear();
        match &answer {
            Answer::Allow => transcript.note(&json!({"mw": "allowed", "what": title})),
            Answer::Reject { reason } => {
                transcript.note(&json!({"mw": "rejected", "what": title, "reason": reason}));
                transcript.print(&format!("✗ not allowed: {title}: {reason}"));
            }
        }
        answer
    }

    pub(super) fn permission(&self, request: &RequestPermissionRequest) -> RequestPermissionResponse {
        let fields = &request.tool_call.fields;
        let title = fields.title.clone().unwrap_or_else(|| request.tool_call.tool_call_id.0.to_string());
        let answer = self.ask(&understand(request), &title);
        // Never for ever: what holds now need not hold tomorrow.
        let wanted = match answer {
            Answer::Allow => [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways],
            Answer::Reject { .. } => [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways],
        };
        let chosen = wanted.iter().find_map(|kind| {
            let option = request.options.iter().find(|option| option.kind == *kind)?;
            Some(option.option_id.clone())
        });
        RequestPermissionResponse::new(match chosen {
            Some(option) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option)),
            None => RequestPermissionOutcome::Cancelled,
        })
    }

    pub(super) fn read(&self, request: &ReadTextFileRequest) -> Result<ReadTextFileResponse, Refusal> {
        self.transcript().hear();
        files::read(&self.root, &request.path, request.line, request.limit)
            .map(ReadTextFileResponse::new)
            .map_err(refused)
    }

    pub(super) fn write(&self, request: &WriteTextFileRequest) -> Result<WriteTextFileResponse, Refusal> {
        let asked = Asked::Edit { paths: vec![request.path.clone()] };
        if let Answer::Reject { reason } = self.ask(&asked, &format!("write {}", request.path.display())) {
            return Err(refused(reason));
        }
        files::write(&self.root, &request.path, &request.content)
            .map(|()| WriteTextFileResponse::new())
            .map_err(refused)
    }

    pub(super) fn create_terminal(
        &self,
        request: &CreateTerminalRequest,
    ) -> Result<CreateTerminalResponse, Refusal> {
        let cwd = request.cwd.clone();
        let command = self.terminals.command(request);
        let title = command.to_line();
        let asked = match command {
            CommandSpec::Shell { script, .. } => Asked::Script { text: script.to_lossy(), cwd },
            CommandSpec::Argv(words) => {
                Asked::Program { words: words.iter().map(|word| word.to_lossy()).collect(), cwd }
            }
        };
        if let Answer::Reject { reason } = self.ask(&asked, &title) {
            return Err(refused(reason));
        }
        let id = self.terminals.create(request).map_err(refused)?;
        self.transcript().note(&json!({"mw": "terminal", "task": id, "command": title}));
        Ok(CreateTerminalResponse::new(id))
    }

    pub(super) fn terminal_output(&self, id: &str) -> Result<TerminalOutputResponse, Refusal> {
        self.transcript().hear();
        self.terminals.output(id).map_err(refused)
    }

    pub(super) fn wait_for_terminal(&self, id: &str) -> Result<WaitForTerminalExitResponse, Refusal> {
        let status = self.terminals.wait(id).map(WaitForTerminalExitResponse::new).map_err(refused);
        self.transcript().hear();
        status
    }

    pub(super) fn kill_terminal(&self, id: &str) -> Result<(), Refusal> {
        self.terminals.kill(id).map_err(refused)
    }

    pub(super) fn release_terminal(&self, id: &str) -> Result<(), Refusal> {
        self.terminals.release(id).map_err(refused)
    }
}
