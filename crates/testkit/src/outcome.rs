//! The result of a command.

use std::fmt;

use serde_json::Value;

/// The result of a command: its output and exit code.
#[must_use = "a command that fails must fail the test"]
#[derive(Clone)]
pub struct Outcome {
    /// The command line, for messages.
    pub command: String,
    /// The exit code; nothing if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

impl Outcome {
    /// Returns its standard output as text.
    ///
    /// # Panics
    /// When it did not exit with 0.
    #[track_caller]
    pub fn ok(&self) -> String {
        assert_eq!(self.code, Some(0), "{self}");
        self.text()
    }

    /// Returns this result.
    ///
    /// # Panics
    /// When it did not exit with `code`.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Returns its standard output as JSON, with any exit code.
    ///
    /// # Panics
    /// When that is not a single JSON value.
    #[track_caller]
    #[must_use]
    pub fn json(&self) -> Value {
        match serde_json::from_slice(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("no JSON on stdout ({error})\n{self}"),
        }
    }

    /// Returns its standard output as JSON lines.
    ///
    /// # Panics
    /// When a line is not a JSON value.
    #[track_caller]
    #[must_use]
    pub fn json_lines(&self) -> Vec<Value> {
        json_lines(&self.text())
    }

    /// Returns its standard output as text, with any exit code.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Returns its standard error as text.
    #[must_use]
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Checks that it failed with `code` and an error in JSON, with a code, a message and a hint. Returns the error
    /// object.
    ///
    /// # Panics
    /// When one of these is missing.
    #[track_caller]
    #[must_use]
    pub fn refusal(&self, code: i32) -> Value {
        assert_eq!(self.code, Some(code), "{self}");
        let error = self.json()["error"].clone();
        for field in ["code", "message", "hint"] {
            let text = error[field].as_str().unwrap_or_default();
            assert!(!text.trim().is_empty(), "no {field} in the error\n{self}");
        }
        error
    }
}

/// Reads the complete lines of a stream of JSON lines.
///
/// # Panics
/// When one of them is not a JSON value.
#[track_caller]
pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    complete
        .lines()
        .map(|line| match serde_json::from_str(line) {
            Ok(value) => value,
            Err(error) => panic!("no JSON line ({error}): {line}"),
        })
        .collect()
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}", self.command)?;
        writeln!(f, "code {:?}, signal {:?}", self.code, self.signal)?;
        writeln!(f, "── stdout\n{}", shortened(&self.stdout))?;
        write!(f, "── stderr\n{}", shortened(&self.stderr))
    }
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Shortens output for messages of failed tests.
fn shortened(bytes: &[u8]) -> String {
    const MAX: usize = 4000;
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX)]);
    match bytes.len().checked_sub(MAX) {
        Some(rest @ 1..) => format!("{shown}… and {rest} bytes more"),
        _ => shown.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: i32, stdout: &str) -> Outcome {
        Outcome {
            command: "mw x".to_owned(),
            code: Some(code),
            signal: None,
            stdout: stdout.as_bytes().to_vec(),
            stderr: Vec::new(),
        }
    }

    #[test]
    fn a_refusal_has_code_message_and_hint() {
        let text = r#"{"error":{"code":"usage","message":"no","hint":"do"}}"#;
        assert_eq!(failed(2, text).refusal(2)["code"], "usage");
    }

    #[test]
    #[should_panic(expected = "no hint in the error")]
    fn a_refusal_without_a_hint_fails_the_test() {
        let text = r#"{"error":{"code":"usage","message":"no","hint":""}}"#;
        let _ = failed(2, text).refusal(2);
    }

    #[test]
    fn an_incomplete_line_is_ignored() {
        assert_eq!(json_lines("1\n2\n{\"a").len(), 2);
    }
}
