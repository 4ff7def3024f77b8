//! What a setting accepts: the one place that reads a value, from a file or from text.

use std::fmt;
use std::ops::RangeInclusive;

use meanwhile::engine::model::{parse_duration_ms, parse_milli_cpus, parse_size};
use meanwhile::settings::SecretPattern;
use toml::Spanned;
use toml::de::DeValue;

const DAY_MS: u64 = 86_400_000;
const HOUR_MS: u64 = 3_600_000;
const MINUTE_MS: u64 = 60_000;
const SECOND_MS: u64 = 1000;

/// A valid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SettingValue {
    Number(u64),
    Flag(bool),
    Text(String),
    List(Vec<String>),
}

/// The type of a value and its range.
#[derive(Clone, Debug)]
pub(crate) enum Accepts {
    /// A whole number.
    Count(RangeInclusive<u64>),
    /// A whole number of milliseconds.
    Milliseconds(RangeInclusive<u64>),
    /// A number of bytes, also with a unit; 0 is accepted below the least.
    Size(RangeInclusive<u64>),
    /// A time with a unit, or a number of seconds, up to this many milliseconds; kept in milliseconds.
    Duration(u64),
    /// A number of processors, also a fraction; kept in thousandths; 0 is accepted below the least.
    Cpus(RangeInclusive<u64>),
    /// A whole number of days, up to this many; kept in milliseconds.
    Days(u64),
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
    pub(crate) fn read_text(&self, text: &str) -> Option<SettingValue> {
        let whole = || text.trim().parse().ok();
        let number = match self {
            Self::Count(range) | Self::Milliseconds(range) => whole().filter(|number| range.contains(number)),
            Self::Size(range) => parse_size(text).ok().filter(|size| *size == 0 || range.contains(size)),
            Self::Cpus(range) => {
                parse_milli_cpus(text).ok().filter(|cpus| *cpus == 0 || range.contains(cpus))
            }
            Self::Duration(most) => parse_duration_ms(text).ok().filter(|time| time <= most),
            Self::Days(most) => whole().filter(|days| days <= most).map(|days| days * DAY_MS),
            Self::Word(words) => return words.contains(&text).then(|| SettingValue::Text(text.to_owned())),
            Self::Flag => return text.parse().ok().map(SettingValue::Flag),
            Self::Program => return (!text.trim().is_empty()).then(|| SettingValue::Text(text.to_owned())),
            Self::Line => {
                let fits = !text.chars().any(char::is_control);
                return fits.then(|| SettingValue::Text(text.trim().to_owned()));
            }
            Self::Lines => return Some(SettingValue::List(text.lines().map(str::to_owned).collect())),
            Self::Patterns => return patterns(text.lines().map(str::to_owned).collect()),
        };
        number.map(SettingValue::Number)
    }

    /// Reads a value from a file; none if it is not accepted, or of another type.
    pub(crate) fn read_toml(&self, value: &DeValue<'_>) -> Option<SettingValue> {
        let items = |items: &[Spanned<DeValue<'_>>]| {
            items.iter().map(|item| Some(item.get_ref().as_str()?.to_owned())).collect::<Option<Vec<_>>>()
        };
        match (self, value) {
            (
                Self::Count(_)
                | Self::Milliseconds(_)
                | Self::Size(_)
                | Self::Duration(_)
                | Self::Cpus(_)
                | Self::Days(_),
                DeValue::Integer(number),
            ) => {
                let number = u64::from_str_radix(number.as_str(), number.radix()).ok()?;
                self.read_text(&number.to_string())
            }
            (
                Self::Size(_)
                | Self::Duration(_)
                | Self::Cpus(_)
                | Self::Word(_)
                | Self::Program
                | Self::Line,
                DeValue::String(text),
            ) => self.read_text(text),
            (Self::Cpus(_), DeValue::Float(number)) => self.read_text(number.as_str()),
            (Self::Flag, DeValue::Boolean(flag)) => Some(SettingValue::Flag(*flag)),
            (Self::Lines, DeValue::Array(array)) => items(array).map(SettingValue::List),
            (Self::Patterns, DeValue::Array(array)) => items(array).and_then(patterns),
            _ => None,
        }
    }

    /// Writes a value in the format of a variable.
    pub(crate) fn text(&self, value: &SettingValue) -> String {
        match value {
            SettingValue::Number(ms @ 1..) if matches!(self, Self::Duration(_)) => in_largest_unit(*ms),
            SettingValue::Number(cpus) if matches!(self, Self::Cpus(_)) => {
                (*cpus as f64 / 1000.0).to_string()
            }
            SettingValue::Number(number) => number.to_string(),
            SettingValue::Flag(flag) => flag.to_string(),
            SettingValue::Text(text) => text.clone(),
            SettingValue::List(items) => items.join("\n"),
        }
    }

    /// Writes a value in the format of a file.
    pub(crate) fn toml(&self, value: &SettingValue) -> String {
        match value {
            SettingValue::Number(1..) if matches!(self, Self::Duration(_)) => {
                format!("{:?}", self.text(value))
            }
            SettingValue::Number(_) | SettingValue::Flag(_) => self.text(value),
            SettingValue::Text(text) => format!("{text:?}"),
            SettingValue::List(items) => {
                let lines: String = items.iter().map(|item| format!("  {item:?},\n")).collect();
                format!("[\n{lines}]")
            }
        }
    }
}

/// Returns a list if every item is a valid pattern.
fn patterns(items: Vec<String>) -> Option<SettingValue> {
    items.iter().all(|item| SecretPattern::new(item).is_ok()).then_some(SettingValue::List(items))
}

impl fmt::Display for Accepts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(range) => write!(f, "a whole number from {} to {}", range.start(), range.end()),
            Self::Milliseconds(range) => {
                write!(f, "a whole number of milliseconds from {} to {}", range.start(), range.end())
            }
            Self::Size(range) => {
                let (least, most) = (range.start(), range.end());
                write!(f, "0, or a size from {least} to {most} bytes such as 4096, \"64KiB\" or \"10MiB\"")
            }
            Self::Duration(most) => {
                let (most, unit) = match *most {
                    most if most < DAY_MS => (most / 60_000, "minutes"),
                    DAY_MS => (24, "hours"),
                    most => (most / DAY_MS, "days"),
                };
                write!(
                    f,
                    "a duration from 0 to {most} {unit} such as \"500ms\", \"30s\", \"5m\", \"2h\" or a number of seconds"
                )
            }
            Self::Cpus(range) => {
                let [least, most] = [range.start(), range.end()].map(|thousandths| *thousandths as f64 / 1000.0);
                write!(f, "0, or a number from {least} to {most} such as 2 or 1.5")
            }
            Self::Days(most) => write!(f, "a whole number of days from 0 to {most}"),
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

/// Writes a duration in the largest unit in which it is a whole number.
fn in_largest_unit(ms: u64) -> String {
    let units = [(DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "m"), (SECOND_MS, "s")];
    let (size, unit) = units.into_iter().find(|(size, _)| ms.is_multiple_of(*size)).unwrap_or((1, "ms"));
    format!("{}{unit}", ms / size)
}

impl SettingValue {
    /// Returns the number. [`Accepts`] passes a setting only values of its type.
    pub(crate) const fn number(&self) -> u64 {
        match self {
            Self::Number(number) => *number,
            Self::Flag(_) | Self::Text(_) | Self::List(_) => 0,
        }
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
