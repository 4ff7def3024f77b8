//! Errors as `application/problem+json` (RFC 9457).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use meanwhile::Error;
use meanwhile::error::ErrorClass;
use serde::Serialize;
use utoipa::ToSchema;

/// What went wrong.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Always `about:blank`: `code` distinguishes errors.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The meaning of the status.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// What went wrong, in words.
    detail: Box<str>,
    /// The stable code of the error, as in `mw --json`.
    code: &'static str,
    /// What to do next.
    #[serde(skip_serializing_if = "str::is_empty")]
    hint: Box<str>,
    /// After how many seconds to try again.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("error"),
            status: status.as_u16(),
            detail: detail.into().into(),
            code,
            hint: "".into(),
            retry_after: None,
        }
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid", detail)
    }

    /// Returns the problem of too many requests or too few threads.
    pub(crate) fn busy(status: StatusCode, detail: &str, seconds: u64) -> Self {
        let retry_after = Some(seconds.max(1));
        Self { retry_after, ..Self::new(status, "busy", detail) }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into().into();
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let text = serde_json::to_string(&self).unwrap_or_default();
        let kind = [(header::CONTENT_TYPE, "application/problem+json")];
        let mut response = (status, kind, text).into_response();
        let seconds = self.retry_after.and_then(|seconds| HeaderValue::from_str(&seconds.to_string()).ok());
        response.headers_mut().extend(seconds.map(|value| (header::RETRY_AFTER, value)));
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let status = match error.class() {
            ErrorClass::Invalid => StatusCode::BAD_REQUEST,
            ErrorClass::NotFound => StatusCode::NOT_FOUND,
            ErrorClass::Denied | ErrorClass::NeedsApproval => StatusCode::FORBIDDEN,
            ErrorClass::Ambiguous | ErrorClass::Conflict => StatusCode::CONFLICT,
            ErrorClass::Busy => StatusCode::SERVICE_UNAVAILABLE,
            ErrorClass::NoProgram
            | ErrorClass::NotExecutable
            | ErrorClass::NoDirectory
            | ErrorClass::NotStarted => StatusCode::UNPROCESSABLE_ENTITY,
            ErrorClass::Supervisor | ErrorClass::Storage => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.code().as_str(), error.to_string()).with_hint(error.hint())
    }
}

/// Answers a request that no route matches.
pub(crate) async fn no_route() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "no_route", "there is nothing at this path")
        .with_hint("see /api/v1/openapi.json")
}

/// Answers a request with a method that a route does not have.
pub(crate) async fn no_method() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "no_method", "this path does not have this method")
        .with_hint("see /api/v1/openapi.json")
}
