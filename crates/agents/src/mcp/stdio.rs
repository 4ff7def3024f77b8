//! Serving one client on standard input and output.

use std::io;
use std::time::Duration;

use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleServer, ServiceExt};
use tokio::signal::unix::{SignalKind, signal};

use super::caller::Closing;
use super::receipts::Receipts;
use super::server::Server;

/// How long replies that are under way may take once the client is gone.
const LAST_WORDS: Duration = Duration::from_millis(1500);

/// Serves the client on standard input and output until it closes them or ends this process.
///
/// # Errors
/// When the client does not speak the protocol, or the runtime cannot be made.
pub fn serve_stdio(server: Server) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(serve(server));
    // Calls that wait do so on threads of their own; nothing is lost with them.
    runtime.shutdown_background();
    served
}

async fn serve(server: Server) -> io::Result<()> {
    let mut ends =
        [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, signal(SignalKind::hangup())?];
    let closing = server.inner.closing.clone();
    let transport = Confirming {
        inner: AsyncRwTransport::new(tokio::io::stdin(), tokio::io::stdout()),
        receipts: server.inner.receipts.clone(),
        closing: closing.clone(),
    };
    let served = async {
        let running = server.serve(transport).await.map_err(io::Error::other)?;
        running.waiting().await.map_err(io::Error::other)?;
        Ok(())
    };
    let [interrupt, terminate, hangup] = &mut ends;
    let ended = async {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        closing.begin();
    };
    tokio::select! {
        served = served => served,
        () = async { ended.await; tokio::time::sleep(LAST_WORDS).await } => Ok(()),
    }
}

/// A transport that says when a reply has been written.
struct Confirming<T> {
    inner: T,
    receipts: Receipts,
    closing: Closing,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Confirming<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let receipt = answered(&message).and_then(|id| self.receipts.take(id));
        let sent = self.inner.send(message);
        async move {
            let sent = sent.await;
            if let (Ok(()), Some(receipt)) = (&sent, receipt) {
                // What it does may wait for the disk.
                let _ = tokio::task::spawn_blocking(|| receipt.confirm()).await;
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let received = self.inner.receive().await;
        if received.is_none() {
            self.closing.begin();
        }
        received
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}

fn answered(message: &TxJsonRpcMessage<RoleServer>) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}
