//! Records the messages and actions of an agent: as text for people, as JSON lines for programs, and as the current
//! activity.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use agent_client_protocol::v1::schema::{
    ContentChunk, PlanEntry, PlanEntryStatus, SessionUpdate, ToolCallStatus,
};
use meanwhile::engine::{Clock, Runtime, SystemClock};
use mw_model::{Activity, PlanStep, StepStatus, TaskId};
use mw_tools::first_line;
use serde_json::{Map, Value, json};

use crate::acp::client::{Client, Observer};
use crate::acp::content::{block_text, word};
use crate::lock::Lock;

/// The minimum time between two writes of the activity.
const WRITE_EVERY: Duration = Duration::from_millis(200);
/// The maximum size of an answer. The rest is only in the log.
const MAX_ANSWER: usize = 4 << 20;

/// The kind of text that was written last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextKind {
    None,
    Answer,
    Thought,
}

/// The record of an agent's messages and actions.
pub(super) struct SubagentTranscript {
    runtime: Runtime,
    id: TaskId,
    run: u32,
    lines: Option<File>,
    pub(super) activity: Activity,
    written: Instant,
    kind: TextKind,
    /// The text since the last tool call.
    said: String,
    /// The text before that.
    said_before: String,
    pub(super) heard: Instant,
    /// The number of lines that were not messages, with those that are not reported yet.
    garbage: u64,
}

impl SubagentTranscript {
    pub(super) fn new(runtime: Runtime, id: TaskId, run: u32, file: &Path) -> Self {
        let lines = OpenOptions::new().append(true).create(true).mode(0o600).open(file).ok();
        let now = Instant::now();
        Self {
            runtime,
            id,
            run,
            lines,
            activity: Activity::default(),
            written: now - WRITE_EVERY,
            kind: TextKind::None,
            said: String::new(),
            said_before: String::new(),
            heard: now,
            garbage: 0,
        }
    }

    /// Returns the answer, which is the last text.
    pub(super) fn answer(&self) -> String {
        let said = if self.said.trim().is_empty() { &self.said_before } else { &self.said };
        said.trim().to_owned()
    }

