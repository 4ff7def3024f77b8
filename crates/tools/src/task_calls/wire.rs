//! The two lines of a connection: a call and its reply, as JSON.

use serde_json::{Map, Value, json};

use crate::call::Reply;

/// The version of both lines.
const VERSION: u64 = 1;

/// The maximum length of a call, in bytes.
pub const MAX_CALL: usize = 64 << 10;

/// A call of a tool of the canonical dialect.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskCall {
    /// The name of the tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Map<String, Value>,
}

/// The reply to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallReply {
    /// The text of the tool.
    pub text: String,
    /// The same as data.
    pub data: Value,
    /// Whether the call was refused or failed.
    pub failed: bool,
}

impl TaskCall {
    /// Creates a call. `arguments` is an object; those without a value are left out.
    #[must_use]
    pub fn new(tool: &str, arguments: Value) -> Self {
        let mut given = match arguments {
            Value::Object(given) => given,
            _ => Map::new(),
        };
        given.retain(|_, value| !value.is_null());
        Self { tool: tool.to_owned(), arguments: given }
    }

    /// Returns the line to send.
    #[must_use]
    pub fn to_line(&self) -> String {
        format!("{}\n", json!({"v": VERSION, "tool": self.tool, "arguments": self.arguments}))
    }

    /// Reads a line. Returns `None` if it is no call of this version.
    #[must_use]
    pub fn from_line(line: &[u8]) -> Option<Self> {
        let mut read = object_of(line)?;
        let Some(Value::String(tool)) = read.remove("tool") else { return None };
        match read.remove("arguments") {
            None => Some(Self { tool, arguments: Map::new() }),
            Some(Value::Object(arguments)) => Some(Self { tool, arguments }),
            Some(_) => None,
        }
    }
}

impl CallReply {
    /// Returns the line to send.
    #[must_use]
    pub fn to_line(&self) -> String {
        format!("{}\n", json!({"v": VERSION, "text": self.text, "data": self.data, "failed": self.failed}))
    }

    /// Reads a line. Returns `None` if it is no reply of this version.
    #[must_use]
    pub fn from_line(line: &[u8]) -> Option<Self> {
        let mut read = object_of(line)?;
        let Some(Value::String(text)) = read.remove("text") else { return None };
        let failed = read.get("failed")?.as_bool()?;
        Some(Self { text, data: read.remove("data").unwrap_or_default(), failed })
    }

    /// Creates the reply to a call that was not made.
    pub(super) fn refused(code: &str, text: &str) -> Self {
        let data = json!({"error": {"code": code, "message": text}});
        Self { text: text.to_owned(), data, failed: true }
    }
}

impl From<Reply> for CallReply {
    fn from(reply: Reply) -> Self {
        Self { text: reply.text, data: reply.data, failed: reply.failed }
    }
}

fn object_of(line: &[u8]) -> Option<Map<String, Value>> {
    let Ok(Value::Object(read)) = serde_json::from_slice(line) else { return None };
    (read.get("v")?.as_u64()? == VERSION).then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_written_and_others_are_refused() {
        let arguments = json!({"task_id": "bash-k3f9x2ab\n"}).as_object().unwrap().clone();
        let call = TaskCall { tool: "task_output".to_owned(), arguments };
        assert_eq!(TaskCall::from_line(call.to_line().as_bytes()), Some(call));
        let reply = CallReply { text: "a\nb".to_owned(), data: json!({"x": 1}), failed: true };
        assert_eq!(CallReply::from_line(reply.to_line().as_bytes()), Some(reply));
        for wrong in [
            "",
            "x",
            "[]",
            "{}",
            r#"{"v":2,"tool":"task_list"}"#,
            r#"{"v":1}"#,
            r#"{"v":1,"tool":1}"#,
            r#"{"v":1,"tool":"task_list","arguments":[]}"#,
        ] {
            assert_eq!(TaskCall::from_line(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
