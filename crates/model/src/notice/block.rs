//! The text of a notification for a model: elements in angle brackets, one per line.

use super::News;
use super::Notice;
use crate::dialect::Dialect;

const OPEN: &str = "<task-notification>";
const CLOSE: &str = "</task-notification>";

/// The fields of a parsed block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) handle: String,
    pub(super) name: Option<String>,
    pub(super) status: String,
    pub(super) exit_code: Option<i32>,
    pub(super) output_file: String,
    pub(super) summary: String,
    pub(super) outcome: Option<String>,
    pub(super) result: Option<String>,
}

impl Notice {
    /// Writes the block. No text of a command can end an element or start a line.
    #[must_use]
    pub fn to_block(&self) -> String {
        if self.dialect.is_some_and(Dialect::notifies_in_a_sentence) {
            return self.to_sentence();
        }
        let mut lines = vec![OPEN.to_owned(), element("task-id", &self.handle)];
        lines.extend(self.name.as_ref().map(|name| element("name", name)));
        if let News::Batch { batch, .. } = &self.news {
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

    /// Returns whether a text is the block of this notification. White space between elements does not matter.
    #[must_use]
    pub fn is_block(&self, text: &str) -> bool {
        if self.dialect.is_some_and(Dialect::notifies_in_a_sentence) {
            return text.split_whitespace().eq(self.to_sentence().split_whitespace());
        }
        let own = Fields {
            handle: self.handle.clone(),
            name: self.name.clone(),
            status: self.status().to_owned(),
            exit_code: self.exit_code(),
            output_file: self.output_path.clone(),
            summary: self.summary(),
            outcome: self.outcome.clone(),
            result: self.result.clone(),
        };
        parse(text) == Some(own)
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

fn unescape(text: &str) -> Option<String> {
    let mut parts = text.split('&');
    let mut plain = parts.next()?.to_owned();
    for part in parts {
        let (name, rest) = part.split_once(';')?;
        plain.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "#10" => '\n',
            "#13" => '\r',
            _ => return None,
        });
        plain.push_str(rest);
    }
    Some(plain)
}

/// Parses a block.
pub(super) fn parse(text: &str) -> Option<Fields> {
    let mut rest = text.trim().strip_prefix(OPEN)?.strip_suffix(CLOSE)?.trim();
    let mut elements = Vec::new();
    while !rest.is_empty() {
        let (name, after) = rest.strip_prefix('<')?.split_once('>')?;
        let (inner, after) = after.split_once(&format!("</{name}>"))?;
        elements.push((name, unescape(inner)?));
        rest = after.trim_start();
    }
    let mut take = |name: &str| {
        let at = elements.iter().position(|(found, _)| *found == name)?;
        Some(elements.swap_remove(at).1)
    };
    let exit_code = match take("exit-code") {
        Some(code) => Some(code.parse().ok()?),
        None => None,
    };
    Some(Fields {
        handle: take("task-id")?,
        name: take("name"),
        status: take("status")?,
        exit_code,
        output_file: take("output-file")?,
        summary: take("summary")?,
        outcome: take("outcome"),
        result: take("result"),
    })
}
