//! The answer of a model to one request.

use std::time::Duration;

use serde_json::Value;

/// The answer of a model to one request: its parts in order, and how it ends.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub(super) refusal: Option<Refusal>,
    pub(super) steps: Vec<Step>,
    pub(super) finish: Option<Finish>,
    pub(super) usage: Usage,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The answer is complete.
    Stop,
    /// The answer contains tool calls.
    Calls,
    /// The maximum length was reached.
    Length,
    /// The model refused to answer.
    Refusal,
}

#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Text(String),
    Thought(String),
    Call(Call),
    Raw(Vec<u8>),
    Pause(Duration),
    Hold,
    Cut,
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) name: String,
    /// The text of the arguments, which need not be JSON.
    pub(super) arguments: String,
}

/// The number of tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 100, output: 10 }
    }
}

impl Answer {
    /// An empty answer.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// An answer that begins with a text, streamed word by word.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::empty().and_text(text)
    }

    /// Adds a text, streamed word by word.
    #[must_use]
    pub fn and_text(mut self, text: &str) -> Self {
        self.steps.extend(text.split_inclusive(' ').map(|word| Step::Text(word.to_owned())));
        self
    }

    /// Adds a thought.
    #[must_use]
    pub fn thought(self, text: &str) -> Self {
        self.and(Step::Thought(text.to_owned()))
    }

    /// Adds a call of a tool.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "a call reads best with `json!` inside it")]
    pub fn call(self, name: &str, arguments: Value) -> Self {
        self.call_raw(name, &arguments.to_string())
    }

    /// Adds a call whose arguments are any text.
    #[must_use]
    pub fn call_raw(self, name: &str, arguments: &str) -> Self {
        self.and(Step::Call(Call { name: name.to_owned(), arguments: arguments.to_owned() }))
    }

    /// Adds raw bytes, which may be invalid in every format.
    #[must_use]
    pub fn raw(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.and(Step::Raw(bytes.into()))
    }

    /// Adds a pause, for a slow stream.
    #[must_use]
    pub fn pause(self, time: Duration) -> Self {
        self.and(Step::Pause(time))
    }

    /// Waits for [`super::ModelEndpoint::release`], or until the client has disconnected.
    #[must_use]
    pub fn hold(self) -> Self {
        self.and(Step::Hold)
    }

    /// Breaks the connection here, in the middle of the stream.
    #[must_use]
    pub fn cut(self) -> Self {
        self.and(Step::Cut)
    }

    /// Sets why it stopped. The default is `Calls` if there are tool calls, else `Stop`.
    #[must_use]
    pub fn finish(mut self, finish: Finish) -> Self {
        self.finish = Some(finish);
        self
    }

    /// Sets the number of tokens.
    #[must_use]
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        self.usage = Usage { input, output };
        self
    }

    /// An HTTP error: 401, 429, 500 …
    #[must_use]
    pub fn status(status: u16, message: &str) -> Self {
        let body = serde_json::json!({
            "type": "error", "error": {"message": message, "type": "scripted", "code": status},
        });
        let refusal = Refusal { status, headers: Vec::new(), body: body.to_string() };
        Self { refusal: Some(refusal), ..Self::default() }
    }

    /// Adds a header to an HTTP error, such as `retry-after`.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Some(refusal) = &mut self.refusal {
            refusal.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    pub(super) fn unknown_path(path: &str) -> Refusal {
        Refusal { status: 404, headers: Vec::new(), body: format!("no model answers at {path}") }
    }

    pub(super) fn finish_word(&self) -> Finish {
        let wants_calls = self.steps.iter().any(|step| matches!(step, Step::Call(_)));
        self.finish.unwrap_or(if wants_calls { Finish::Calls } else { Finish::Stop })
    }

    fn and(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}
