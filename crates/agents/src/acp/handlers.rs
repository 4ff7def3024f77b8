//! Serves files and terminals to an agent, for the driver and for the chat.

use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, KillTerminalRequest, ReadTextFileRequest, ReleaseTerminalRequest,
    TerminalOutputRequest, WaitForTerminalExitRequest, WriteTextFileRequest,
};
use agent_client_protocol::{
    Agent, Builder, Client as ClientRole, HandleConnectionClose, HandleDispatchFrom, Responder,
    RunWithConnectionTo, V1,
};

use super::client::{Client, Observer};

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
    answer!(
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
