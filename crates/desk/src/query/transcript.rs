//! What an agent said and did, step by step.

use meanwhile::Result;
use meanwhile::engine::model::first_chars;
use meanwhile::engine::{AgentUpdate, Redactor};
use meanwhile::model::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::task_list::AgentStep;
use crate::desk::Desk;

/// How much of the stored updates is read. A word of a model is an update of about 150 bytes.
const MOST_READ: u64 = 4 << 20;
/// The maximum number of steps.
const MOST_STEPS: usize = 500;
/// The maximum number of characters of a text.
const MOST_TEXT: usize = 16 << 10;

/// The last steps of an agent.
#[derive(Clone, Debug, Serialize)]
pub struct Transcript {
    /// The steps, oldest first, without secrets.
    pub steps: Vec<TranscriptStep>,
    /// Whether there were earlier ones.
    pub truncated: bool,
}

/// A step of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TranscriptStep {
    /// The run of the task.
    pub run: u32,
    /// When it began.
    pub at: Timestamp,
    /// What the agent did.
    #[serde(flatten)]
    pub content: StepContent,
}

/// What an agent did in a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum StepContent {
    /// It said something.
    Text {
        /// The text.
        text: String,
    },
    /// It thought aloud.
    Thought {
        /// The text.
        text: String,
    },
    /// It called a tool.
    Tool {
        /// The id of the call.
        #[serde(skip)]
        id: String,
        /// What the call does, in the words of the agent.
        title: String,
        /// Its state: `pending`, `in_progress`, `completed` or `failed`.
        status: String,
        /// What the tool was called with.
        input: String,
        /// What it returned.
        output: String,
    },
    /// It made a plan, or changed it.
    Plan {
        /// The steps of the plan.
        plan: Vec<AgentStep>,
    },
}

impl Desk {
    /// Returns the last steps of an agent's task; none for other tasks.
    ///
    /// # Errors
    /// Fails if there is no such task, or the home directory cannot be read.
    pub fn transcript(&self, id: &str) -> Result<Transcript> {
        self.with(|runtime| {
            let id = runtime.lookup().resolve(id, &self.scope())?;
            let (updates, is_cut) = runtime.agents().last_updates(&id, MOST_READ);
            let mut steps = steps_of(&updates);
            let truncated = is_cut || steps.len() > MOST_STEPS;
            steps.drain(..steps.len().saturating_sub(MOST_STEPS));
            let redactor = runtime.redaction().redactor(&id);
            steps.iter_mut().for_each(|step| step.content.show(&redactor));
            Ok(Transcript { steps, truncated })
        })
    }
}

/// Joins the updates to steps: the words of a text, and all updates of a tool call.
fn steps_of(updates: &[AgentUpdate]) -> Vec<TranscriptStep> {
    let mut steps: Vec<TranscriptStep> = Vec::new();
    for AgentUpdate { at, run, update } in updates {
        let last = steps.last_mut().filter(|step| step.run == *run).map(|step| &mut step.content);
        let content = match (word(update, "sessionUpdate"), last) {
            ("agent_message_chunk", Some(StepContent::Text { text }))
            | ("agent_thought_chunk", Some(StepContent::Thought { text })) => {
                text.push_str(text_in(update));
                continue;
            }
            // Models also say a line break between two tools.
            ("agent_message_chunk" | "agent_thought_chunk", _) if text_in(update).trim().is_empty() => {
                continue;
            }
            ("agent_message_chunk", _) => StepContent::Text { text: text_in(update).to_owned() },
            ("agent_thought_chunk", _) => StepContent::Thought { text: text_in(update).to_owned() },
            ("tool_call" | "tool_call_update", _) => {
                let id = word(update, "toolCallId");
                let is_it = |step: &&mut TranscriptStep| {
                    step.run == *run
                        && matches!(&step.content, StepContent::Tool { id: other, .. } if other == id)
                };
                if let Some(step) = steps.iter_mut().rev().find(is_it) {
                    step.content.change(update);
                    continue;
                }
                let mut content = StepContent::call(id);
                content.change(update);
                content
            }
            ("plan", _) => StepContent::Plan { plan: plan(update) },
            (_, _) => continue,
        };
        steps.push(TranscriptStep { run: *run, at: *at, content });
    }
    steps
}

