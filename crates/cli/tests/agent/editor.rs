//! A client of the protocol, message by message.

use mw_testkit::host::Host;
use mw_testkit::{Home, Invocation, SOON, wait_until};
use serde_json::{Value, json};

/// A client and its agent, with one session open.
pub(crate) struct Editor {
    pub(crate) host: Host,
    pub(crate) session: String,
    updates: Vec<Value>,
}

/// A turn that ended.
pub(crate) struct Turn {
    /// The response to the prompt.
    pub(crate) answer: Value,
    pub(crate) updates: Vec<Value>,
}

impl Editor {
    /// Starts an agent that works in the home's directory.
    pub(crate) fn new(home: &Home) -> Self {
        Self::of(home, home.command(["acp"]))
    }

    pub(crate) fn of(home: &Home, invocation: Invocation) -> Self {
        Self::with(home, invocation, &json!({}))
    }

    /// Does the same for a client with these capabilities.
    pub(crate) fn with(home: &Home, invocation: Invocation, abilities: &Value) -> Self {
        let mut editor = Self::greeting(invocation, abilities);
        let params = json!({"cwd": home.work(), "mcpServers": []});
        let result = editor.ask("session/new", &params)["result"].clone();
        editor.session =
            result["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {result}")).to_owned();
        editor
    }

    /// Starts an agent without sending anything.
    pub(crate) fn silent(invocation: Invocation) -> Self {
        // Most tests run without approval; these test the approval.
        let host = Host::silent(invocation.without("MEANWHILE_MODE"));
        Self { host, session: String::new(), updates: Vec::new() }
    }

    /// Initializes the agent without opening a session.
    pub(crate) fn greeting(invocation: Invocation, abilities: &Value) -> Self {
        let mut editor = Self::silent(invocation);
        let hello = editor.ask("initialize", &json!({"protocolVersion": 1, "clientCapabilities": abilities}));
        assert_eq!(hello["result"]["protocolVersion"], 1, "{hello}");
        editor
    }

    /// Sends a request and waits for the response.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.host.ask(method, params);
        self.host.until("the response", |message| message["id"] == id && message.get("method").is_none())
    }

    /// Waits for a text on its standard error.
    pub(crate) fn until_stderr(&self, words: &str) {
        wait_until(SOON, words, || self.host.server.stderr_text().contains(words).then_some(()));
    }

    /// Begins a turn.
    pub(crate) fn begin(&mut self, text: &str) -> i64 {
        let prompt = json!({"sessionId": self.session, "prompt": [{"type": "text", "text": text}]});
        self.host.ask("session/prompt", &prompt)
    }

    /// Waits for the next update of this kind.
    pub(crate) fn update(&mut self, kind: &str) -> Value {
        let wanted = |message: &Value| message["params"]["update"]["sessionUpdate"] == kind;
        let update = self.host.until(kind, wanted)["params"]["update"].clone();
        self.updates.push(update.clone());
        update
    }

    /// Waits for a request of the agent.
    pub(crate) fn asked(&mut self, method: &str) -> Value {
        self.host.until(method, |message| message["method"] == method)
    }

    /// Answers a request of the agent.
    pub(crate) fn answer(&mut self, request: &Value, result: &Value) {
        self.host.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    /// Answers the next permission request with one of its options.
    pub(crate) fn permit(&mut self, option: &str) -> Value {
        let request = self.asked("session/request_permission");
        self.answer(&request, &json!({"outcome": {"outcome": "selected", "optionId": option}}));
        request["params"].clone()
    }

    pub(crate) fn cancel(&mut self) {
        let params = json!({"sessionId": self.session});
        self.host.send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params}));
    }

    /// Waits for the end of a turn; all messages before it belong to it.
    pub(crate) fn end(&mut self, id: i64) -> Turn {
        let answer = self
            .host
            .until("the end of the turn", |message| message["id"] == id && message.get("method").is_none());
        let mut updates = std::mem::take(&mut self.updates);
        while let Some(at) =
            self.host.heard().iter().position(|message| message["method"] == "session/update")
        {
            let number = at;
            let message = self.host.heard()[number].clone();
            let same = message.clone();
            let taken = self.host.until("the next update", |message| *message == same);
            updates.push(taken["params"]["update"].clone());
        }
        Turn { answer, updates }
    }

    /// Runs a turn without permission requests.
    pub(crate) fn turn(&mut self, text: &str) -> Turn {
        let id = self.begin(text);
        self.end(id)
    }

    /// Loads a session; returns the response and the replayed updates.
    pub(crate) fn load(&mut self, home: &Home, session: &str) -> Turn {
        let id = self
            .host
            .ask("session/load", &json!({"sessionId": session, "cwd": home.work(), "mcpServers": []}));
        self.session = session.to_owned();
        self.end(id)
    }
}

impl Turn {
    pub(crate) fn reason(&self) -> &str {
        self.answer["result"]["stopReason"].as_str().unwrap_or_else(|| panic!("no reason: {}", self.answer))
    }

    /// Returns the message of an error, with its hint.
    pub(crate) fn error(&self) -> &str {
        self.answer["error"]["message"].as_str().unwrap_or_else(|| panic!("no error: {}", self.answer))
    }

    fn texts(&self, kind: &str) -> String {
        let chunks = self.of(kind);
        chunks.iter().filter_map(|update| update["content"]["text"].as_str()).collect()
    }

    /// Returns the text of the agent.
    pub(crate) fn said(&self) -> String {
        self.texts("agent_message_chunk")
    }

    pub(crate) fn thought(&self) -> String {
        self.texts("agent_thought_chunk")
    }

    /// Returns the updates of a kind.
    pub(crate) fn of(&self, kind: &str) -> Vec<Value> {
        self.updates.iter().filter(|update| update["sessionUpdate"] == kind).cloned().collect()
    }

    /// Returns the results of the calls: status and text.
    pub(crate) fn results(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let update =
            |update: &Value| (text(&update["status"]), text(&update["content"][0]["content"]["text"]));
        let ends = self.of("tool_call_update").into_iter().filter(|update| update["status"] != "in_progress");
        ends.map(|end| update(&end)).collect()
    }
}
