//! The built-in agent: its sessions, its model, and their shared state.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, FileSystemCapabilities, Implementation, InitializeRequest, InitializeResponse,
    LoadSessionRequest, LoadSessionResponse, NewSessionRequest, NewSessionResponse, PromptCapabilities,
    SessionId, SessionMode, SessionModeState,
};
use agent_client_protocol::{Error, v1};
use meanwhile::Scope;
use meanwhile::engine::{Home, Runtime};
use mw_desk::text::with_hint;
use mw_model::TaskId;
use mw_policy::Mode;
use serde_json::{Map, Value, json};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::client::SessionClient;
use super::conversation::Conversation;
use super::files::ProjectRoots;
use super::instructions::system_prompt;
use super::model::{Model, ModelError};
use super::options::{AgentOptions, Project};
use super::servers::{Servers, own_session};
use super::session::{AcpSession, Work};
use super::session_log::{LoadedSession, SessionLog, SessionLogError, new_id};
use super::turn::failed;
use crate::delivery::calls::Calls;
use crate::delivery::deliveries::{Deliveries, DeliveryOptions};
use crate::delivery::instructions::AtEnd;
use crate::lock::Lock;
use mw_tools::Toolset;
use mw_tools::call::SessionEnd;
use mw_tools::task_calls::TaskCalls;

/// How long calls may take to end after the client has disconnected. Cancelled commands are killed first.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(8);

/// The shared state of all sessions of the agent.
pub(super) struct Agent {
    pub(super) options: AgentOptions,
    pub(super) toolset: Arc<Toolset>,
    pub(super) deliveries: Deliveries,
    pub(super) calls: Calls,
    /// Cancelled when the agent shuts down.
    pub(super) closing: CancellationToken,
    model: OnceLock<Result<Model, ModelError>>,
    sessions: Mutex<HashMap<String, Arc<AcpSession>>>,
    /// Whether the client reads and writes files.
    client_files: Mutex<FileSystemCapabilities>,
    /// The sessions whose confined tasks are answered.
    task_calls: TaskCalls,
}

impl Agent {
    pub(super) fn new(options: AgentOptions) -> Self {
        // The sessions of the agent end with its client.
        let delivery = DeliveryOptions {
            dialect: options.dialect,
            context: None,
            session_end: SessionEnd::Keep,
            // Each project has its own limit. A day exceeds all of them.
            longest_call: Duration::from_secs(24 * 3600),
        };
        Self {
            toolset: Arc::new(Toolset::of(options.dialect).waiting(options.limits.wait_ms)),
            deliveries: Deliveries::new(options.home.clone(), delivery, options.tells),
            calls: Calls::default(),
            closing: CancellationToken::new(),
            model: OnceLock::new(),
            sessions: Mutex::default(),
            client_files: Mutex::default(),
            task_calls: TaskCalls::default(),
            options,
        }
    }

    /// Refuses a mode that is less strict than that of the surrounding session.
    pub(super) fn check_mode(&self, mode: Mode) -> Result<(), Error> {
        let laid_down = self.options.around.as_ref().map_or(mode, |around| around.mode_beside(mode));
        if laid_down == mode {
            return Ok(());
        }
        let (asked, held) = (mode.name(), laid_down.name());
        Err(Error::new(-32602, format!("cannot set mode {asked}: the surrounding session is in mode {held}")))
    }

    pub(super) fn model(&self) -> Result<Model, ModelError> {
        let made =
            || self.options.model.clone().and_then(|choice| Model::new(choice, self.options.limits.silence));
        self.model.get_or_init(made).clone()
    }

    pub(super) fn session(&self, id: &SessionId) -> Result<Arc<AcpSession>, Error> {
        let sessions = self.sessions.locked();
        sessions.get(&*id.0).cloned().ok_or_else(|| {
            Error::new(-32602, format!("no session {:?}: create one with session/new, or load it", &*id.0))
        })
    }

