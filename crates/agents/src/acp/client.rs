//! Answers the requests of an agent. They are called on separate threads, because they may block.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, CreateTerminalResponse, PermissionOptionKind, ReadTextFileRequest,
    ReadTextFileResponse, RequestPermissionRequest, RequestPermissionResponse, TerminalOutputResponse,
    WaitForTerminalExitResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use meanwhile::engine::check_set_variables;
use mw_model::CommandSpec;

use super::approved::Approved;
use super::files;
use super::own_agent::proposal;
use super::permissions::{Answer, Asking, Permissions, choose};
use super::quirks::Quirks;
use super::requested::{Asked, understand};
use super::terminals::Terminals;

type Refusal = agent_client_protocol::Error;

/// Records what happens between an agent and us.
pub(crate) trait Observer: Send + Sync + 'static {
    /// The agent sent a message.
    fn hears(&self);

    /// Approval is required for this, or no longer required.
    fn waits_for(&self, what: Option<String>);

    /// An operation was allowed or denied.
    fn decided(&self, what: &str, answer: &Answer);

    /// A terminal was opened, as this task.
    fn opened(&self, task: &str, command: &str);
}

/// Answers the requests of one agent.
pub(crate) struct Client<W> {
    pub(crate) observer: W,
    pub(crate) terminals: Terminals,
    pub(crate) permissions: Arc<dyn Permissions>,
    /// What a person has already allowed.
    pub(crate) approved: Approved,
    /// How the agent differs from others.
    pub(crate) quirks: Quirks,
    /// The directory in which it may read and write files.
    pub(crate) root: PathBuf,
}

/// The reason of a refusal.
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

/// Refuses a request. The agent's model reads the reason.
fn refused(why: impl Into<Reason>) -> Refusal {
    Refusal::new(-32000, why.into().0)
}

impl<W: Observer> Client<W> {
    /// Asks whether an operation is allowed. The observer knows that the agent waits while a person is asked.
    fn ask(&self, asked: &Asked, title: &str) -> Answer {
        let waits = Cell::new(false);
        let answer = self.permissions.ask(asked, &|| {
            if !self.permissions.minds_environment(asked) && self.approved.take(asked, &self.terminals.cwd) {
                return Asking::Answered;
            }
            waits.set(true);
            self.observer.waits_for(Some(title.to_owned()));
            Asking::Ask
        });
        if waits.get() {
            self.observer.waits_for(None);
        }
        self.observer.decided(title, &answer);
        answer
    }

    /// Answers a permission request. Our own agent writes its request to the store first and reads the answer there. A
    /// second request would be answered separately, and its timeout would look like a denial.
    ///
    /// # Errors
    /// When the request in the store is the one to answer.
    pub(crate) fn permission(
        &self,
        request: &RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, Refusal> {
        let fields = &request.tool_call.fields;
        let title = fields.title.clone().unwrap_or_else(|| request.tool_call.tool_call_id.0.to_string());
        let asked = understand(request, self.quirks);
        if let Some(question) = proposal(request)
            && self.permissions.await_own(&asked, &question, &|| {
                self.observer.waits_for(Some(title.clone()));
            })
        {
            self.observer.waits_for(None);
            return Err(refused(format!("{question} must be answered in the process that asked")));
        }
        let answer = self.ask(&asked, &title);
        // Prefer once: an answer of today need not hold tomorrow.
        let wanted = match answer {
            Answer::Allow => [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways],
            Answer::Reject { .. } => [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways],
        };
        Ok(RequestPermissionResponse::new(choose(request, wanted)))
    }

    pub(crate) fn read(&self, request: &ReadTextFileRequest) -> Result<ReadTextFileResponse, Refusal> {
        self.observer.hears();
        files::read(&self.root, &request.path, request.line, request.limit)
            .map(ReadTextFileResponse::new)
            .map_err(refused)
    }

    pub(crate) fn write(&self, request: &WriteTextFileRequest) -> Result<WriteTextFileResponse, Refusal> {
        let asked = Asked::Edit { paths: vec![request.path.clone()] };
        if let Answer::Reject { reason } = self.ask(&asked, &format!("write {}", request.path.display())) {
            return Err(refused(reason));
        }
        files::write(&self.root, &request.path, &request.content)
            .map(|()| WriteTextFileResponse::new())
            .map_err(refused)
    }

    pub(crate) fn create_terminal(
        &self,
        request: &CreateTerminalRequest,
    ) -> Result<CreateTerminalResponse, Refusal> {
        let names = request.env.iter().map(|added| added.name.as_bytes());
        check_set_variables(names).map_err(refused)?;
        let cwd = request.cwd.clone();
        let command = self.terminals.command(request);
        let title = command.to_line();
        let env = request.env.iter().map(|added| (added.name.clone(), added.value.clone())).collect();
        let asked = match command {
            CommandSpec::Shell { script, .. } => Asked::Script { text: script.to_lossy(), cwd, env },
            CommandSpec::Argv(words) => {
                Asked::Program { words: words.iter().map(|word| word.to_lossy()).collect(), cwd, env }
            }
        };
        if let Answer::Reject { reason } = self.ask(&asked, &title) {
            return Err(refused(reason));
        }
        let id = self.terminals.create(request).map_err(refused)?;
        self.observer.opened(&id, &title);
        Ok(CreateTerminalResponse::new(id))
    }

    pub(crate) fn terminal_output(&self, id: &str) -> Result<TerminalOutputResponse, Refusal> {
        self.observer.hears();
        self.terminals.output(id).map_err(refused)
    }

    pub(crate) fn wait_for_terminal(&self, id: &str) -> Result<WaitForTerminalExitResponse, Refusal> {
        let status = self.terminals.wait(id).map(WaitForTerminalExitResponse::new).map_err(refused);
        self.observer.hears();
        status
    }

    pub(crate) fn kill_terminal(&self, id: &str) -> Result<(), Refusal> {
        self.terminals.kill(id).map_err(refused)
    }

    pub(crate) fn release_terminal(&self, id: &str) -> Result<(), Refusal> {
        self.terminals.release(id).map_err(refused)
    }
}
