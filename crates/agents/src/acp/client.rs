//! Answers the requests of an agent. They are called on separate threads, because they may block.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    PermissionOptionKind, ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest,
    ReleaseTerminalResponse, RequestPermissionRequest, RequestPermissionResponse, SessionUpdate,
    TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest, WaitForTerminalExitResponse,
    WriteTextFileRequest, WriteTextFileResponse,
};
use agent_client_protocol::{Responder, V1};
use meanwhile::engine::check_set_variables;

use super::approved::Approved;
use super::converse::respond_apart;
use super::files;
use super::own_agent::proposal;
use super::permissions::{PolicyPermissions, choose};
use super::quirks::Quirks;
use super::requested::{Operation, understand};
use super::terminals::Terminals;
use super::wire::UnhandledLine;

/// The answer to a request, or why it is refused.
type Answered<T> = Result<T, agent_client_protocol::Error>;

/// Follows what happens between an agent and us.
pub(crate) trait Observer: Send + Sync + Sized + 'static {
    /// The agent sent an update. Nothing more is read from it until this returns.
    fn updated(client: &Client<Self>, update: &SessionUpdate);

    /// The agent requests permission. The policy decides, and a person if needed.
    fn asked(
        client: &Arc<Client<Self>>,
        request: RequestPermissionRequest,
        responder: Responder<RequestPermissionResponse, V1>,
    ) {
        respond_apart(client, responder, move |client| client.permission(&request));
    }

    /// The agent sent a message.
    fn on_message(&self) {}

    /// The agent wrote a line that is not a message.
    fn on_invalid_line(&self) {}

    /// Approval is required for this, or no longer required.
    fn waits_for(&self, _what: Option<String>) {}

    /// An operation was allowed, or denied for a reason.
    fn decided(&self, _what: &str, _answer: &Result<(), String>) {}

    /// A terminal was opened, as this task.
    fn opened(&self, _task: &str, _command: &str) {}
}

/// Answers the requests of one agent.
pub(crate) struct Client<W> {
    pub(crate) observer: W,
    pub(crate) terminals: Terminals,
    /// What it may do. Files outside the project's directory are neither read nor written.
    pub(crate) permissions: Arc<PolicyPermissions>,
    /// What a person has already allowed.
    pub(crate) approved: Approved,
    /// How the agent differs from others.
    pub(crate) quirks: Quirks,
    /// Whether updates are ignored, because the agent repeats a session that is loaded.
    pub(crate) replays: AtomicBool,
}

/// Refuses a request. The agent's model reads the reason.
#[expect(clippy::needless_pass_by_value, reason = "it is passed to map_err")]
fn refused(why: impl ToString) -> agent_client_protocol::Error {
    agent_client_protocol::Error::new(-32000, why.to_string())
}

impl<W: Observer> Client<W> {
    pub(crate) fn new(observer: W, terminals: Terminals, quirks: Quirks) -> Self {
        let permissions = Arc::clone(&terminals.permissions);
        let (approved, replays) = (Approved::default(), AtomicBool::new(false));
        Self { observer, terminals, permissions, approved, quirks, replays }
    }

    /// Takes a line that the protocol does not handle.
    pub(super) fn hear(&self, heard: UnhandledLine) {
        match heard {
            UnhandledLine::Invalid => self.observer.on_invalid_line(),
            UnhandledLine::Update(_) if self.replays.load(Ordering::SeqCst) => self.observer.on_message(),
            UnhandledLine::Update(update) => W::updated(self, &update),
        }
    }

    /// Asks whether an operation is allowed. The observer knows that the agent waits while a person is asked.
    fn ask(&self, asked: &Operation, title: &str) -> Result<(), String> {
        let mut waits = false;
        let answer = self.permissions.ask(asked, || {
            let is_approved = !self.permissions.minds_environment(asked)
                && self.approved.take(asked, &self.permissions.cwd);
            if !is_approved {
                waits = true;
                self.observer.waits_for(Some(title.to_owned()));
            }
            is_approved
        });
        if waits {
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
    ) -> Answered<RequestPermissionResponse> {
        let fields = &request.tool_call.fields;
        let title = fields.title.clone().unwrap_or_else(|| request.tool_call.tool_call_id.0.to_string());
        let asked = understand(request, self.quirks, &self.permissions.shell);
        if let Some(question) = proposal(request)
            && self.permissions.await_own(&asked, &question, || self.observer.waits_for(Some(title.clone())))
        {
            self.observer.waits_for(None);
            return Err(refused(format!("{question} must be answered in the process that asked")));
        }
        // Prefer `AllowOnce`: an approval must not apply to later requests.
        let wanted = match self.ask(&asked, &title) {
            Ok(()) => [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways],
            Err(_) => [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways],
        };
        Ok(RequestPermissionResponse::new(choose(request, wanted)))
    }

    pub(crate) fn read(&self, request: &ReadTextFileRequest) -> Answered<ReadTextFileResponse> {
        self.observer.on_message();
        files::read(&self.permissions.project, &request.path, request.line, request.limit)
            .map(ReadTextFileResponse::new)
            .map_err(refused)
    }

    pub(crate) fn write(&self, request: &WriteTextFileRequest) -> Answered<WriteTextFileResponse> {
        let asked = Operation::Edit { paths: vec![request.path.clone()] };
        self.ask(&asked, &format!("write {}", request.path.display())).map_err(refused)?;
        files::write(&self.permissions.project, &request.path, &request.content)
            .map(|()| WriteTextFileResponse::new())
            .map_err(refused)
    }

    pub(crate) fn create_terminal(
        &self,
        request: &CreateTerminalRequest,
    ) -> Answered<CreateTerminalResponse> {
        let names = request.env.iter().map(|added| added.name.as_bytes());
        check_set_variables(names).map_err(refused)?;
        let command = self.terminals.command(request);
        let title = command.to_line();
        let env = request.env.iter().map(|added| (added.name.clone(), added.value.clone())).collect();
        let asked = Operation::Command { command, cwd: request.cwd.clone(), env };
        self.ask(&asked, &title).map_err(refused)?;
        let id = self.terminals.create(request).map_err(refused)?;
        self.observer.opened(&id, &title);
        Ok(CreateTerminalResponse::new(id))
    }

    pub(crate) fn terminal_output(
        &self,
        request: &TerminalOutputRequest,
    ) -> Answered<TerminalOutputResponse> {
        self.observer.on_message();
        self.terminals.output(&request.terminal_id.0).map_err(refused)
    }

    pub(crate) fn wait_for_terminal(
        &self,
        request: &WaitForTerminalExitRequest,
    ) -> Answered<WaitForTerminalExitResponse> {
        let status = self.terminals.wait(&request.terminal_id.0);
        self.observer.on_message();
        status.map(WaitForTerminalExitResponse::new).map_err(refused)
    }

    pub(crate) fn kill_terminal(&self, request: &KillTerminalRequest) -> Answered<KillTerminalResponse> {
        self.terminals.kill(&request.terminal_id.0).map(|()| KillTerminalResponse::new()).map_err(refused)
    }

    pub(crate) fn release_terminal(
        &self,
        request: &ReleaseTerminalRequest,
    ) -> Answered<ReleaseTerminalResponse> {
        let released = self.terminals.release(&request.terminal_id.0);
        released.map(|()| ReleaseTerminalResponse::new()).map_err(refused)
    }
}