    /// Returns the name of a task that was just started, in the agent's dialect.
    pub(super) fn name_of_task(&self, session: &AcpSession, task: &TaskId) -> String {
        let scope = Scope::Session(session.call_settings.session.clone());
        let find = || session.home.with(|runtime| runtime.tasks().task(task.as_str(), &scope));
        match tokio::task::block_in_place(find) {
            Ok(task) => self.options.dialect.handle(&task),
            Err(_) => task.to_string(),
        }
    }

    pub(super) fn initialize(&self, request: &InitializeRequest) -> InitializeResponse {
        self.client_files.locked().clone_from(&request.client_capabilities.fs);
        let prompts = PromptCapabilities::new().embedded_context(true);
        InitializeResponse::new(ProtocolVersion::V1)
            .agent_capabilities(AgentCapabilities::new().load_session(true).prompt_capabilities(prompts))
            .agent_info(
                Implementation::new("meanwhile", env!("CARGO_PKG_VERSION")).title("meanwhile".to_owned()),
            )
    }

    pub(super) fn client(
        &self,
        connection: &v1::ConnectionTo<agent_client_protocol::Client>,
        session: &SessionId,
    ) -> SessionClient {
        let files = self.client_files.locked().clone();
        SessionClient { connection: connection.clone(), session: session.clone(), files }
    }

    /// Creates a session.
    pub(super) async fn begin(&self, request: &NewSessionRequest) -> Result<NewSessionResponse, Error> {
        self.model().map_err(|error| missing(&error))?;
        let id = new_id().map_err(|error| failed("random", &error.to_string(), ""))?;
        let home = Home::open(&self.options.home.settings().home)
            .map_err(|error| failed("home", &error.to_string(), &error.hint()))?;
        let store = SessionLog::create(home.root(), &id, &request.cwd.to_string_lossy());
        let store = store.map_err(|error| unusable(&error))?;
        let found = LoadedSession { store, conversation: Conversation::default(), torn: 0 };
        let (session, report) = self.open(id, request, found).await?;
        Ok(NewSessionResponse::new(session.id.clone()).modes(modes(session.mode())).meta(report))
    }

    /// Loads a stored session.
    pub(super) async fn load(
        &self,
        request: &LoadSessionRequest,
    ) -> Result<(Arc<AcpSession>, LoadSessionResponse), Error> {
        self.model().map_err(|error| missing(&error))?;
        let id = request.session_id.0.to_string();
        let parameters = NewSessionRequest::new(request.cwd.clone())
            .additional_directories(request.additional_directories.clone())
            .mcp_servers(request.mcp_servers.clone());
        {
            let mut sessions = self.sessions.locked();
            if let Some(open) = sessions.get(&id)
                && open.work.try_lock().is_err()
            {
                return Err(Error::new(
                    -32600,
                    "a turn of this session is running: cancel it, or wait for its end",
                ));
            }
            // Removing the session closes its file, which is opened again below.
            if let Some(closed) = sessions.remove(&id) {
                self.task_calls.leave(&closed.call_settings.session);
            }
        }
        let found =
            SessionLog::open(&self.options.home.settings().home, &id).map_err(|error| unusable(&error))?;
        let (session, report) = self.open(id, &parameters, found).await?;
        let response = LoadSessionResponse::new().modes(modes(session.mode())).meta(report);
        Ok((session, response))
    }

