//! Serves files and terminals to an agent, for the driver and for the chat.

use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, KillTerminalRequest, KillTerminalResponse, ReadTextFileRequest,
    ReleaseTerminalRequest, ReleaseTerminalResponse, TerminalOutputRequest, WaitForTerminalExitRequest,
    WriteTextFileRequest,
};
use agent_client_protocol::{
    Agent, Builder, Client as ClientRole, HandleConnectionClose, HandleDispatchFrom, Responder,
    RunWithConnectionTo, V1,
};

use super::client::{Client, Observer};

/// Returns our side of a connection that answers file and terminal requests. The caller adds handlers for updates and
/// permission requests.
pub(crate) fn handlers<W: Observer>(
    client: &Arc<Client<W>>,
) -> Builder<
    ClientRole,
    impl HandleDispatchFrom<Agent> + use<W>,
    impl RunWithConnectionTo<Agent> + use<W>,
    impl HandleConnectionClose<Agent> + use<W>,
    V1,
> {
    let client = |()| Arc::clone(client);
    let (read, write, create, output) = (client(()), client(()), client(()), client(()));
    let (wait, kill, release) = (client(()), client(()), client(()));
    ClientRole
        .v1()
        .name("meanwhile")
        .on_receive_request(
            async move |request: ReadTextFileRequest, responder, _connection| {
                respond_apart(&read, responder, move |client| client.read(&request));
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WriteTextFileRequest, responder, _connection| {
                respond_apart(&write, responder, move |client| client.write(&request));
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CreateTerminalRequest, responder, _connection| {
                respond_apart(&create, responder, move |client| client.create_terminal(&request));
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: TerminalOutputRequest, responder, _connection| {
                respond_apart(&output, responder, move |client| {
                    client.terminal_output(&request.terminal_id.0)
                });
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: WaitForTerminalExitRequest, responder, _connection| {
                respond_apart(&wait, responder, move |client| {
                    client.wait_for_terminal(&request.terminal_id.0)
                });
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: KillTerminalRequest, responder, _connection| {
                respond_apart(&kill, responder, move |client| {
                    client.kill_terminal(&request.terminal_id.0).map(|()| KillTerminalResponse::new())
                });
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ReleaseTerminalRequest, responder, _connection| {
                respond_apart(&release, responder, move |client| {
                    client.release_terminal(&request.terminal_id.0).map(|()| ReleaseTerminalResponse::new())
                });
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        )
}

/// Runs a request on a separate thread, which sends the response.
pub(crate) fn respond_apart<W: Observer, T: agent_client_protocol::JsonRpcResponse + Send + 'static>(
    client: &Arc<Client<W>>,
    responder: Responder<T, V1>,
    work: impl FnOnce(&Client<W>) -> Result<T, agent_client_protocol::Error> + Send + 'static,
) {
    let client = Arc::clone(client);
    tokio::task::spawn_blocking(move || responder.respond_with_result(work(&client)));
}
