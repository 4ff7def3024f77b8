//! Serves one client on standard input and output.

use std::io;
use std::time::Duration;

use rmcp::ServiceExt;
use tokio::time::timeout;

use super::server::Server;
use super::stdio_transport::StdioTransport;
use crate::event_loop;
use crate::hosts::session_of;

/// How long running calls may take to reply after the client has left.
const LAST_WORDS: Duration = Duration::from_millis(1500);

/// Serves the client on standard input and output until it closes them or ends this process.
///
/// # Errors
/// When the client does not speak the protocol, or the runtime cannot be created.
pub fn serve_stdio(server: Server) -> io::Result<()> {
    // The session is held before the first call, as far as it is known.
    server.inner.deliveries.hold(&session_of(&server.inner.options.evidence));
    // Blocked calls run on separate threads, which may end with the process.
    event_loop::run(serve(server))?
}

async fn serve(server: Server) -> io::Result<()> {
    let end_signal = event_loop::end_signal()?;
    let (closing, ending) = (server.inner.closing.clone(), server.clone());
    let receipts = (server.inner.receipts.clone(), server.inner.pending_calls.clone());
    let (transport, writer) =
        StdioTransport::new(tokio::io::stdin(), tokio::io::stdout(), receipts, closing.clone());
    let served = async {
        let running = server.serve(transport).await.map_err(io::Error::other)?;
        running.waiting().await.map_err(io::Error::other)?;
        // The last replies may not be written yet.
        let _ = writer.await;
        Ok(())
    };
    let told_to_end = async {
        end_signal.await;
        ending.last_words().await;
    };
    let left_alone = async {
        closing.cancelled().await;
        tokio::time::sleep(LAST_WORDS).await;
    };
    tokio::select! {
        served = served => served.or_else(|error| if closing.is_cancelled() { Ok(()) } else { Err(error) }),
        () = told_to_end => Ok(()),
        () = left_alone => Ok(()),
    }
}

impl Server {
    /// Ends waiting calls. Returns when their replies were written, or after 1.5 s.
    pub async fn last_words(&self) {
        self.inner.closing.cancel();
        let _ = timeout(LAST_WORDS, self.inner.calls.all_over()).await;
    }
}