impl StepContent {
    /// Returns a call of which nothing is known.
    fn call(id: &str) -> Self {
        let (id, status) = (id.to_owned(), "pending".to_owned());
        Self::Tool { id, title: String::new(), status, input: String::new(), output: String::new() }
    }

    /// Takes what an update says about a tool call.
    fn change(&mut self, update: &Value) {
        let Self::Tool { title, status, input, output, .. } = self else { return };
        let given = |name: &str| Some(word(update, name)).filter(|word| !word.is_empty());
        if let Some(new) = given("title") {
            new.clone_into(title);
        }
        if let Some(new) = given("status") {
            new.clone_into(status);
        }
        if let Some(new) = update.get("rawInput").filter(|new| !new.is_null()) {
            let command = new.get("command").and_then(Value::as_str);
            *input = command.map_or_else(|| new.to_string(), str::to_owned);
        }
        if let Some(parts) = update.get("content").and_then(Value::as_array) {
            *output = parts.iter().map(output_text).collect::<Vec<_>>().join("\n");
        }
    }

    /// Hides secrets and shortens long texts. A secret may be in several updates, so whole texts are searched.
    fn show(&mut self, redactor: &Redactor) {
        let texts: Vec<&mut String> = match self {
            Self::Text { text } | Self::Thought { text } => vec![text],
            Self::Tool { title, input, output, .. } => vec![title, input, output],
            Self::Plan { plan } => plan.iter_mut().map(|step| &mut step.title).collect(),
        };
        for text in texts {
            *text = redactor.text(text).into_owned();
            let shown = first_chars(text, MOST_TEXT).len();
            if shown < text.len() {
                text.truncate(shown);
                text.push('…');
            }
        }
    }
}

/// Returns a part of what a tool returned as text.
fn output_text(part: &Value) -> String {
    match word(part, "type") {
        "diff" => format!("changed {}", word(part, "path")),
        "terminal" => format!("terminal {}", word(part, "terminalId")),
        _ => text_in(part).to_owned(),
    }
}

fn plan(update: &Value) -> Vec<AgentStep> {
    let entries = update.get("entries").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let step = |entry: &Value| AgentStep {
        title: word(entry, "content").to_owned(),
        status: word(entry, "status").to_owned(),
    };
    entries.iter().map(step).collect()
}

fn text_in(value: &Value) -> &str {
    value.get("content").map(|content| word(content, "text")).unwrap_or_default()
}

fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn steps(updates: &[Value]) -> Vec<Value> {
        let update = |(at, update): (i64, &Value)| AgentUpdate {
            at: Timestamp::from_micros(at),
            run: 1,
            update: update.clone(),
        };
        let updates: Vec<_> = (0..).zip(updates).map(update).collect();
        steps_of(&updates).iter().map(|step| serde_json::to_value(&step.content).unwrap()).collect()
    }

    fn said(kind: &str, text: &str) -> Value {
        json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}})
    }

    #[test]
    fn words_are_joined_and_a_tool_call_is_one_step() {
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": "1", "title": "ls", "rawInput": {"command": "ls -l"}});
        let text = json!({"type": "content", "content": {"type": "text", "text": "a"}});
        let ended = json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed",
            "content": [text, {"type": "diff", "path": "/b"}]});
        let steps = steps(&[
            said("agent_thought_chunk", "hm"),
            said("agent_message_chunk", "I "),
            said("agent_message_chunk", "look."),
            call,
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "in_progress"}),
            said("agent_message_chunk", "\n"),
            ended,
            json!({"sessionUpdate": "plan", "entries": [{"content": "do it", "status": "pending"}]}),
            json!({"sessionUpdate": "unknown"}),
            json!("garbage"),
        ]);
        let wanted = [
            json!({"kind": "thought", "text": "hm"}),
            json!({"kind": "text", "text": "I look."}),
            json!({"kind": "tool", "title": "ls", "status": "completed", "input": "ls -l", "output": "a\nchanged /b"}),
            json!({"kind": "plan", "plan": [{"title": "do it", "status": "pending"}]}),
        ];
        assert_eq!(steps, wanted);
    }
}
