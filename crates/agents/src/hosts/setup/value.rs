//! A small ordered value that can be written as JSON and as TOML.

/// A value whose fields have an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::hosts) enum Value {
    /// Text.
    Text(String),
    /// A whole number.
    Number(u64),
    /// Yes or no.
    Flag(bool),
    /// Values in a row.
    List(Vec<Value>),
    /// Names with values.
    Table(Vec<(&'static str, Value)>),
}

impl Value {
    /// A list of texts.
    pub(in crate::hosts) fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        Self::List(texts.into_iter().map(|text| Self::Text(text.to_owned())).collect())
    }

    const fn is_plain(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Number(_) | Self::Flag(_))
    }

    /// Writes it as JSON on one line.
    pub(in crate::hosts) fn on_one_line(&self) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::List(items) => {
                let inner = items.iter().map(Self::on_one_line).collect::<Vec<_>>().join(", ");
                // The spaces mark a container that was added together with its content.
                if items.iter().all(Self::is_plain) { format!("[{inner}]") } else { format!("[ {inner} ]") }
            }
            Self::Table(fields) => {
                let inner =
                    fields.iter().map(|(name, value)| format!("{}: {}", quoted(name), value.on_one_line()));
                format!("{{ {} }}", inner.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Writes it as JSON on several lines.
    pub(in crate::hosts) fn on_lines(&self, layout: &Layout, indent: &str) -> String {
        let deeper = format!("{indent}{}", layout.unit);
        let lines = |open: char, items: Vec<String>, close: char| {
            let separator = format!(",{}{deeper}", layout.line_end);
            format!("{open}{0}{deeper}{1}{0}{indent}{close}", layout.line_end, items.join(&separator))
        };
        match self {
            Self::Table(fields) => {
                let field = |(name, value): &(&str, Self)| {
                    format!("{}: {}", quoted(name), value.on_lines(layout, &deeper))
                };
                lines('{', fields.iter().map(field).collect(), '}')
            }
            Self::List(items) if !items.iter().all(Self::is_plain) => {
                lines('[', items.iter().map(|item| item.on_lines(layout, &deeper)).collect(), ']')
            }
            Self::Text(_) | Self::Number(_) | Self::Flag(_) | Self::List(_) => self.on_one_line(),
        }
    }

    /// Writes the lines of a TOML table, without a line end after the last.
    pub(in crate::hosts) fn as_toml(&self, line_end: &str) -> String {
        match self {
            Self::Table(fields) => {
                let field = |(name, value): &(&str, Self)| format!("{name} = {}", value.on_one_line());
                fields.iter().map(field).collect::<Vec<_>>().join(line_end)
            }
            other => other.on_one_line(),
        }
    }
}

/// The layout of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::hosts) struct Layout {
    /// The indentation of one level.
    pub(in crate::hosts) unit: String,
    /// The line end.
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

/// Writes a text as a JSON string, which is also a TOML string: both have the same escapes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
