//! Handles the requests of the protocol. No handler blocks.

use std::io;
use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    CancelNotification, InitializeRequest, LoadSessionRequest, LoadSessionResponse, NewSessionRequest,
    PromptRequest, PromptResponse, SetSessionModeRequest, SetSessionModeResponse, StopReason,
};
use agent_client_protocol::{ByteStreams, Error, v1};
use mw_policy::Mode;
use serde_json::json;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};
use tokio_util::sync::CancellationToken;

use super::agent::{Agent, meta};
use super::model::TokenUsage;
use super::options::AgentOptions;
use super::replay::replay;
use super::session::AcpSession;
use super::turn;
use crate::event_loop;

/// The connection to the client.
type Connection = v1::ConnectionTo<agent_client_protocol::Client>;

/// Serves the client on standard input and output until it closes them or ends this process.
///
/// # Errors
/// Fails if the async runtime cannot be created, or the streams fail.
pub fn serve_agent(options: AgentOptions) -> io::Result<()> {
    event_loop::run(serve(Arc::new(Agent::new(options))))?
}

async fn serve(agent: Arc<Agent>) -> io::Result<()> {
    let end_signal = event_loop::end_signal()?;
    let streams = ByteStreams::new(tokio::io::stdout().compat_write(), tokio::io::stdin().compat());
    let served = tokio::select! {
        served = connection(&agent, streams) => served,
        () = end_signal => Ok(()),
    };
    agent.wait_for_calls().await;
    served.map_err(|error| io::Error::other(error.message))
}

async fn connection(
    agent: &Arc<Agent>,
    streams: impl agent_client_protocol::ConnectTo<agent_client_protocol::Agent> + 'static,
) -> Result<(), Error> {
    let [hello, begin, load, prompt, cancel, mode] = std::array::from_fn(|_| Arc::clone(agent));
    agent_client_protocol::Agent
        .v1()
        .name("meanwhile")
        .on_receive_request(
            async move |request: InitializeRequest, responder, _| {
                responder.respond(hello.initialize(&request))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, _| {
                let agent = Arc::clone(&begin);
                tokio::spawn(async move { responder.respond_with_result(agent.begin(&request).await) });
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, responder, connection: Connection| {
                tokio::spawn(answer_load(Arc::clone(&load), request, responder, connection));
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest,
                        responder: v1::Responder<PromptResponse>,
                        connection: Connection| {
                let agent = Arc::clone(&prompt);
                // The turn is registered before the next message is read, because that may be its cancellation.
                let expected =
                    agent.session(&request.session_id).map(|session| (session.expect_turn(), session));
                tokio::spawn(answer_prompt(agent, expected, request, responder, connection));
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_notification(
            async move |notification: CancelNotification, _| {
                if let Ok(session) = cancel.session(&notification.session_id) {
                    session.cancel();
                }
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: SetSessionModeRequest, responder, _| {
                responder.respond_with_result(set_mode(&mode, &request))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_to(streams)
        .await
}

/// Opens a session and replays its conversation before the response.
async fn answer_load(
    agent: Arc<Agent>,
    request: LoadSessionRequest,
    responder: v1::Responder<LoadSessionResponse>,
    connection: Connection,
) -> Result<(), Error> {
    let loaded = agent.load(&request).await.map(|(session, response)| {
        replay(&session, &agent.client(&connection, &request.session_id));
        response
    });
    responder.respond_with_result(loaded)
}

/// Does a turn in a session that expects it.
async fn answer_prompt(
    agent: Arc<Agent>,
    expected: Result<(CancellationToken, Arc<AcpSession>), Error>,
    request: PromptRequest,
    responder: v1::Responder<PromptResponse>,
    connection: Connection,
) {
    let cancellation = responder.cancellation();
    let answer = async {
        let (token, session) = expected?;
        tokio::task::block_in_place(|| agent.answer_tasks(&session));
        let client = agent.client(&connection, &request.session_id);
        let turn = turn::run(&agent, &session, &token, &client, &request.prompt);
        answered(turn, &token, cancellation.cancelled()).await
    };
    let answer = answer.await;
    // This fails only if the client has disconnected.
    let _ = responder.respond_with_result(answer);
}

/// Waits for the end of a turn, which is cancelled if its request is. Returns the response.
async fn answered(
    turn: impl Future<Output = Result<(StopReason, Option<TokenUsage>), Error>>,
    token: &CancellationToken,
    cancelled: impl Future<Output = ()>,
) -> Result<PromptResponse, Error> {
    tokio::pin!(turn);
    let (reason, usage) = tokio::select! {
        ended = &mut turn => ended?,
        () = cancelled => {
            token.cancel();
            turn.await?
        }
    };
    let response = PromptResponse::new(reason);
    Ok(match usage {
        Some(TokenUsage { input, output }) => {
            response.meta(meta(json!({"usage": {"input_tokens": input, "output_tokens": output}})))
        }
        None => response,
    })
}

fn set_mode(agent: &Agent, request: &SetSessionModeRequest) -> Result<SetSessionModeResponse, Error> {
    let session = agent.session(&request.session_id)?;
    let name = &*request.mode_id.0;
    let names = Mode::ALL.map(Mode::name).join(", ");
    let mode = Mode::named(name)
        .ok_or_else(|| Error::new(-32602, format!("no mode {name:?}; choose one of {names}")))?;
    agent.check_mode(mode)?;
    session.set_mode(mode);
    Ok(SetSessionModeResponse::new())
}
