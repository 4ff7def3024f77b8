//! Why a request is refused, and the answer that says so.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestRefusal {
    Token,
    NoHost,
    ForeignHost,
    ForeignOrigin,
    ForeignPage,
}

impl IntoResponse for RequestRefusal {
    fn into_response(self) -> Response {
        match self {
            Self::Token => {
                let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
                let message = "the token is missing or wrong: send Authorization: Bearer TOKEN\n";
                (StatusCode::UNAUTHORIZED, challenge, message).into_response()
            }
            Self::NoHost => {
                (StatusCode::BAD_REQUEST, "the Host header is missing or malformed\n").into_response()
            }
            Self::ForeignHost => {
                let message = "the Host header does not name this server: use 127.0.0.1 or localhost\n";
                (StatusCode::FORBIDDEN, message).into_response()
            }
            Self::ForeignOrigin => {
                (StatusCode::FORBIDDEN, "pages of other origins may not use this server\n").into_response()
            }
            Self::ForeignPage => {
                let message = "a browser may change something only from a page of this server: \
                               the header X-Meanwhile is missing, or another page sent the request\n";
                (StatusCode::FORBIDDEN, message).into_response()
            }
        }
    }
}
