//! The state of a server, shared by its handlers.

use std::sync::Arc;

use meanwhile::engine::Runtime;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::elicitation;
use super::http_clients::HttpClients;
use super::options::ServerOptions;
use super::recipient::ClientRecipients;
use super::subscriptions::Subscriptions;
use crate::delivery::calls::Calls;
use crate::delivery::deliveries::{Deliveries, DeliveryOptions};
use crate::delivery::pending_calls::PendingCalls;
use crate::delivery::receipts::Receipts;
use mw_tools::call::CallSettings;
use mw_tools::task_calls::TaskCalls;

/// What is known about a request of a client.
pub(super) type Context = RequestContext<RoleServer>;
/// The answer to a request.
pub(super) type Answered<T> = Result<T, ErrorData>;

/// An MCP server. Clones share the same state.
#[derive(Clone)]
pub struct Server {
    pub(super) inner: Arc<Inner>,
    /// Set if this clone serves one of several clients.
    pub(super) seat: Option<Arc<ClientRecipients>>,
}

pub(super) struct Inner {
    pub(super) options: ServerOptions,
    pub(super) deliveries: Deliveries,
    pub(super) receipts: Receipts,
    /// Cancelled when the server shuts down.
    pub(super) closing: CancellationToken,
    pub(super) calls: Calls,
    /// Calls that may wait but have not yet said for which tasks.
    pub(super) pending_calls: PendingCalls,
    pub(super) subscriptions: Subscriptions,
    /// The sessions of each HTTP client.
    pub(super) clients: HttpClients,
    /// When questions were asked by replies.
    pub(super) asked_at: elicitation::AskedAt,
    /// The sessions whose confined tasks are answered.
    pub(super) task_calls: TaskCalls,
}

impl Server {
    /// Creates a server.
    #[must_use]
    pub fn new(options: ServerOptions) -> Self {
        let delivery = DeliveryOptions {
            dialect: options.dialect,
            context: Some(options.call_settings.context_stamp.clone()),
            session_end: options.call_settings.session_end,
            longest_call: options.call_settings.longest_call,
        };
        Self {
            inner: Arc::new(Inner {
                deliveries: Deliveries::new(options.home.clone(), delivery, options.tells),
                receipts: Receipts::default(),
                closing: CancellationToken::new(),
                calls: Calls::default(),
                pending_calls: PendingCalls::default(),
                subscriptions: Subscriptions::new(options.home.clone()),
                clients: HttpClients::default(),
                asked_at: elicitation::AskedAt::default(),
                task_calls: TaskCalls::default(),
                options,
            }),
            seat: None,
        }
    }

    /// Returns the settings of a call. The session is taken from the call, if the host names it there.
    pub(super) fn call_settings(&self, context: &Context) -> CallSettings {
        let field = |name: &str| context.meta.get(name).and_then(Value::as_str).map(str::to_owned);
        let evidence = self.inner.options.evidence.clone().of_call(field);
        let session = self.session_of(evidence, &context.extensions);
        CallSettings { session, ..self.inner.options.call_settings.clone() }
    }

    /// Answers the confined tasks of a session, with the settings of the session's other calls. Blocks.
    pub(super) fn answer_tasks(&self, session: &str) {
        let settings =
            CallSettings { session: session.to_owned(), ..self.inner.options.call_settings.clone() };
        let settings = move |runtime: &Runtime| settings.clone().in_mode_of_session(runtime);
        self.inner.task_calls.hold(&self.inner.options.home, session, settings);
    }

    /// Runs a function with the engine on a separate thread.
    pub(super) async fn with_engine<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Runtime) -> Result<T, meanwhile::Error> + Send + 'static,
    ) -> Answered<T> {
        let home = self.inner.options.home.clone();
        let done = tokio::task::spawn_blocking(move || home.with(work)).await;
        let done = done.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        done.map_err(|error| {
            ErrorData::internal_error(error.to_string(), Some(json!({"hint": error.hint()})))
        })
    }
}
