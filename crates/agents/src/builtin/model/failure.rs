//! Errors of model requests, each with a hint.

use std::time::Duration;

use genai::webc::StreamTimeout;
use mw_model::{clipped, one_line};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use super::choice::ModelChoice;

/// The maximum length of a quoted error message, in characters.
const MAX_QUOTED: usize = 400;
/// The maximum delay that an endpoint may request.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(60);

/// The reason why the model did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::builtin) struct Failure {
    /// A stable code for programs.
    pub(in crate::builtin) code: &'static str,
    pub(in crate::builtin) message: String,
    pub(in crate::builtin) hint: String,
    /// Whether a repetition may help, and the delay that the endpoint requests.
    pub(super) again: Option<Option<Duration>>,
}

impl Failure {
    fn new(code: &'static str, message: String, hint: &str, again: Option<Option<Duration>>) -> Self {
        Self { code, message, hint: hint.to_owned(), again }
    }

    /// Describes an answer that was cut off.
    pub(super) fn cut(choice: &ModelChoice) -> Self {
        let message = format!("the answer of {} was interrupted", endpoint(choice));
        let hint = "repeat the message, or say \"go on\": the text so far is kept";
        Self::new("model_cut", message, hint, Some(None))
    }

    /// Describes an answer that exceeds the maximum size.
    pub(super) fn endless(choice: &ModelChoice) -> Self {
        let message = format!("the answer of {} did not end", endpoint(choice));
        Self::new("model_endless", message, "try again, or use another model", None)
    }

    pub(super) fn of(error: &genai::Error, choice: &ModelChoice) -> Self {
        let inner = match error {
            genai::Error::WebStream { error, .. } => Some(error),
            _ => None,
        };
        if let Some(http) = inner.and_then(|error| error.downcast_ref::<genai::Error>()) {
            return Self::of(http, choice);
        }
        if let Some(timeout) = inner.and_then(|error| error.downcast_ref::<StreamTimeout>()) {
            return Self::late(*timeout, choice);
        }
        if let Some(web) = inner.and_then(|error| error.downcast_ref::<reqwest::Error>()) {
            return Self::web(web, choice);
        }
        match error {
            genai::Error::HttpError { status, body, headers, .. } => {
                Self::status(*status, body, headers, choice)
            }
            genai::Error::ChatResponse { body, .. } => {
                let message = format!("{} said: {}", endpoint(choice), quoted(&body.to_string(), choice));
                let hint = "try again; the endpoint reported this in the middle of its answer";
                Self::new("model_error", message, hint, Some(None))
            }
            other => Self::garbage(&inner.map_or_else(|| other.to_string(), ToString::to_string), choice),
        }
    }

    fn garbage(why: &str, choice: &ModelChoice) -> Self {
        let message = format!("invalid response from {}: {}", endpoint(choice), quoted(why, choice));
        let hint = format!("check that the endpoint uses the format of {}", choice.provider.name());
        Self::new("model_garbage", message, &hint, None)
    }

    fn late(timeout: StreamTimeout, choice: &ModelChoice) -> Self {
        let what = match timeout {
            StreamTimeout::Headers => "did not start to answer",
            StreamTimeout::Read => "stopped in the middle of its answer",
        };
        let message = format!("{} {what}", endpoint(choice));
        Self::new("model_silent", message, "try again, or raise agent.silence_ms", None)
    }

    fn web(error: &reqwest::Error, choice: &ModelChoice) -> Self {
        if error.is_connect() {
            let hint = "check the address (OPENAI_BASE_URL, ANTHROPIC_BASE_URL, OLLAMA_HOST or agent.base_url) and that the server runs";
            let message = format!("cannot reach {}: {}", endpoint(choice), quoted(&causes(error), choice));
            return Self::new("model_unreachable", message, hint, Some(None));
        }
        Self {
            message: format!("{}: {}", Self::cut(choice).message, quoted(&causes(error), choice)),
            ..Self::cut(choice)
        }
    }

