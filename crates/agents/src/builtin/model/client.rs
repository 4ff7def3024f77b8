//! Sends requests to the model and streams its answers.

use std::time::Duration;

use futures::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{ChatOptions, ChatRequest, ChatStreamEvent, ContentPart, StopReason, StreamEnd};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ModelSpec, ServiceTarget, WebConfig};

use super::choice::{ModelChoice, ModelError, Provider};
use super::failure::{Failure, MAX_WAIT};
use crate::builtin::conversation::{ModelAnswer, ModelToolCall, Thought};

/// The maximum number of times a failed request is repeated.
const MAX_RETRIES: u32 = 4;
/// The delay before the first repetition. It doubles with each further one.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(500);
/// The maximum size of an answer in bytes. It protects against an endpoint that never stops sending.
const MAX_ANSWER: usize = 8 << 20;
/// The timeout for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// A client of a model.
#[derive(Clone)]
pub(in crate::builtin) struct Model {
    client: Client,
    options: ChatOptions,
    pub(in crate::builtin) choice: ModelChoice,
}

/// A piece of an answer.
pub(in crate::builtin) enum AnswerPiece {
    /// Text for the user.
    Text(String),
    /// A thought of the model.
    Thought(String),
    /// A note that a request is repeated after a delay.
    Pause(String),
}

/// An answer of the model.
pub(in crate::builtin) struct ModelReply {
    pub(in crate::builtin) spoken: ModelAnswer,
    pub(in crate::builtin) stop: ModelStop,
    pub(in crate::builtin) usage: Option<TokenUsage>,
}

/// The numbers of tokens of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::builtin) struct TokenUsage {
    pub(in crate::builtin) input: u64,
    pub(in crate::builtin) output: u64,
}

/// The reason why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::builtin) enum ModelStop {
    /// The answer is complete or contains calls.
    Done,
    /// The answer reached the maximum length.
    Length,
    /// The model refused to answer.
    Refusal,
}

impl Model {
    /// Creates a client without sending anything.
    pub(in crate::builtin) fn new(choice: ModelChoice, silence: Duration) -> Result<Self, ModelError> {
        // Installing fails if the same provider is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let failed = |error: &dyn std::fmt::Display| ModelError {
            message: format!("cannot prepare a connection: {}", choice.key.hide(&error.to_string())),
            hint: "check the certificates of this system, and the proxy variables".to_owned(),
        };
        let web = WebConfig::default().with_connect_timeout(CONNECT_TIMEOUT);
        let mut http = web.apply_to_builder(reqwest::Client::builder());
        if choice.base_url.starts_with("http://") {
            // A machine with only a local model may have no certificates, and needs none.
            http = http.tls_certs_only([]);
        }
        let http = http.build().map_err(|error| failed(&error))?;
        let client = Client::builder().with_reqwest(http).build().map_err(|error| failed(&error))?;
        let options = ChatOptions::default()
            .with_capture_content(true)
            .with_capture_tool_calls(true)
            .with_capture_reasoning_content(true)
            .with_capture_usage(true)
            .with_stream_header_timeout(silence)
            .with_stream_read_timeout(silence);
        Ok(Self { client, options, choice })
    }

    fn target(&self) -> ServiceTarget {
        let kind = match self.choice.provider {
            Provider::OpenAi => AdapterKind::OpenAI,
            Provider::Anthropic => AdapterKind::Anthropic,
            Provider::Ollama => AdapterKind::Ollama,
        };
        ServiceTarget {
            endpoint: Endpoint::from_owned(self.choice.base_url.as_str()),
            auth: AuthData::from_single(self.choice.key.expose()),
            model: ModelIden::new(kind, self.choice.model.as_str()),
        }
    }

    /// Sends a request. `on_piece` receives the pieces of the answer. A request that fails before the first piece is
    /// repeated, if that may help.
    ///
    /// # Errors
    /// Returns the failure together with the answer so far.
    pub(in crate::builtin) async fn ask(
        &self,
        request: &ChatRequest,
        mut on_piece: impl FnMut(AnswerPiece),
    ) -> Result<ModelReply, (Failure, ModelAnswer)> {
        let mut pause = FIRST_RETRY_DELAY;
        for again in 0.. {
            let mut spoken = ModelAnswer::default();
            let failure = match self.once(request, &mut spoken, &mut on_piece).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            let nothing_yet = spoken.text.is_empty() && spoken.thoughts.is_empty();
            let wait = failure.again.filter(|_| nothing_yet && again < MAX_RETRIES);
            let Some(wait) = wait.map(|asked| asked.unwrap_or(pause)).filter(|wait| *wait <= MAX_WAIT) else {
                return Err((failure, spoken));
            };
            pause *= 2;
            on_piece(AnswerPiece::Pause(format!(
                "{}; retrying in {:.1} s",
                failure.message,
                wait.as_secs_f64()
            )));
            tokio::time::sleep(wait).await;
        }
        Err((Failure::cut(&self.choice), ModelAnswer::default()))
    }

    async fn once(
        &self,
        request: &ChatRequest,
        spoken: &mut ModelAnswer,
        on_piece: &mut impl FnMut(AnswerPiece),
    ) -> Result<ModelReply, Failure> {
        let failed = |error: genai::Error| Failure::of(&error, &self.choice);
        let target = ModelSpec::from_target(self.target());
        let begun = self.client.exec_chat_stream(target, request.clone(), Some(&self.options)).await;
        let mut stream = begun.map_err(failed)?.stream;
        while let Some(event) = stream.next().await {
            match event.map_err(failed)? {
                ChatStreamEvent::Chunk(chunk) => {
                    spoken.text.push_str(&chunk.content);
                    on_piece(AnswerPiece::Text(chunk.content));
                }
                ChatStreamEvent::ReasoningChunk(chunk) => {
                    match spoken.thoughts.last_mut() {
                        Some(thought) => thought.text.push_str(&chunk.content),
                        None => {
                            spoken.thoughts.push(Thought { text: chunk.content.clone(), signature: None });
                        }
                    }
                    on_piece(AnswerPiece::Thought(chunk.content));
                }
                ChatStreamEvent::End(end) => return Ok(reply(end)),
                ChatStreamEvent::Start
                | ChatStreamEvent::ThoughtSignatureChunk(_)
                | ChatStreamEvent::ToolCallChunk(_)
                | ChatStreamEvent::Heartbeat => {}
            }
            let thoughts: usize = spoken.thoughts.iter().map(|thought| thought.text.len()).sum();
            if spoken.text.len() + thoughts > MAX_ANSWER {
                return Err(Failure::endless(&self.choice));
            }
        }
        Err(Failure::cut(&self.choice))
    }
}

