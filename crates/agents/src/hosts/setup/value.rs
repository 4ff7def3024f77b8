//! Writes values as JSON and TOML in the layout of a file.

use serde_json::Value;

/// The fields of an entry that say what it starts.
pub(in crate::hosts) const COMMAND_FIELDS: [&str; 2] = ["command", "args"];

fn is_plain(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

/// Writes a value on one line, as JSON. In TOML, a list of texts and a plain value have the same form.
pub(in crate::hosts) fn on_one_line(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let inner = items.iter().map(on_one_line).collect::<Vec<_>>().join(", ");
            // The spaces mark a container that was added together with its content.
            if items.iter().all(is_plain) { format!("[{inner}]") } else { format!("[ {inner} ]") }
        }
        Value::Object(fields) => {
            let inner = fields.iter().map(|(name, value)| format!("\"{name}\": {}", on_one_line(value)));
            format!("{{ {} }}", inner.collect::<Vec<_>>().join(", "))
        }
        plain => plain.to_string(),
    }
}

/// Writes a value as JSON on several lines.
pub(in crate::hosts) fn on_lines(value: &Value, layout: &Layout, indent: &str) -> String {
    let deeper = format!("{indent}{}", layout.unit);
    let lines = |open: char, items: Vec<String>, close: char| {
        let separator = format!(",{}{deeper}", layout.line_end);
        format!("{open}{0}{deeper}{1}{0}{indent}{close}", layout.line_end, items.join(&separator))
    };
    match value {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                format!("\"{name}\": {}", on_lines(value, layout, &deeper))
            };
            lines('{', fields.iter().map(field).collect(), '}')
        }
        Value::Array(items) if !items.iter().all(is_plain) => {
            lines('[', items.iter().map(|item| on_lines(item, layout, &deeper)).collect(), ']')
        }
        other => on_one_line(other),
    }
}

/// The layout of a file.
pub(in crate::hosts) struct Layout {
    /// The indentation of one level.
    pub(in crate::hosts) unit: String,
    pub(in crate::hosts) line_end: &'static str,
}

impl Layout {
    /// The layout of a new file.
    pub(in crate::hosts) fn plain() -> Self {
        Self { unit: "  ".to_owned(), line_end: "\n" }
    }
}

/// Returns the line end of a text.
pub(in crate::hosts) fn line_end_of(text: &str) -> &'static str {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    if first.ends_with("\r\n") { "\r\n" } else { "\n" }
}
