//! One turn: the user's message, the model's answers, and the tool calls in between.

use std::sync::Arc;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    ContentBlock, EmbeddedResource, EmbeddedResourceResource, SessionUpdate, StopReason, UsageUpdate,
};
use genai::chat::{ChatRequest, Tool};
use meanwhile::engine::OwnSpan;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::agent::Agent;
use super::client::SessionClient;
use super::conversation::{ModelAnswer, ModelToolCall, Record};
use super::model::{AnswerPiece, Failure, Model, ModelStop, TokenUsage};
use super::notices;
use super::session::{AcpSession, Work};
use super::session_log::SessionLogError;
use crate::acp::content::text_or;
use crate::acp::own_agent::HEARD;
use crate::delivery::receipts::Receipt;
use mw_desk::text::with_hint;
use mw_tools::ToolSpec;

/// A running turn.
pub(super) struct ModelTurn<'a> {
    pub(super) agent: &'a Agent,
    pub(super) session: &'a AcpSession,
    pub(super) model: &'a Model,
    pub(super) client: &'a SessionClient,
    pub(super) work: &'a mut Work,
    pub(super) cancelled: CancellationToken,
    /// Whether the user's message was recorded.
    pub(super) is_recorded: bool,
    /// The number of tokens of this turn so far, if the endpoint reports it.
    pub(super) usage: Option<TokenUsage>,
    /// The span of the turn, which is the parent of its calls' spans.
    pub(super) span: Option<OwnSpan>,
}

/// The reason why a turn ended early.
pub(super) enum Interrupted {
    Cancelled,
    /// The client has disconnected, or this process is ending.
    Closing,
    Failed(Error),
}

impl From<SessionLogError> for Interrupted {
    fn from(error: SessionLogError) -> Self {
        Self::Failed(failed(
            "store",
            &error.to_string(),
            "check free space and permissions of MEANWHILE_HOME",
        ))
    }
}

/// Creates a protocol error with a code and a hint.
pub(super) fn failed(code: &str, message: &str, hint: &str) -> Error {
    Error::new(-32603, with_hint(message, hint)).data(json!({"code": code, "hint": hint}))
}

