//! The text of a notification for a model: elements in angle brackets, one per line.

use super::Notice;
use super::NoticeKind;
use crate::dialects::Dialect;

pub(super) const OPEN: &str = "<task-notification>";
pub(super) const CLOSE: &str = "</task-notification>";

impl Notice {
    /// Writes the block. No text of a command can end an element or start a line.
    #[must_use]
    pub fn to_block(&self) -> String {
        if self.dialect.is_some_and(Dialect::notifies_in_a_sentence) {
            return self.to_sentence();
        }
        let mut lines = vec![OPEN.to_owned(), element("task-id", &self.handle)];
        lines.extend(self.name.as_ref().map(|name| element("name", name)));
        if let NoticeKind::Batch { batch, .. } = &self.kind {
            // The state is that of the batch; the task is the one that ended last.
            lines.push(element("batch-id", batch));
        }
        lines.push(element("status", self.status()));
        lines.extend(self.exit_code().map(|code| element("exit-code", &code.to_string())));
        lines.push(element("output-file", &self.output_path));
        lines.extend(self.report.as_ref().map(|report| element("report-file", report)));
        lines.push(element("summary", &self.summary()));
        lines.extend(self.outcome.as_ref().map(|outcome| element("outcome", outcome)));
        lines.extend(self.result_element());
        lines.push(CLOSE.to_owned());
        lines.join("\n")
    }

    /// Writes the single sentence that co-cli has instead of elements. It is enclosed in an element as well, so that
    /// it is not mistaken for the user's words.
    fn to_sentence(&self) -> String {
        let mut lines = vec![OPEN.to_owned(), escape(&self.sentence())];
        lines.extend(self.result_element());
        lines.push(CLOSE.to_owned());
        lines.join("\n")
    }

    /// Returns the result with its line breaks, which are easier to read. Its text cannot be mistaken for an element.
    fn result_element(&self) -> Option<String> {
        let result = escape(self.result.as_ref()?).replace("&#10;", "\n");
        Some(format!("<result>{result}</result>"))
    }
}

fn element(name: &str, text: &str) -> String {
    format!("<{name}>{}</{name}>", escape(text))
}

/// Escapes markup, and also line breaks, so that an element stays on its line. Other control characters have no valid
/// escape and become replacement characters.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\n' => escaped.push_str("&#10;"),
            '\r' => escaped.push_str("&#13;"),
            '\t' => escaped.push('\t'),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
