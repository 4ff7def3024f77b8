//! An MCP host that exchanges messages with `mw mcp` on standard streams.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::conversation::Conversation;
use crate::home::Home;
use crate::invocation::Invocation;
use crate::wait::SOON;

/// A host and its server.
pub struct Host {
    /// The server's process.
    pub server: Conversation,
    last: i64,
    /// Received messages that no call has returned yet.
    heard: Vec<Value>,
}

impl Host {
    /// Starts a server in the session `host` and initializes it with the current protocol version.
    #[must_use]
    pub fn new(home: &Home) -> Self {
        Self::of(home.command(["mcp"]).session("host"))
    }

    /// Starts this server and initializes it.
    pub fn of(invocation: Invocation) -> Self {
        let mut host = Self::silent(invocation);
        host.greet("2025-11-25");
        host
    }

    /// Starts a server and sends nothing.
    pub fn silent(invocation: Invocation) -> Self {
        Self { server: invocation.converse(), last: 0, heard: Vec::new() }
    }

    /// Initializes the server with a protocol version; returns its reply.
    ///
    /// # Panics
    /// When the server does not react as expected.
    pub fn greet(&mut self, version: &str) -> Value {
        let hello = json!({
            "protocolVersion": version,
            "capabilities": {"roots": {}, "experimental": {"meanwhile/structured": {}}},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let id = self.ask("initialize", &hello);
        let answer = self.answer(id);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer["result"].clone()
    }

    /// Sends a message.
    ///
    /// # Panics
    /// When the server has ended.
    pub fn send(&mut self, message: &Value) {
        self.server.say(format!("{message}\n").as_bytes()).expect("the server reads");
    }

    /// Sends a request; returns its id.
    ///
    /// # Panics
    /// When the server does not react as expected.
    pub fn ask(&mut self, method: &str, params: &Value) -> i64 {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Sends several calls in one write; returns their ids.
    ///
    /// # Panics
    /// When the server does not react as expected.
    pub fn begin_together<const N: usize>(&mut self, calls: [(&str, Value); N]) -> [i64; N] {
        let mut written = String::new();
        let ids = calls.map(|(tool, arguments)| {
            self.last += 1;
            let params = json!({"name": tool, "arguments": arguments});
            let call = json!({"jsonrpc": "2.0", "id": self.last, "method": "tools/call", "params": params});
            written.push_str(&format!("{call}\n"));
            self.last
        });
        self.server.say(written.as_bytes()).expect("the server reads");
        ids
    }

    /// Sends a call; returns its id.
    ///
    /// # Panics
    /// When the server does not react as expected.
    pub fn begin(&mut self, tool: &str, arguments: &Value) -> i64 {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Waits for a message.
    ///
    /// # Panics
    /// When the server does not react as expected.
    #[track_caller]
    pub fn until(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.heard.iter().position(&wanted) {
            return self.heard.remove(at);
        }
        let begun = Instant::now();
        // The output ends only after its last line was read, even if that is late.
        while let Some(line) = self.server.read_line(SOON.saturating_sub(begun.elapsed())) {
            let message: Value = serde_json::from_str(&line).expect("a server writes messages");
            if wanted(&message) {
                return message;
            }
            self.heard.push(message);
        }
        assert!(self.server.runs(), "the server has ended: {}", self.server.stderr_text());
        panic!("timed out: {what}; received {:?}", self.heard);
    }

    /// Returns the received messages that no call has returned yet.
    #[must_use]
    pub fn heard(&self) -> &[Value] {
        &self.heard
    }

    /// Returns the next message in the order of the output; nothing after the server has ended.
    ///
    /// # Panics
    /// When the server does not react as expected.
    pub fn next_message(&mut self) -> Option<Value> {
        let line = self.server.read_line(SOON)?;
        Some(serde_json::from_str(&line).expect("a server writes messages"))
    }

    /// Waits for the response to a request.
    ///
    /// # Panics
    /// When the server does not react as expected.
    #[track_caller]
    pub fn answer(&mut self, id: i64) -> Value {
        self.until(&format!("an answer to {id}"), |message| message["id"] == id)
    }

    /// Returns whether the response to a request arrives within a limit.
    ///
    /// # Panics
    /// When the server does not react as expected.
    pub fn has_answer(&mut self, id: i64, limit: Duration) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < limit {
            let left = limit.saturating_sub(begun.elapsed());
            let Some(line) = self.server.read_line(left) else { break };
            self.heard.push(serde_json::from_str(&line).expect("a server writes messages"));
        }
        self.heard.iter().any(|message| message["id"] == id)
    }

    /// Calls a tool; returns the result.
    ///
    /// # Panics
    /// When the server does not react as expected.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.begin(tool, arguments);
        let answer = self.answer(id);
        assert!(answer.get("result").is_some(), "{tool} {arguments}: {answer}");
        answer["result"].clone()
    }

    /// Starts a command in the background; returns its id.
    ///
    /// # Panics
    /// When the server does not react as expected.
    #[track_caller]
    pub fn start(&mut self, script: &str) -> String {
        let result = self.call("shell", &json!({"command": script, "run_in_background": true}));
        let id = result["structuredContent"]["task_id"].as_str();
        id.unwrap_or_else(|| panic!("not started: {result}")).to_owned()
    }

    /// Calls a tool with an empty result; returns the tasks whose notifications precede it.
    ///
    /// # Panics
    /// When the server does not react as expected.
    #[track_caller]
    pub fn notifications(&mut self) -> Vec<String> {
        notified_tasks(&self.call("task_list", &json!({"status": "pending"})))
    }

    /// Receives notifications until those of `count` tasks have arrived; returns all of them.
    ///
    /// # Panics
    /// When the server does not react as expected.
    pub fn all_notifications(&mut self, count: usize) -> Vec<String> {
        let begun = Instant::now();
        let mut all = Vec::new();
        while all.len() < count && begun.elapsed() < SOON {
            all.extend(self.notifications());
        }
        all.extend(self.notifications());
        all
    }
}

/// Returns the texts of a result.
fn texts(result: &Value) -> Vec<&str> {
    let blocks = result["content"].as_array().expect("a result has content");
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

/// Returns the text of a result.
///
/// # Panics
/// When it has no content.
#[must_use]
pub fn text(result: &Value) -> String {
    texts(result).join("\n")
}

/// Returns the tasks whose notifications come with a result.
///
/// # Panics
/// When it has no content.
#[must_use]
pub fn notified_tasks(result: &Value) -> Vec<String> {
    let between = |text: &str| {
        let (_, rest) = text.split_once("<task-id>")?;
        Some(rest.split_once("</task-id>")?.0.to_owned())
    };
    let notices = texts(result).into_iter().filter(|text| text.starts_with("<task-notification"));
    notices.map(|text| between(text).expect("a notice names its task")).collect()
}
