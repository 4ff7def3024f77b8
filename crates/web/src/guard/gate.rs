//! The checks of a request's head, and the guard as a layer around routes.

use std::sync::Arc;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};

use super::body;
use super::browsers::Browsers;
use super::refusal::RequestRefusal;
use super::server_address::ServerAddress;
use super::sign_in;
use super::token::Token;
use crate::serve::Connection;

/// What a browser may read with the cookie alone: the page itself, which has no data.
const PAGES: [&str; 3] = ["/", "/api", "/api/v1/openapi.json"];
/// The beginning of the paths of other files of the page.
const ASSETS: &str = "/assets/";
/// The header in which a browser says which page has sent a request.
const FETCH_SITE: &str = "sec-fetch-site";

/// Decides which requests reach the routes of a server.
#[derive(Debug)]
pub struct Guard {
    token: Token,
    server_address: ServerAddress,
    browsers: Option<Arc<Browsers>>,
}

/// Who sent a request that was admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caller {
    /// A program with the token.
    Program,
    /// A browser with the cookie.
    Browser,
}

impl Guard {
    /// Creates the guard of a server, for programs with this token.
    pub fn new(token: Token, server_address: ServerAddress) -> Self {
        Self { token, server_address, browsers: None }
    }

    /// Also admits browsers that are signed in.
    #[must_use]
    pub fn with_browsers(mut self, browsers: Arc<Browsers>) -> Self {
        self.browsers = Some(browsers);
        self
    }

    /// Returns where its server listens.
    #[must_use]
    pub const fn server_address(&self) -> &ServerAddress {
        &self.server_address
    }

