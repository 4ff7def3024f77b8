//! The checks of a request's head, and the guard as a layer around routes.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};

use super::body;
use super::token::Token;

/// The names of this machine in the `Host` of a request.
const HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The names in the `Origin` of this server's own pages. `::1` is not one: another program may listen on its port.
const ORIGINS: [&str; 2] = ["127.0.0.1", "localhost"];

/// Decides which requests reach the routes of a server on loopback.
#[derive(Debug)]
pub struct Guard {
    token: Token,
    port: u16,
}

impl Guard {
    /// Creates the guard of a server on this port.
    pub fn new(token: Token, port: u16) -> Self {
        Self { token, port }
    }

    /// Puts the guard in front of routes. It must be the outermost layer.
    pub fn around(self, routes: Router) -> Router {
        routes.layer(middleware::from_fn_with_state(Arc::new(self), admit))
    }

    /// Returns why a request is refused, if it is.
    fn refusal(&self, uri: &Uri, headers: &HeaderMap) -> Option<RequestRefusal> {
        if !self.is_authorized(headers) {
            return Some(RequestRefusal::Token);
        }
        let hosts = headers.get_all(header::HOST).iter().map(authority);
        // A request in absolute form names its host in the address.
        let named = uri.authority().map(|authority| Some(authority.clone()));
        let mut hosts = hosts.chain(named).peekable();
        if hosts.peek().is_none() {
            return Some(RequestRefusal::NoHost);
        }
        for host in hosts {
            match host {
                None => return Some(RequestRefusal::NoHost),
                Some(host) if !is_one_of(&HOSTS, host.host()) => return Some(RequestRefusal::ForeignHost),
                Some(_) => {}
            }
        }
        // Programs send no Origin; browsers send one where it matters.
        let is_own = headers.get_all(header::ORIGIN).iter().all(|origin| self.is_own_origin(origin));
        (!is_own).then_some(RequestRefusal::ForeignOrigin)
    }

    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        given.and_then(|value| value.strip_prefix("Bearer ")).is_some_and(|given| self.token.is(given))
    }

    /// Returns whether an origin is that of this server's own pages: scheme, name and port.
    fn is_own_origin(&self, origin: &HeaderValue) -> bool {
        let Some(origin) = origin.to_str().ok().and_then(|text| text.trim().parse::<Uri>().ok()) else {
            return false;
        };
        let port = origin.port_u16().unwrap_or(80);
        origin.scheme_str() == Some("http")
            && origin.host().is_some_and(|host| is_one_of(&ORIGINS, host))
            && port == self.port
    }
}

fn authority(host: &HeaderValue) -> Option<Authority> {
    host.to_str().ok()?.parse().ok()
}

fn is_one_of(names: &[&str], host: &str) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(host))
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestRefusal {
    Token,
    NoHost,
    ForeignHost,
    ForeignOrigin,
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
                let message = "the Host header does not name this machine: use 127.0.0.1 or localhost\n";
                (StatusCode::FORBIDDEN, message).into_response()
            }
            Self::ForeignOrigin => {
                (StatusCode::FORBIDDEN, "pages of other origins may not use this server\n").into_response()
            }
        }
    }
}

/// Passes a request on, or refuses it.
async fn admit(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    if let Some(refusal) = guard.refusal(request.uri(), request.headers()) {
        return refusal.into_response();
    }
    body::bounded(request, next).await
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: u16 = 4711;

    /// Returns the refusal of a request with these headers. The token and the host are valid unless given.
    fn refused(given: &[(&'static str, &'static str)]) -> Option<RequestRefusal> {
        let defaults = [("authorization", "Bearer secret"), ("host", "127.0.0.1:4711")];
        let mut headers = HeaderMap::new();
        let absent = |name: &str| !given.iter().any(|(other, _)| *other == name);
        for (name, value) in defaults.iter().filter(|(name, _)| absent(name)).chain(given) {
            headers.append(*name, HeaderValue::from_static(value));
        }
        let guard = Guard::new(Token::new("secret").unwrap(), PORT);
        guard.refusal(&Uri::from_static("/mcp"), &headers)
    }

    #[test]
    fn the_token_is_checked_before_the_host() {
        assert_eq!(refused(&[]), None);
        for wrong in ["", "Bearer ", "Bearer wrong", "secret", "bearer secret", "Basic secret"] {
            let headers = [("authorization", wrong), ("host", "evil.example")];
            assert_eq!(refused(&headers), Some(RequestRefusal::Token), "{wrong}");
        }
    }

    #[test]
    fn a_request_must_name_this_machine_as_host() {
        for own in ["127.0.0.1", "127.0.0.1:4711", "localhost:4711", "LocalHost", "[::1]:4711"] {
            assert_eq!(refused(&[("host", own)]), None, "{own}");
        }
        for foreign in
            ["evil.example", "evil.example:4711", "127.0.0.1.evil.example", "0.0.0.0", "127.0.0.1@evil"]
        {
            assert_eq!(refused(&[("host", foreign)]), Some(RequestRefusal::ForeignHost), "{foreign}");
        }
        for malformed in ["", "a b", "http://127.0.0.1/"] {
            assert_eq!(refused(&[("host", malformed)]), Some(RequestRefusal::NoHost), "{malformed}");
        }
        let two = [("host", "127.0.0.1"), ("host", "evil.example")];
        assert_eq!(refused(&two), Some(RequestRefusal::ForeignHost));
    }

    #[test]
    fn a_request_without_a_host_is_refused() {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer secret"));
        let guard = Guard::new(Token::new("secret").unwrap(), PORT);
        assert_eq!(guard.refusal(&Uri::from_static("/mcp"), &headers), Some(RequestRefusal::NoHost));
        let absolute = Uri::from_static("http://evil.example/mcp");
        assert_eq!(guard.refusal(&absolute, &headers), Some(RequestRefusal::ForeignHost));
    }

    #[test]
    fn only_origins_of_this_server_are_accepted() {
        for own in ["http://127.0.0.1:4711", "http://localhost:4711"] {
            assert_eq!(refused(&[("origin", own)]), None, "{own}");
        }
        let foreign = [
            "null",
            "",
            "http://127.0.0.1",
            "http://localhost:1",
            "https://localhost:4711",
            "http://evil.example:4711",
            "http://[::1]:4711",
            "file://",
        ];
        for foreign in foreign {
            assert_eq!(refused(&[("origin", foreign)]), Some(RequestRefusal::ForeignOrigin), "{foreign}");
        }
        let two = [("origin", "http://localhost:4711"), ("origin", "https://evil.example")];
        assert_eq!(refused(&two), Some(RequestRefusal::ForeignOrigin));
    }
}
