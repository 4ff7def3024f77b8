//! Why a request is refused, and the answer that says so.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestRefusal {
    Token,
    NoHost,
    ForeignHost,
    ForeignOrigin,
    ForeignPage,
}

impl RequestRefusal {
    fn problem(self) -> Problem {
        let (status, code, detail, hint) = match self {
            Self::Token => (
                StatusCode::UNAUTHORIZED,
                "no_token",
                "the token is missing or wrong",
                "send Authorization: Bearer TOKEN",
            ),
            Self::NoHost => {
                (StatusCode::BAD_REQUEST, "no_host", "the Host header is missing or malformed", "")
            }
            Self::ForeignHost => (
                StatusCode::FORBIDDEN,
                "foreign_host",
                "the Host header does not name this server",
                "use 127.0.0.1 or localhost, or the name given with --host",
            ),
            Self::ForeignOrigin => (
                StatusCode::FORBIDDEN,
                "foreign_origin",
                "pages of other origins may not use this server",
                "",
            ),
            Self::ForeignPage => (
                StatusCode::FORBIDDEN,
                "foreign_page",
                "a browser gets data only on the page of this server: \
                 the header X-Meanwhile is missing or wrong, or another page sent the request",
                "open the link that mw serve has printed, to sign in again",
            ),
        };
        Problem::new(status, code, detail).with_hint(hint)
    }
}

impl IntoResponse for RequestRefusal {
    fn into_response(self) -> Response {
        let mut response = self.problem().into_response();
        if self == Self::Token {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