fn reply(end: StreamEnd) -> ModelReply {
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok());
    let usage = end.captured_usage.as_ref().and_then(|usage| {
        Some(TokenUsage {
            input: count(usage.prompt_tokens)?,
            output: count(usage.completion_tokens).unwrap_or(0),
        })
    });
    let stop = match &end.captured_stop_reason {
        Some(StopReason::MaxTokens(_)) => ModelStop::Length,
        Some(StopReason::ContentFilter(_)) => ModelStop::Refusal,
        Some(
            StopReason::Completed(_)
            | StopReason::ToolCall(_)
            | StopReason::StopSequence(_)
            | StopReason::Other(_),
        )
        | None => ModelStop::Done,
    };
    ModelReply { spoken: spoken(end), stop, usage }
}

fn spoken(end: StreamEnd) -> ModelAnswer {
    let mut spoken = ModelAnswer::default();
    let parts = end.captured_content.map(genai::chat::MessageContent::into_parts).unwrap_or_default();
    for part in parts {
        match part {
            ContentPart::Text(text) => spoken.text.push_str(&text),
            ContentPart::ThoughtSignature(signature) => {
                spoken.thoughts.push(Thought { text: String::new(), signature: Some(signature) });
            }
            ContentPart::ReasoningContent(text) => match spoken.thoughts.last_mut() {
                Some(thought) if thought.text.is_empty() => thought.text = text,
                _ => spoken.thoughts.push(Thought { text, signature: None }),
            },
            ContentPart::ToolCall(call) => {
                spoken.calls.push(ModelToolCall {
                    id: call.call_id,
                    tool: call.fn_name,
                    arguments: call.fn_arguments,
                });
            }
            _ => {}
        }
    }
    if spoken.thoughts.is_empty()
        && let Some(text) = end.captured_reasoning_content
    {
        spoken.thoughts.push(Thought { text, signature: None });
    }
    // An empty thought is only kept for its signature.
    spoken.thoughts.retain(|thought| !thought.text.is_empty() || thought.signature.is_some());
    spoken
}