    fn update(&mut self, update: &SessionUpdate) {
        self.message_received();
        self.activity.updates += 1;
        if let Ok(value) = serde_json::to_value(update) {
            self.note(&value);
        }
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => self.say(TextKind::Answer, chunk),
            SessionUpdate::AgentThoughtChunk(chunk) => self.say(TextKind::Thought, chunk),
            SessionUpdate::ToolCall(call) => {
                let status = word(&call.status);
                let is_new = !self.activity.recent_tools.iter().any(|tool| *tool.id == *call.tool_call_id.0);
                self.activity.tool(&call.tool_call_id.0, Some(&call.title), Some(&status));
                let name = call.name.as_deref().or_else(|| name_beside(call.meta.as_ref()));
                self.activity.tool_name(&call.tool_call_id.0, name);
                if is_new {
                    self.begin_segment();
                    self.print(&format!("→ {}", first_line(&call.title)));
                }
            }
            SessionUpdate::ToolCallUpdate(update) => {
                let status = update.fields.status.as_ref().map(word);
                let id = &update.tool_call_id.0;
                self.activity.tool(id, update.fields.title.as_deref(), status.as_deref());
                self.activity.tool_name(id, name_beside(update.meta.as_ref()));
                if update.fields.status == Some(ToolCallStatus::Failed) {
                    let known = self.activity.recent_tools.iter().find(|tool| *tool.id == **id);
                    let title = known.map_or_else(|| id.to_string(), |tool| first_line(&tool.title));
                    self.print(&format!("✗ {title} failed"));
                }
            }
            SessionUpdate::Plan(plan) => {
                let step = |entry: &PlanEntry| PlanStep {
                    content: entry.content.clone(),
                    status: match entry.status {
                        PlanEntryStatus::Completed => StepStatus::Completed,
                        PlanEntryStatus::InProgress => StepStatus::InProgress,
                        _ => StepStatus::Pending,
                    },
                };
                self.activity.plan = plan.entries.iter().map(step).collect();
                let done = self.activity.completed_steps();
                self.print(&format!("☰ plan: {done} of {} done", self.activity.plan.len()));
            }
            SessionUpdate::UsageUpdate(usage) => {
                self.activity.tokens = Some(usage.used);
                let cost = usage.cost.as_ref().map(|cost| format!("{} {}", cost.amount, cost.currency));
                self.activity.cost = cost.or(self.activity.cost.take());
            }
            _ => {}
        }
        self.write_soon();
    }

    /// Records that the agent sent a message.
    pub(super) fn message_received(&mut self) {
        self.heard = Instant::now();
        self.activity.last_update = Some(SystemClock.now());
    }

    fn say(&mut self, kind: TextKind, chunk: &ContentChunk) {
        let text = block_text(&chunk.content);
        if kind == TextKind::Answer && self.said.len() + text.len() <= MAX_ANSWER {
            self.said.push_str(&text);
        }
        if self.kind != kind {
            self.end_line();
            if kind == TextKind::Thought {
                write_out("(thinks) ");
            }
        }
        self.kind = kind;
        write_out(&text);
    }

    /// Starts the answer again, because text before a tool call is not part of the final answer.
    fn begin_segment(&mut self) {
        if !self.said.trim().is_empty() {
            self.said_before = std::mem::take(&mut self.said);
        }
    }

    fn end_line(&mut self) {
        if self.kind != TextKind::None {
            write_out("\n");
        }
        self.kind = TextKind::None;
    }

    /// Prints a separate line.
    pub(super) fn print(&mut self, line: &str) {
        self.end_line();
        write_out(&format!("{line}\n"));
    }

    /// Appends a JSON line.
    pub(super) fn note(&mut self, what: &Value) {
        let line = json!({"at": SystemClock.now(), "run": self.run, "update": what});
        if let Some(file) = &mut self.lines {
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Records whether the agent waits for a person.
    pub(super) fn wait_for(&mut self, what: Option<String>) {
        if let Some(what) = &what {
            self.print(&format!("{WAITS} {what}"));
        }
        self.activity.waiting = what;
        self.write_now();
    }

    fn write_soon(&mut self) {
        if self.written.elapsed() >= WRITE_EVERY {
            self.write_now();
        }
    }

    /// Writes the current activity.
    pub(super) fn write_now(&mut self) {
        self.written = Instant::now();
        self.runtime.agents().write_activity(&self.id, &self.activity);
    }

    /// Reports lines that were not messages, and writes the current activity.
    pub(super) fn tick(&mut self) {
        let more = self.garbage - std::mem::replace(&mut self.activity.garbage, self.garbage);
        if more > 0 {
            let lines =
                mw_model::count(more as usize, "line that is not a message", "lines that are not messages");
            self.print(&format!("! the agent wrote {lines}"));
        }
        self.write_now();
    }
}

/// The prefix of a line which reports that the agent waits for a person or is silent. The supervisor of an agent task
/// treats it like a prompt.
pub(super) const WAITS: &str = mw_model::AGENT_WAITS;

fn write_out(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Returns the name of a tool in the `_meta` of a call, where Claude's agent puts it.
fn name_beside(meta: Option<&Map<String, Value>>) -> Option<&str> {
    meta?.get("claudeCode")?.get("toolName")?.as_str()
}

impl Observer for Mutex<SubagentTranscript> {
    fn updated(client: &Client<Self>, update: &SessionUpdate) {
        client.transcript().update(update);
    }

    fn on_message(&self) {
        self.locked().message_received();
    }

    fn on_invalid_line(&self) {
        self.locked().garbage += 1;
    }

    fn waits_for(&self, what: Option<String>) {
        self.locked().wait_for(what.map(|what| format!("permission for {what} (answer: mw approvals)")));
    }

    fn decided(&self, what: &str, answer: &Result<(), String>) {
        let mut transcript = self.locked();
        transcript.message_received();
        match answer {
            Ok(()) => transcript.note(&json!({"mw": "allowed", "what": what})),
            Err(reason) => {
                transcript.note(&json!({"mw": "rejected", "what": what, "reason": reason}));
                transcript.print(&format!("✗ denied: {what}: {reason}"));
            }
        }
    }

    fn opened(&self, task: &str, command: &str) {
        self.locked().note(&json!({"mw": "terminal", "task": task, "command": command}));
    }
}

/// The client of an agent that runs as a task.
pub(super) type TaskClient = Client<Mutex<SubagentTranscript>>;

impl TaskClient {
    pub(crate) fn transcript(&self) -> MutexGuard<'_, SubagentTranscript> {
        self.observer.locked()
    }
}