    /// Puts the guard in front of routes. It must be the outermost layer. `C` is what a route learns of its connection.
    pub fn around<C: Clone + Send + Sync + 'static>(self, routes: Router) -> Router {
        routes.layer(middleware::from_fn_with_state(Arc::new(self), admit::<C>))
    }

    /// Returns who has sent a request, or why it is refused.
    fn refusal(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Caller, RequestRefusal> {
        let caller = self.caller(headers).ok_or(RequestRefusal::Token)?;
        self.check_addresses(uri, headers)?;
        match caller {
            Caller::Browser if !self.is_from_own_page(method, uri, headers) => {
                Err(RequestRefusal::ForeignPage)
            }
            Caller::Browser | Caller::Program => Ok(caller),
        }
    }

    fn caller(&self, headers: &HeaderMap) -> Option<Caller> {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        if let Some(given) = given {
            let is_token = given.strip_prefix("Bearer ").is_some_and(|given| self.token.is(given));
            return is_token.then_some(Caller::Program);
        }
        let is_signed_in = self.browsers.as_ref().is_some_and(|browsers| browsers.is_signed_in(headers));
        is_signed_in.then_some(Caller::Browser)
    }

    /// Returns whether a browser was told to send a request by the user or by our own page. All but the page itself needs
    /// its key: the cookie alone may come from another server on this machine, to which the browser has sent it.
    fn is_from_own_page(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> bool {
        let is_own_site =
            headers.get_all(FETCH_SITE).iter().all(|site| site == "same-origin" || site == "none");
        let is_page = PAGES.contains(&uri.path()) || uri.path().starts_with(ASSETS);
        let opens_page = is_page && matches!(*method, Method::GET | Method::HEAD);
        is_own_site && (opens_page || self.browsers.as_ref().is_some_and(|one| one.is_from_page(headers)))
    }

    /// Checks that a request was sent to this server, and by none but its own pages.
    fn check_addresses(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), RequestRefusal> {
        let hosts = headers.get_all(header::HOST).iter().map(authority);
        // A request in absolute form names its host in the address.
        let named = uri.authority().map(|authority| Some(authority.clone()));
        let mut hosts = hosts.chain(named).peekable();
        if hosts.peek().is_none() {
            return Err(RequestRefusal::NoHost);
        }
        for host in hosts {
            match host {
                None => return Err(RequestRefusal::NoHost),
                Some(host) if !self.server_address.is_host(&host) => return Err(RequestRefusal::ForeignHost),
                Some(_) => {}
            }
        }
        // Programs send no Origin; browsers send one where it matters.
        let is_own =
            headers.get_all(header::ORIGIN).iter().all(|origin| self.server_address.is_own_origin(origin));
        if is_own { Ok(()) } else { Err(RequestRefusal::ForeignOrigin) }
    }
}

fn authority(host: &HeaderValue) -> Option<Authority> {
    host.to_str().ok()?.parse().ok()
}

/// Passes a request on, signs a browser in, or refuses the request.
async fn admit<C: Clone + Send + Sync + 'static>(
    State(guard): State<Arc<Guard>>,
    ConnectInfo(connection): ConnectInfo<Connection<C>>,
    mut request: Request,
    next: Next,
) -> Response {
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    if let Some(browsers) = guard.browsers.as_ref().filter(|_| uri.path() == sign_in::PATH) {
        return match guard.check_addresses(uri, headers) {
            Ok(()) => sign_in::answer(browsers, request).await,
            Err(refusal) => refusal.into_response(),
        };
    }
    match guard.refusal(method, uri, headers) {
        Ok(Caller::Program | Caller::Browser) => {
            connection.admission.admit();
            request.extensions_mut().insert(ConnectInfo(connection.routes));
            body::bounded(request, next).await
        }
        Err(RequestRefusal::Token) if sign_in::is_for_a_person(method, uri, headers) => {
            match (&guard.browsers, guard.check_addresses(uri, headers)) {
                (Some(browsers), Ok(())) => sign_in::page(browsers, None),
                (_, _) => RequestRefusal::Token.into_response(),
            }
        }
        Err(refusal) => refusal.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::Key;

    const PORT: u16 = 4711;

    fn guard() -> Guard {
        Guard::new(Token::new("secret").unwrap(), ServerAddress::Loopback { port: PORT })
    }

    /// Returns the refusal of a request with these headers. The token and the host are valid unless given.
    fn refused(given: &[(&'static str, &'static str)]) -> Option<RequestRefusal> {
        let defaults = [("authorization", "Bearer secret"), ("host", "127.0.0.1:4711")];
        let mut headers = HeaderMap::new();
        let absent = |name: &str| !given.iter().any(|(other, _)| *other == name);
        for (name, value) in defaults.iter().filter(|(name, _)| absent(name)).chain(given) {
            headers.append(*name, HeaderValue::from_static(value));
        }
        guard().refusal(&Method::POST, &Uri::from_static("/mcp"), &headers).err()
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
        for foreign in [
            "evil.example",
            "evil.example:4711",
            "127.0.0.1.evil.example",
            "0.0.0.0",
            "127.0.0.1@evil",
            "evil@127.0.0.1",
        ] {
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
        let refusal = |uri| guard().refusal(&Method::GET, &uri, &headers).err();
        assert_eq!(refusal(Uri::from_static("/mcp")), Some(RequestRefusal::NoHost));
        let absolute = Uri::from_static("http://evil.example/mcp");
        assert_eq!(refusal(absolute), Some(RequestRefusal::ForeignHost));
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

    /// Returns the refusal of a browser that is signed in. `{key}` stands for the page key.
    fn refused_browser(
        method: &Method,
        path: &'static str,
        given: &[(&'static str, &'static str)],
    ) -> Option<RequestRefusal> {
        let server_address = ServerAddress::Loopback { port: PORT };
        let browsers =
            Browsers::new(&server_address, &Key::new([7; 32]), |_, _| String::new(), |_| {}).unwrap();
        let cookie = browsers.set_cookie().split(';').next().unwrap().to_owned();
        let key = browsers.page_key().to_owned();
        assert!(!cookie.contains(&key), "the cookie does not have the key");
        let guard = guard().with_browsers(Arc::new(browsers));
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_str(&cookie).unwrap());
        headers.insert(header::HOST, HeaderValue::from_static("127.0.0.1:4711"));
        for (name, value) in given {
            headers.insert(*name, HeaderValue::from_str(&value.replace("{key}", &key)).unwrap());
        }
        guard.refusal(method, &Uri::from_static(path), &headers).err()
    }

    #[test]
    fn a_browser_gets_data_and_changes_something_only_from_our_own_page() {
        let tasks = "/api/v1/tasks";
        let own = ("x-meanwhile", "{key}");
        for path in ["/", "/api", "/assets/app.js", "/api/v1/openapi.json"] {
            assert_eq!(refused_browser(&Method::GET, path, &[]), None, "{path}");
            assert_eq!(
                refused_browser(&Method::POST, path, &[]),
                Some(RequestRefusal::ForeignPage),
                "{path}"
            );
        }
        for method in [Method::GET, Method::POST, Method::DELETE] {
            assert_eq!(refused_browser(&method, tasks, &[own]), None, "{method}");
            for given in [&[][..], &[("x-meanwhile", "1")], &[("x-meanwhile", "")]] {
                assert_eq!(
                    refused_browser(&method, tasks, given),
                    Some(RequestRefusal::ForeignPage),
                    "{method}"
                );
            }
        }
        assert_eq!(refused_browser(&Method::POST, "/mcp", &[]), Some(RequestRefusal::ForeignPage));
        for (site, refusal) in [
            ("same-origin", None),
            ("none", None),
            ("same-site", Some(RequestRefusal::ForeignPage)),
            ("cross-site", Some(RequestRefusal::ForeignPage)),
        ] {
            let site = ("sec-fetch-site", site);
            assert_eq!(refused_browser(&Method::POST, tasks, &[own, site]), refusal, "{site:?}");
            assert_eq!(refused_browser(&Method::GET, "/", &[site]), refusal, "{site:?}");
        }
    }
}
