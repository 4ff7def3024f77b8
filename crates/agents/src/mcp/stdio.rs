//! Serving one client on standard input and output.

use std::io;
use std::time::Duration;

use rmcp::ServiceExt;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

use super::lines::Lines;
use super::server::Server;

/// How long replies that are under way may take once the client is gone.
pub(super) const LAST_WORDS: Duration = Duration::from_millis(1500);

/// Serves the client on standard input and output until it closes them or ends this process.
///
/// # Errors
/// When the client does not speak the protocol, or the runtime cannot be made.
pub fn serve_stdio(server: Server) -> io::Result<()> {
    server.hold_session();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(serve(server));
    // Calls that wait do so on threads of their own; nothing is lost with them.
    runtime.shutdown_background();
    served
}

async fn serve(server: Server) -> io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let (closing, calls) = (server.inner.closing.clone(), server.inner.calls.clone());
    let receipts = server.inner.receipts.clone();
    let (transport, writer) = Lines::new(tokio::io::stdin(), tokio::io::stdout(), receipts, closing.clone());
    let served = async {
        let running = server.serve(transport).await.map_err(io::Error::other)?;
        running.waiting().await.map_err(io::Error::other)?;
        // What was said last is still on its way.
        let _ = writer.await;
        Ok(())
    };
    let told_to_end = async {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        closing.cancel();
        let _ = timeout(LAST_WORDS, calls.all_over()).await;
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
