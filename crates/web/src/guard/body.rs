//! The maximum size of a request's body.

use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;

/// Maximum size of a request's body, in bytes.
pub const MAX_BODY: usize = 4 << 20;

/// Passes a request on with its body. Answers 413 if the body is larger than the limit.
///
/// The bytes are counted as they arrive, because the length in a header may be wrong.
pub(super) async fn bounded(request: Request, next: Next) -> Response {
    let too_large = || {
        let detail = format!("a request body is limited to {MAX_BODY} bytes");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail).into_response()
    };
    let (parts, body) = request.into_parts();
    // A body that announces too much is not waited for.
    if body.size_hint().lower() > MAX_BODY as u64 {
        return too_large();
    }
    match to_bytes(body, MAX_BODY).await {
        Ok(body) => next.run(Request::from_parts(parts, Body::from(body))).await,
        Err(_) => too_large(),
    }
}
