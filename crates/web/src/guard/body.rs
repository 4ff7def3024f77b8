//! The maximum size of a request's body.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use axum::Error;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body::{Frame, SizeHint};

/// Maximum size of a request's body, in bytes.
pub const MOST_BODY: usize = 4 << 20;

/// Passes a request on with a limited body. Answers 413 if the routes read more than the limit.
///
/// The bytes are counted as they arrive, because the length in a header may be wrong.
pub(super) async fn bounded(request: Request, next: Next) -> Response {
    let is_exceeded = Arc::new(AtomicBool::new(false));
    let (parts, body) = request.into_parts();
    let body = Bounded { body, left: MOST_BODY, is_exceeded: Arc::clone(&is_exceeded) };
    let response = next.run(Request::from_parts(parts, Body::new(body))).await;
    if is_exceeded.load(Ordering::Relaxed) {
        let message = format!("the body of a request may have {MOST_BODY} bytes\n");
        return (StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
    }
    response
}

/// A body that fails when it is larger than allowed.
struct Bounded {
    body: Body,
    left: usize,
    is_exceeded: Arc<AtomicBool>,
}

impl http_body::Body for Bounded {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let polled = ready!(Pin::new(&mut self.body).poll_frame(context));
        let count = polled.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref()).map_or(0, Bytes::len);
        let Some(left) = self.left.checked_sub(count) else {
            self.is_exceeded.store(true, Ordering::Relaxed);
            return Poll::Ready(Some(Err(Error::new("the body is too large"))));
        };
        self.left = left;
        Poll::Ready(polled)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