impl ModelTurn<'_> {
    /// Runs the turn to its end.
    pub(super) async fn run(&mut self, prompt: &[ContentBlock]) -> Result<StopReason, Error> {
        match self.go(prompt).await {
            Ok(reason) => Ok(reason),
            Err(Interrupted::Cancelled | Interrupted::Closing) => Ok(StopReason::Cancelled),
            Err(Interrupted::Failed(error)) => Err(self.with_recorded_flag(error)),
        }
    }

    /// Adds to an error whether the message was recorded. The client needs this to decide whether to send it again.
    fn with_recorded_flag(&self, mut error: Error) -> Error {
        if let Some(serde_json::Value::Object(data)) = &mut error.data {
            data.insert(HEARD.to_owned(), self.is_recorded.into());
        }
        error
    }

    async fn go(&mut self, prompt: &[ContentBlock]) -> Result<StopReason, Interrupted> {
        self.work.mend()?;
        self.work.conversation.bring_back();
        let mut receipt = None;
        let conversation = &self.work.conversation;
        let known = |number| conversation.has_notice(number);
        let notices = notices::take(self.agent, self.session, known, &mut receipt, None).await.blocks;
        for block in &notices {
            self.client.user(block.text.clone());
        }
        let text = self.model.choice.key.hide(&in_words(prompt));
        self.work.note(Record::User { text, notices })?;
        self.is_recorded = true;
        self.acknowledge(receipt).await;
        let specs = self.specs().await;
        let most = self.agent.options.limits.max_calls;
        let mut calls_left = usize::try_from(most).unwrap_or(usize::MAX);
        for _ in 0..self.agent.options.limits.max_requests {
            self.trim().await?;
            let (spoken, stop) = self.ask_model(&specs).await?;
            let calls = spoken.calls.clone();
            self.work.note(Record::Assistant(spoken))?;
            if stop == ModelStop::Refusal {
                self.leave_out(&calls, "not run: the model refused")?;
                return Ok(StopReason::Refusal);
            }
            if calls.is_empty() {
                let is_cut = stop == ModelStop::Length;
                return Ok(if is_cut { StopReason::MaxTokens } else { StopReason::EndTurn });
            }
            for (at, call) in calls.iter().enumerate() {
                if calls_left == 0 {
                    let why =
                        format!("not run: the limit of {most} calls per turn is reached (agent.max_calls)");
                    self.leave_out(&calls[at..], &why)?;
                    return Ok(StopReason::MaxTurnRequests);
                }
                calls_left -= 1;
                if let Err(interrupted) = self.carry_out(call).await {
                    self.leave_out(&calls[at + 1..], "not run: the turn had ended")?;
                    return Err(interrupted);
                }
            }
        }
        Ok(StopReason::MaxTurnRequests)
    }

    /// Adds results for calls that will not be run.
    fn leave_out(&mut self, calls: &[ModelToolCall], why: &str) -> Result<(), Interrupted> {
        Ok(calls.iter().try_for_each(|call| self.work.note(call.not_run(why)))?)
    }

    /// Acknowledges the notifications of a record.
    pub(super) async fn acknowledge(&self, receipt: Option<Receipt>) {
        if let Some(receipt) = receipt {
            let _ = tokio::task::spawn_blocking(move || receipt.confirm()).await;
        }
    }

    async fn ask_model(&mut self, specs: &[ToolSpec]) -> Result<(ModelAnswer, ModelStop), Interrupted> {
        let tools = specs.iter().map(|spec| {
            Tool::new(spec.name.as_str())
                .with_description(spec.description.as_str())
                .with_schema(spec.input_schema.clone())
        });
        let request = ChatRequest::from_messages(self.work.conversation.messages())
            .with_system(self.session.system.as_str())
            .with_tools(tools);
        let client = self.client;
        let mut heard = String::new();
        let on_piece = |said| match said {
            AnswerPiece::Text(text) => {
                heard.push_str(&text);
                client.text(text);
            }
            AnswerPiece::Thought(text) => client.thought(text),
            AnswerPiece::Pause(text) => client.thought(format!("[{text}]\n")),
        };
        let answer = tokio::select! {
            answer = self.model.ask(&request, on_piece) => Ok(answer),
            () = self.cancelled.cancelled() => Err(Interrupted::Cancelled),
            () = self.agent.closing.cancelled() => Err(Interrupted::Closing),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(interrupted) => {
                self.keep(ModelAnswer { text: heard, ..ModelAnswer::default() })?;
                return Err(interrupted);
            }
        };
        match answer {
            Ok(reply) => {
                self.count(reply.usage);
                Ok((reply.spoken, reply.stop))
            }
            Err((Failure { code, message, hint, .. }, spoken)) => {
                self.keep(ModelAnswer { calls: Vec::new(), ..spoken })?;
                Err(Interrupted::Failed(failed(code, &message, &hint)))
            }
        }
    }

    /// Records the visible part of an interrupted answer, which lets the model continue from it.
    fn keep(&mut self, spoken: ModelAnswer) -> Result<(), Interrupted> {
        if !spoken.text.is_empty() {
            self.work.note(Record::Assistant(spoken))?;
        }
        Ok(())
    }

    /// Counts the tokens of an answer and reports them to the client.
    fn count(&mut self, usage: Option<TokenUsage>) {
        let Some(usage) = usage else { return };
        self.spend(usage);
        // The answer itself is the next record.
        let records = self.work.conversation.records().len() + 1;
        self.work.conversation.count(records, usage.input + usage.output);
        let size = self.agent.options.limits.context_tokens;
        self.client.tell(SessionUpdate::UsageUpdate(UsageUpdate::new(usage.input + usage.output, size)));
    }

    /// Adds tokens to those of the turn.
    pub(super) fn spend(&mut self, usage: TokenUsage) {
        let before = self.usage.unwrap_or(TokenUsage { input: 0, output: 0 });
        self.usage =
            Some(TokenUsage { input: before.input + usage.input, output: before.output + usage.output });
    }
}

/// Converts a prompt to text. Other content is described in words.
fn in_words(prompt: &[ContentBlock]) -> String {
    let words = |block: &ContentBlock| match block {
        ContentBlock::Resource(EmbeddedResource {
            resource: EmbeddedResourceResource::TextResourceContents(text),
            ..
        }) => format!("<resource uri={:?}>\n{}\n</resource>", text.uri, text.text),
        other => text_or(other, |kind| format!("[{kind} omitted: this agent reads only text]")),
    };
    prompt.iter().map(words).collect::<Vec<_>>().join("\n")
}

/// Runs a turn of a session, unless one is already running.
pub(super) async fn run(
    agent: &Arc<Agent>,
    session: &AcpSession,
    cancelled: &CancellationToken,
    client: &SessionClient,
    prompt: &[ContentBlock],
) -> Result<(StopReason, Option<TokenUsage>), Error> {
    let Ok(mut work) = Arc::clone(&session.work).try_lock_owned() else {
        return Err(Error::new(-32600, "a turn of this session is running: cancel it, or wait for its end"));
    };
    let model = agent.model().map_err(|error| failed("model_missing", &error.message, &error.hint))?;
    let mut turn = ModelTurn {
        agent,
        session,
        model: &model,
        client,
        work: &mut work,
        cancelled: cancelled.clone(),
        is_recorded: false,
        usage: None,
        span: session.begin_turn_span(),
    };
    let ended = turn.run(prompt).await;
    let (span, usage) = (turn.span.take(), turn.usage);
    session.end_turn_span(span, &model.choice.model, ended.as_ref().copied(), usage);
    Ok((ended?, usage))
}
