//! Waits for the answer of a person during a call.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// How often it is checked whether the question was answered in another way.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Waits for the answer to a question. Returns `None` as soon as one of the tokens is cancelled or `answered` says that
/// the question was answered in another way.
pub(crate) async fn await_answer<T>(
    answer: impl Future<Output = T>,
    [cancelled, closing]: [&CancellationToken; 2],
    answered: &mut dyn FnMut() -> bool,
) -> Option<T> {
    tokio::pin!(answer);
    loop {
        tokio::select! {
            answer = &mut answer => return Some(answer),
            () = cancelled.cancelled() => return None,
            () = closing.cancelled() => return None,
            () = tokio::time::sleep(POLL_INTERVAL) => {
                if answered() {
                    return None;
                }
            }
        }
    }
}
