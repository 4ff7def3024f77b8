//! What a setting accepts: the one place that reads a value, from a file or from text.

use std::fmt;

use meanwhile::SecretPattern;
use meanwhile::model::{parse_duration_ms, parse_milli_cpus, parse_size};
use toml::de::DeValue;

const DAY_MS: u64 = 86_400_000;

/// A valid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Number(u64),
    Flag(bool),
    Text(String),
    List(Vec<String>),
}

/// The type of a value and its range.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Accepts {
    /// A whole number.
    Count { least: u64, most: u64 },
    /// A whole number of milliseconds.
    Milliseconds { least: u64, most: u64 },
    /// A number of bytes, also with a unit; 0 is accepted below the least.
    Size { least: u64, most: u64 },
    /// A time with a unit, or a number of seconds; kept in milliseconds.
    Duration { most: u64 },
    /// A number of processors, also a fraction; kept in thousandths; 0 is accepted below the least.
    Cpus { least: u64, most: u64 },
    /// A whole number of days; kept in milliseconds.
    Days { most: u64 },
    /// One of these words.
    Word(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A program's path or name.
    Program,
    /// Any text on one line; empty = none.
    Line,
    /// Texts, in a variable one per line.
    Lines,
    /// The same for regular expressions.
    Patterns,
}

impl Accepts {
    /// Reads a value from a variable; none if it is not accepted.
    pub(crate) fn read_text(&self, text: &str) -> Option<Value> {
        let number = match self {
            Self::Count { .. } | Self::Milliseconds { .. } => text.trim().parse().ok()?,
            Self::Size { .. } => parse_size(text).ok()?,
            Self::Duration { .. } => parse_duration_ms(text).ok()?,
            Self::Cpus { .. } => parse_milli_cpus(text).ok()?,
            Self::Days { most } => {
                let days: u64 = text.trim().parse().ok()?;
                return (days <= *most).then_some(Value::Number(days * DAY_MS));
            }
            Self::Word(words) => {
                return words.contains(&text).then(|| Value::Text(text.to_owned()));
            }
            Self::Flag => return text.parse().ok().map(Value::Flag),
            Self::Program => return (!text.trim().is_empty()).then(|| Value::Text(text.to_owned())),
            Self::Line => {
                let fits = !text.chars().any(char::is_control);
                return fits.then(|| Value::Text(text.trim().to_owned()));
            }
            Self::Lines => return Some(Value::List(text.lines().map(str::to_owned).collect())),
            Self::Patterns => return patterns(text.lines().map(str::to_owned).collect()),
        };
        self.has(number).then_some(Value::Number(number))
    }

    /// Reads a value from a file; none if it is not accepted, or of another type.
    pub(crate) fn read_toml(&self, value: &DeValue<'_>) -> Option<Value> {
        match (self, value) {
            (
                Self::Count { .. }
                | Self::Milliseconds { .. }
                | Self::Size { .. }
                | Self::Duration { .. }
                | Self::Cpus { .. }
                | Self::Days { .. },
                DeValue::Integer(number),
            ) => {
                let number = u64::from_str_radix(number.as_str(), number.radix()).ok()?;
                self.read_text(&number.to_string())
            }
            (
                Self::Size { .. }
                | Self::Duration { .. }
                | Self::Cpus { .. }
                | Self::Word(_)
                | Self::Program
                | Self::Line,
                DeValue::String(text),
            ) => self.read_text(text),
            (Self::Cpus { .. }, DeValue::Float(number)) => self.read_text(number.as_str()),
            (Self::Flag, DeValue::Boolean(flag)) => Some(Value::Flag(*flag)),
            (Self::Lines, DeValue::Array(items)) => {
                let text = |item: &DeValue<'_>| Some(item.as_str()?.to_owned());
                items.iter().map(|item| text(item.get_ref())).collect::<Option<_>>().map(Value::List)
            }
            (Self::Patterns, DeValue::Array(_)) => match Self::Lines.read_toml(value)? {
                Value::List(items) => patterns(items),
                Value::Number(_) | Value::Flag(_) | Value::Text(_) => None,
            },
            _ => None,
        }
    }