    fn status(status: StatusCode, body: &str, headers: &HeaderMap, choice: &ModelChoice) -> Self {
        let said = quoted(&words(body), choice);
        let (code, hint, again) = match status.as_u16() {
            401 | 403 => ("model_unauthorized", "check the key, and that it may use this model", None),
            404 => ("model_not_found", "check the name of the model and the address", None),
            429 => (
                "model_limited",
                "wait, or use another model; the endpoint has a rate limit",
                Some(wait_of(headers)),
            ),
            408 | 409 | 500..=599 => ("model_down", "try again later", Some(wait_of(headers))),
            413 => ("model_too_long", "start a new session, or lower agent.context_tokens", None),
            _ => ("model_refused", "the endpoint rejected the request; see its message", None),
        };
        Self::new(code, format!("{} answered {}: {said}", endpoint(choice), status.as_u16()), hint, again)
    }
}

/// Returns the model and its address. Secrets in the address are removed.
fn endpoint(choice: &ModelChoice) -> String {
    let url = choice.base_url.split(['?', '#']).next().unwrap_or_default();
    let url = match url.split_once("://") {
        Some((scheme, rest)) => {
            format!("{scheme}://{}", rest.rsplit_once('@').map_or(rest, |(_, host)| host))
        }
        None => url.to_owned(),
    };
    format!("{}/{} at {}", choice.provider.name(), choice.model, url.trim_end_matches('/'))
}

/// Returns the delay that the endpoint requests, up to a maximum.
fn wait_of(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"))?;
    (seconds.is_finite() && seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(1e6)))
}

/// Returns the message in the body of an error.
fn words(body: &str) -> String {
    let value: Option<serde_json::Value> = serde_json::from_str(body).ok();
    let message = value.as_ref().and_then(|value| {
        let error = value.get("error").unwrap_or(value);
        error.get("message").or(Some(error))?.as_str()
    });
    message.unwrap_or(body).to_owned()
}

/// Shortens a message of an endpoint to one line without the key.
fn quoted(text: &str, choice: &ModelChoice) -> String {
    clipped(&one_line(&choice.key.hide(text)), MAX_QUOTED)
}

fn causes(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        text = error.to_string();
        cause = error.source();
    }
    if text.is_empty() { error.to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::model::choice::{Provider, Secret};

    fn choice() -> ModelChoice {
        ModelChoice {
            provider: Provider::OpenAi,
            model: "m".to_owned(),
            base_url: "https://me:pw@x.org/v1/?key=1".to_owned(),
            key: Secret::new(Some("sk-secret-1234".to_owned())),
        }
    }

    #[test]
    fn the_error_message_of_an_endpoint_is_shown_without_the_key() {
        let body = r#"{"error":{"message":"wrong key sk-secret-1234\n given"}}"#;
        let failure = Failure::status(StatusCode::UNAUTHORIZED, body, &HeaderMap::new(), &choice());
        let expected = "openai/m at https://x.org/v1 answered 401: wrong key [redacted:key] given";
        assert_eq!((failure.message.as_str(), failure.again), (expected, None));
        assert!(failure.hint.contains("check the key"));
        let long = Failure::status(StatusCode::BAD_REQUEST, &"x".repeat(9000), &HeaderMap::new(), &choice());
        assert!(long.message.len() < 600, "{}", long.message);
    }

    #[test]
    fn a_retry_delay_is_used_if_it_is_a_valid_number() {
        let delay = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            Failure::status(StatusCode::TOO_MANY_REQUESTS, "", &headers, &choice()).again
        };
        assert_eq!(delay("retry-after", "2"), Some(Some(Duration::from_secs(2))));
        assert_eq!(delay("retry-after-ms", "250"), Some(Some(Duration::from_millis(250))));
        for invalid in ["soon", "-1", "NaN", "inf"] {
            assert_eq!(delay("retry-after", invalid), Some(None), "{invalid}");
        }
    }
}
