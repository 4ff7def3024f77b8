//! Talks to an agent over its streams and answers its requests, for the driver and for the chat.

use std::io::{Read, Write};
use std::sync::Arc;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, KillTerminalRequest, ReadTextFileRequest, ReleaseTerminalRequest,
    RequestPermissionRequest, TerminalOutputRequest, WaitForTerminalExitRequest, WriteTextFileRequest,
};
use agent_client_protocol::{Agent, Client as ClientRole, Responder, V1};

use super::client::{Client, Observer};
use super::error::AcpError;
use super::wire;
use crate::event_loop;

/// The input and the output of an agent.
pub(crate) type Streams = (Box<dyn Write + Send>, Box<dyn Read + Send>);

/// Adds a handler for each type of request, which is answered by a method of the client on a separate thread.
macro_rules! answer {
    ($builder:expr, $client:expr, $($request:ty => $method:ident),+ $(,)?) => {
        $builder$(.on_receive_request(
            {
                let client = Arc::clone($client);
                async move |request: $request, responder, _connection| {
                    respond_apart(&client, responder, move |client| client.$method(&request));
                    Ok(())
                }
            },
            agent_client_protocol::on_receive_request!(),
        ))+
    };
}

/// Connects to an agent and runs `main`. Meanwhile the client receives updates and answers the agent's requests.
///
/// # Errors
/// Those of `main`; [`AcpError::Gone`] if the connection ends first.
pub(crate) fn converse<W: Observer, T>(
    client: &Arc<Client<W>>,
    (input, output): Streams,
    main: impl AsyncFnOnce(ConnectionTo<Agent>) -> Result<T, AcpError>,
) -> Result<T, AcpError> {
    let (hearing, asked) = (Arc::clone(client), Arc::clone(client));
    let transport = wire::lines(input, output, move |heard| hearing.hear(heard));
    let mut outcome = Err(AcpError::gone());
    let outcome_of_main = &mut outcome;
    let connected = answer!(
        ClientRole.v1().name("meanwhile"),
        client,
        ReadTextFileRequest => read,
        WriteTextFileRequest => write,
        CreateTerminalRequest => create_terminal,
        TerminalOutputRequest => terminal_output,
        WaitForTerminalExitRequest => wait_for_terminal,
        KillTerminalRequest => kill_terminal,
        ReleaseTerminalRequest => release_terminal,
    )
    .on_receive_request(
        async move |request: RequestPermissionRequest, responder, _connection| {
            W::asked(&asked, request, responder);
            Ok(())
        },
        agent_client_protocol::on_receive_request!(),
    )
    .connect_with(transport, async move |connection| {
        *outcome_of_main = main(connection).await;
        Ok(())
    });
    // The outcome is more important than an error while the connection is closed. Threads that wait for a terminal end
    // with this process.
    let _ = event_loop::run(connected).map_err(|error| AcpError::no_event_loop(&error))?;
    outcome
}

/// Runs a request on a separate thread, which sends the response.
pub(super) fn respond_apart<W: Observer, T: agent_client_protocol::JsonRpcResponse + Send + 'static>(
    client: &Arc<Client<W>>,
    responder: Responder<T, V1>,
    work: impl FnOnce(&Client<W>) -> Result<T, agent_client_protocol::Error> + Send + 'static,
) {
    let client = Arc::clone(client);
    tokio::task::spawn_blocking(move || responder.respond_with_result(work(&client)));
}
