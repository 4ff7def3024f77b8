//! Requests to a model.

use serde_json::Value;

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// `/chat/completions`.
    OpenAi,
    /// `/messages`.
    Anthropic,
    /// `/api/chat`.
    Ollama,
}

impl Wire {
    pub(super) fn of(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or(path);
        if path.ends_with("/chat/completions") {
            Some(Self::OpenAi)
        } else if path.ends_with("/messages") {
            Some(Self::Anthropic)
        } else if path.ends_with("/api/chat") {
            Some(Self::Ollama)
        } else {
            None
        }
    }

    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Anthropic => "text/event-stream",
            Self::Ollama => "application/x-ndjson",
        }
    }
}

/// A request to a model.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The path of the URL.
    pub path: String,
    /// The format, if the path identifies it.
    pub wire: Option<Wire>,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; null if it is not JSON.
    pub body: Value,
}

impl ModelRequest {
    /// Returns a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the conversation, as the format writes it.
    #[must_use]
    pub fn messages(&self) -> Vec<Value> {
        self.body["messages"].as_array().cloned().unwrap_or_default()
    }

    /// Returns the names of the tools that are offered.
    #[must_use]
    pub fn tools(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        let name =
            |tool: &Value| tool["function"]["name"].as_str().or(tool["name"].as_str()).map(str::to_owned);
        tools.filter_map(name).collect()
    }

    /// Returns whether the conversation or the system prompt contains these words.
    #[must_use]
    pub fn says(&self, words: &str) -> bool {
        fn within(value: &Value, words: &str) -> bool {
            match value {
                Value::String(text) => text.contains(words),
                Value::Array(all) => all.iter().any(|value| within(value, words)),
                Value::Object(all) => all.values().any(|value| within(value, words)),
                Value::Null | Value::Bool(_) | Value::Number(_) => false,
            }
        }
        within(&self.body["messages"], words) || within(&self.body["system"], words)
    }

    /// Returns the text of the last message.
    #[must_use]
    pub fn last_text(&self) -> String {
        fn texts(value: &Value) -> String {
            match value {
                Value::String(text) => text.clone(),
                Value::Array(all) => all.iter().map(texts).collect::<Vec<_>>().join("\n"),
                Value::Object(all) => all.get("text").or(all.get("content")).map(texts).unwrap_or_default(),
                Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
            }
        }
        self.messages().last().map(texts).unwrap_or_default()
    }
}