    async fn open(
        &self,
        id: String,
        parameters: &NewSessionRequest,
        found: LoadedSession,
    ) -> Result<(Arc<AcpSession>, Map<String, Value>), Error> {
        let refused = |why: String| Error::new(-32602, why);
        if !parameters.cwd.is_absolute() {
            return Err(refused(format!("cwd {} is not absolute", parameters.cwd.display())));
        }
        let roots =
            ProjectRoots::new(&parameters.cwd, &parameters.additional_directories).map_err(refused)?;
        let Project { home, mut call_settings } =
            (self.options.project)(roots.root()).map_err(|why| failed("settings", &why, ""))?;
        let named =
            parameters.mcp_servers.iter().find_map(own_session).or_else(|| self.options.session.clone());
        // Inside a task, the agent always acts for the session of the task.
        let around = home.with(|runtime| Ok(runtime.approvals().enclosing_session(named.as_deref())));
        let around = around.map_err(|error| failed("home", &error.to_string(), &error.hint()))?;
        call_settings.session = around.unwrap_or_else(|| format!("acp:{id}"));
        call_settings.cwd = roots.root().to_owned();
        let at_end = AtEnd::of(&call_settings, &home);
        let system = system_prompt(roots.root(), self.options.dialect, call_settings.background, at_end);
        let LoadedSession { store, conversation, torn } = found;
        let (servers, missing) = Servers::start(&parameters.mcp_servers, roots.root()).await;
        let session = AcpSession {
            id,
            roots,
            home,
            mode: Mutex::new(call_settings.policy.mode),
            call_settings,
            system,
            servers: tokio::sync::RwLock::new(servers),
            turns: Mutex::default(),
            work: Arc::new(tokio::sync::Mutex::new(Work { store, conversation })),
        };
        session.work.lock().await.mend().map_err(|error| unusable(&error))?;
        let session = Arc::new(session);
        self.sessions.locked().insert(session.id.clone(), Arc::clone(&session));
        tokio::task::block_in_place(|| self.answer_tasks(&session));
        Ok((session, report(torn, &missing)))
    }

    /// Answers the confined tasks of a session, in the mode that its client has set. Blocks.
    pub(super) fn answer_tasks(&self, session: &Arc<AcpSession>) {
        let open = Arc::downgrade(session);
        let settings = move |_: &Runtime| {
            let closed =
                || meanwhile::Error::invalid("the session is closed", "wait until it is opened again");
            Ok(open.upgrade().ok_or_else(closed)?.call_settings_now())
        };
        self.task_calls.hold(&session.home, &session.call_settings.session, settings);
    }

    /// Returns when all turns and calls have ended.
    pub(super) async fn wait_for_calls(&self) {
        self.closing.cancel();
        let sessions: Vec<_> = {
            let sessions = self.sessions.locked();
            sessions.values().cloned().collect()
        };
        let over = async {
            for session in &sessions {
                drop(session.work.lock().await);
                session.servers.write().await.end().await;
            }
            self.calls.all_over().await;
        };
        let _ = timeout(SHUTDOWN_TIMEOUT, over).await;
    }
}

/// Reports dropped data and missing servers, on standard error and in the response.
fn report(torn: usize, missing: &[String]) -> Map<String, Value> {
    let mut report = Map::new();
    if torn > 0 {
        eprintln!("mw acp: the last line of the session was incomplete; {torn} bytes were dropped");
        report.insert("dropped_bytes".to_owned(), json!(torn));
    }
    if !missing.is_empty() {
        eprintln!("mw acp: unavailable MCP servers: {}", missing.join("; "));
        report.insert("missing_servers".to_owned(), json!(missing));
    }
    if report.is_empty() { report } else { meta(Value::Object(report)) }
}

fn modes(current: Mode) -> SessionModeState {
    let about = |mode| match mode {
        Mode::Ci => "No approval requests and no background tasks",
        Mode::Plan => "Read only",
        Mode::Safe => "Safe commands run; everything else needs approval",
        Mode::Auto => "Tools run; unsafe commands need approval",
        Mode::Dangerous => "Commands run without approval",
    };
    let mode = |mode: Mode| SessionMode::new(mode.name(), mode.name()).description(about(mode).to_owned());
    SessionModeState::new(current.name(), Mode::ALL.map(mode).to_vec())
}

pub(super) fn meta(value: Value) -> Map<String, Value> {
    Map::from_iter([("meanwhile".to_owned(), value)])
}

fn missing(error: &ModelError) -> Error {
    Error::new(-32000, with_hint(&error.message, &error.hint))
        .data(json!({"code": "model_missing", "hint": error.hint}))
}

fn unusable(error: &SessionLogError) -> Error {
    let code = match error {
        SessionLogError::NotFound(_) => -32002,
        SessionLogError::InUse(_) => -32600,
        SessionLogError::Damaged { .. } | SessionLogError::Io { .. } => -32603,
    };
    Error::new(code, error.to_string())
}