    const fn has(&self, number: u64) -> bool {
        match self {
            Self::Count { least, most } | Self::Milliseconds { least, most } => {
                *least <= number && number <= *most
            }
            Self::Size { least, most } | Self::Cpus { least, most } => {
                number == 0 || (*least <= number && number <= *most)
            }
            Self::Duration { most } => number <= *most,
            Self::Days { .. }
            | Self::Word(_)
            | Self::Flag
            | Self::Program
            | Self::Line
            | Self::Lines
            | Self::Patterns => false,
        }
    }

    /// Writes a value in the format of a variable.
    pub(crate) fn text(&self, value: &Value) -> String {
        match value {
            Value::Number(ms) if matches!(self, Self::Duration { .. }) && *ms > 0 => format!("{ms}ms"),
            Value::Number(cpus) if matches!(self, Self::Cpus { .. }) => (*cpus as f64 / 1000.0).to_string(),
            Value::Number(number) => number.to_string(),
            Value::Flag(flag) => flag.to_string(),
            Value::Text(text) => text.clone(),
            Value::List(items) => items.join("\n"),
        }
    }

    /// Writes a value in the format of a file.
    pub(crate) fn toml(&self, value: &Value) -> String {
        match value {
            Value::Number(number) if matches!(self, Self::Duration { .. }) && *number > 0 => {
                format!("\"{number}ms\"")
            }
            Value::Number(_) | Value::Flag(_) => self.text(value),
            Value::Text(text) => format!("{text:?}"),
            Value::List(items) => {
                let lines: String = items.iter().map(|item| format!("  {item:?},\n")).collect();
                format!("[\n{lines}]")
            }
        }
    }
}

/// Returns a list if every item is a valid pattern.
fn patterns(items: Vec<String>) -> Option<Value> {
    items.iter().all(|item| SecretPattern::new(item).is_ok()).then_some(Value::List(items))
}

impl fmt::Display for Accepts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { least, most } => write!(f, "a whole number from {least} to {most}"),
            Self::Milliseconds { least, most } => {
                write!(f, "a whole number of milliseconds from {least} to {most}")
            }
            Self::Size { least, most } => {
                write!(f, "0, or a size from {least} to {most} bytes such as 4096, \"64KiB\" or \"10MiB\"")
            }
            Self::Duration { most } => {
                let (most, unit) =
                    match *most {
                        most if most < DAY_MS => (most / 60_000, "minutes"),
                        DAY_MS => (24, "hours"),
                        most => (most / DAY_MS, "days"),
                    };
                write!(
                    f,
                    "a duration from 0 to {most} {unit} such as \"500ms\", \"30s\", \"5m\", \"2h\" or a number of seconds"
                )
            }
            Self::Cpus { least, most } => {
                let cpus = |thousandths: &u64| *thousandths as f64 / 1000.0;
                write!(f, "0, or a number from {} to {} such as 2 or 1.5", cpus(least), cpus(most))
            }
            Self::Days { most } => write!(f, "a whole number of days from 0 to {most}"),
            Self::Word(words) => write!(f, "one of {}", words.join(", ")),
            Self::Flag => f.write_str("true or false"),
            Self::Program => f.write_str("the path or name of a program"),
            Self::Line => f.write_str("one line of text; empty = none"),
            Self::Lines => f.write_str("a list of strings; in a variable, one per line"),
            Self::Patterns => f.write_str(
                "a list of regular expressions that do not match the empty string; in a variable, one per line",
            ),
        }
    }
}

impl Value {
    /// Returns the number. [`Accepts`] passes a setting only values of its type.
    pub(crate) const fn number(&self) -> u64 {
        match self {
            Self::Number(number) => *number,
            Self::Flag(_) | Self::Text(_) | Self::List(_) => 0,
        }
    }

    /// Returns a small number's value.
    pub(crate) fn small(&self) -> u32 {
        u32::try_from(self.number()).unwrap_or(u32::MAX)
    }

    /// Returns whether it is `true`.
    pub(crate) fn is_on(&self) -> bool {
        *self == Self::Flag(true)
    }

    /// Returns a text's value.
    pub(crate) fn as_text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Number(_) | Self::Flag(_) | Self::List(_) => "",
        }
    }

    /// Returns a list's items.
    pub(crate) fn items(&self) -> &[String] {
        match self {
            Self::List(items) => items,
            Self::Number(_) | Self::Flag(_) | Self::Text(_) => &[],
        }
    }
}
