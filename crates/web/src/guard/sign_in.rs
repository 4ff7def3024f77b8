//! Signs a browser in: with the token of a link, or with a password.
//!
//! A browser that is signed in gets a page of its own instead of a redirect: a script stores the page key, and a redirect
//! would continue the navigation of the page that had the link, with which a browser does not send a `SameSite=Strict` cookie.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};

use super::browsers::Browsers;

/// The path of the link.
pub(super) const PATH: &str = "/login";
/// Maximum size of the form with the password.
const MAX_FORM: usize = 4096;

/// The page after signing in. It has the page key in the place of `{key}`.
const SIGNED_IN: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Signed in</title>\
    <meta name=\"page-key\" content=\"{key}\"><script src=\"/assets/signed-in.js\" defer></script>\
    <p>Signed in. <a href=\"/\">Continue</a></p></html>";

/// Answers a request for `/login`.
pub(super) async fn answer(browsers: &Browsers, request: Request) -> Response {
    match *request.method() {
        Method::GET => match field(request.uri().query().unwrap_or_default(), "token") {
            Some(given) if browsers.use_link(&given) => signed_in(browsers),
            Some(_) => page(
                browsers,
                Some("This link was used before, or it belongs to an earlier start of mw serve."),
            ),
            None => page(browsers, None),
        },
        Method::POST if browsers.has_password() => with_password(browsers, request.into_body()).await,
        _ => StatusCode::METHOD_NOT_ALLOWED.into_response(),
    }
}

async fn with_password(browsers: &Browsers, body: Body) -> Response {
    let form = to_bytes(body, MAX_FORM).await.unwrap_or_default();
    let given = field(&String::from_utf8_lossy(&form), "password").unwrap_or_default();
    match browsers.is_password(&given) {
        Ok(true) => signed_in(browsers),
        Ok(false) => page(browsers, Some("The password is wrong.")),
        Err(wait) => {
            let seconds = wait.as_secs().max(1).to_string();
            let mut response = page(browsers, Some("Too many attempts. Try again in a few seconds."));
            *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            response
                .headers_mut()
                .extend(HeaderValue::from_str(&seconds).map(|value| (header::RETRY_AFTER, value)));
            response
        }
    }
}

fn signed_in(browsers: &Browsers) -> Response {
    let mut response = shown(Html(SIGNED_IN.replace("{key}", browsers.page_key())));
    response
        .headers_mut()
        .extend(HeaderValue::from_str(&browsers.set_cookie()).map(|set| (header::SET_COOKIE, set)));
    response
}

/// Returns the page that says how to sign in.
pub(super) fn page(browsers: &Browsers, problem: Option<&str>) -> Response {
    let text = (browsers.page)(browsers.has_password(), problem);
    shown((StatusCode::UNAUTHORIZED, Html(text)))
}

/// Sends a page that may load nothing and be part of no other page. The address has the token of a link.
fn shown(page: impl IntoResponse) -> Response {
    let headers = [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; script-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        ),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, page).into_response()
}

/// Returns whether a request comes from a person who looks at the answer.
pub(super) fn is_for_a_person(method: &Method, uri: &Uri, headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    *method == Method::GET && !uri.path().starts_with("/api/") && accepts.contains("text/html")
}

/// Returns a field of a form.
fn field(form: &str, name: &str) -> Option<String> {
    let pairs = form.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(given, _)| *given == name).map(|(_, value)| decoded(value)).next()
}

fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        let escaped = (*first == b'%').then(|| after.get(..2).and_then(hex)).flatten();
        (rest, _) = match (first, escaped) {
            (_, Some(byte)) => (&after[2..], bytes.push(byte)),
            (b'+', None) => (after, bytes.push(b' ')),
            (byte, None) => (after, bytes.push(*byte)),
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_form_are_decoded() {
        assert_eq!(field("a=1&token=x%20y+z%2B", "token").as_deref(), Some("x y z+"));
        assert_eq!(field("a=1", "token"), None);
        assert_eq!(decoded("%"), "%");
        assert_eq!(decoded("%zz%4"), "%zz%4");
        assert_eq!(decoded("%ff"), "\u{fffd}");
    }
}
