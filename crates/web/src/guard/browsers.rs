//! Browsers: the link that signs one in, the cookie and the page key that keep it signed in, and the password of a remote
//! server.
//!
//! A browser sends a cookie to every port of a host, so any server on this machine that the user visits gets it. The page
//! key is kept in the storage of the page, which belongs to one port, so no other server gets that.

use std::fmt;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, header};

use super::attempts::Attempts;
use super::key::Key;
use super::server_address::ServerAddress;
use super::token::Token;

/// How many passwords may be tried at once, and how many more each second.
const PASSWORDS: (u32, f64) = (5, 0.2);
/// The header in which our own page sends its key.
const PAGE_HEADER: &str = "x-meanwhile";
/// How long a browser stays signed in.
const COOKIE_SECONDS: u64 = 30 * 24 * 3600;

/// Makes the page for a browser that is not signed in. It says why the last attempt failed, if there was one.
pub type SignInPage = fn(has_password: bool, problem: Option<&str>) -> String;

/// Signs browsers in and recognises them.
pub struct Browsers {
    cookie: Cookie,
    /// What our own page sends with its requests.
    page_key: Token,
    /// The token of the link that was not used yet.
    link: Mutex<Token>,
    /// Called with the token of the next link when one was used.
    used: Box<dyn Fn(&Token) + Send + Sync>,
    password: Option<Token>,
    attempts: Attempts,
    pub(super) page: SignInPage,
}

struct Cookie {
    name: String,
    value: Token,
    attributes: String,
}

impl Browsers {
    /// Prepares to sign browsers in. `used` is called when a link was used, with the token of the next.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn new(
        server_address: &ServerAddress,
        key: &Key,
        page: SignInPage,
        used: impl Fn(&Token) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let label = server_address.label();
        let secure = if server_address.is_encrypted() { "; Secure" } else { "" };
        let cookie = Cookie {
            name: format!("mw-{label}"),
            value: Token::of(key.derive(&format!("cookie of {label}"))),
            attributes: format!("Path=/; HttpOnly; SameSite=Strict; Max-Age={COOKIE_SECONDS}{secure}"),
        };
        let (most, per_second) = PASSWORDS;
        Ok(Self {
            cookie,
            page_key: Token::of(key.derive(&format!("page of {label}"))),
            link: Mutex::new(Token::random()?),
            used: Box::new(used),
            password: None,
            attempts: Attempts::new(most, per_second),
            page,
        })
    }

    /// Also lets browsers sign in with a password.
    #[must_use]
    pub fn with_password(mut self, password: Token) -> Self {
        self.password = Some(password);
        self
    }

    /// Returns whether browsers can sign in with a password.
    pub(super) const fn has_password(&self) -> bool {
        self.password.is_some()
    }

    /// Returns the token of the link that was not used yet.
    #[must_use]
    pub fn link_token(&self) -> Token {
        self.link.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Uses the link with this token. Each works once; the next is announced.
    pub(super) fn use_link(&self, given: &str) -> bool {
        let next = {
            let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
            // Without random numbers for the next link, this one must stay unused.
            let Some(next) = Token::random().ok().filter(|_| link.is(given)) else { return false };
            *link = next.clone();
            next
        };
        (self.used)(&next);
        true
    }

    /// Checks a password. Wrong ones can be tried only slowly.
    ///
    /// # Errors
    /// After too many attempts: how long to wait.
    pub(super) fn is_password(&self, given: &str) -> Result<bool, Duration> {
        self.attempts.take()?;
        Ok(self.password.as_ref().is_some_and(|password| password.is(given)))
    }

    /// Returns the header that makes a browser send the cookie.
    pub(super) fn set_cookie(&self) -> String {
        let Cookie { name, value, attributes } = &self.cookie;
        format!("{name}={}; {attributes}", value.as_str())
    }

    /// Returns what the page of a browser that has just signed in keeps.
    pub(super) fn page_key(&self) -> &str {
        self.page_key.as_str()
    }

    /// Returns whether a request was sent by our own page.
    pub(super) fn is_from_page(&self, headers: &HeaderMap) -> bool {
        let mut given = headers.get_all(PAGE_HEADER).iter();
        given.next().and_then(|given| given.to_str().ok()).is_some_and(|given| self.page_key.is(given))
    }

    /// Returns whether a request has the cookie.
    pub(super) fn is_signed_in(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == self.cookie.name).any(|(_, value)| self.cookie.value.is(value))
    }
}

impl fmt::Debug for Browsers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Browsers").field("cookie", &self.cookie.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::http::HeaderValue;

    use super::*;

    const ADDRESS: ServerAddress = ServerAddress::Loopback { port: 4711 };

    fn browsers() -> (Browsers, Arc<Mutex<Vec<String>>>) {
        let announced = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&announced);
        let used = move |token: &Token| told.lock().unwrap().push(token.as_str().to_owned());
        (Browsers::new(&ADDRESS, &Key::new([7; 32]), |_, _| String::new(), used).unwrap(), announced)
    }

    #[test]
    fn a_link_works_once_and_the_next_is_announced() {
        let (browsers, announced) = browsers();
        let first = browsers.link_token();
        assert!(!browsers.use_link("wrong") && !browsers.use_link(""));
        assert!(browsers.use_link(first.as_str()));
        assert!(!browsers.use_link(first.as_str()));
        let next = announced.lock().unwrap()[0].clone();
        assert_ne!(next, first.as_str());
        assert!(browsers.use_link(&next));
    }

    #[test]
    fn only_the_cookie_of_this_server_signs_in() {
        let (browsers, _) = browsers();
        let set = browsers.set_cookie();
        assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict"), "{set}");
        let own = set.split(';').next().unwrap();
        let is_signed_in = |cookie: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::from_str(cookie).unwrap());
            browsers.is_signed_in(&headers)
        };
        assert!(is_signed_in(own));
        assert!(is_signed_in(&format!("other=1; {own}; more=2")));
        for foreign in
            ["", "mw-4711", "mw-4711=", "mw-4711=x", &own.replace("4711", "4712"), &own[..own.len() - 1]]
        {
            assert!(!is_signed_in(foreign), "{foreign}");
        }
        let other_port = Browsers::new(
            &ServerAddress::Loopback { port: 1 },
            &Key::new([7; 32]),
            |_, _| String::new(),
            |_| {},
        );
        assert_ne!(other_port.unwrap().cookie.value.as_str(), browsers.cookie.value.as_str());
    }

    #[test]
    fn passwords_can_be_tried_only_slowly() {
        let (browsers, _) = browsers();
        assert_eq!(browsers.is_password("anything"), Ok(false), "there is no password");
        let browsers = browsers.with_password(Token::new("open sesame").unwrap());
        assert_eq!(browsers.is_password("open sesame"), Ok(true));
        let refused = (0..10).filter(|_| browsers.is_password("wrong").is_err()).count();
        assert!(refused >= 6, "{refused}");
    }
}
