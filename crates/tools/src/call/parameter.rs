//! The parameters of tools: what is shown of them to a model, and how what it sends is read.

use serde_json::{Map, Value, json};

use super::refusal::Refusal;

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether a call without it is refused.
    pub required: bool,
    /// One line for the model.
    pub about: &'static str,
    /// When it is offered.
    pub offered: Offered,
}

/// When a tool or a parameter is offered to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// Always.
    Always,
    /// Only where background work is allowed.
    WithBackground,
}

/// What a parameter holds.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A text.
    Text,
    /// A text that is carried out: nothing else is taken for one, and it says something.
    Command,
    /// Yes or no.
    Flag {
        /// What holds without it.
        default: Option<bool>,
    },
    /// A whole number, shown as `integer`.
    Whole(Range),
    /// The same, shown as `number`.
    Number(Range),
    /// How many milliseconds to wait; without it as long as the setting says.
    Wait {
        /// The longest time.
        most: Option<u64>,
        /// How it is shown: `integer` or `number`.
        shown: &'static str,
    },
    /// One of some words.
    Word {
        /// Which.
        words: &'static [&'static str],
        /// What holds without it.
        default: Option<&'static str>,
    },
    /// A list of texts; a single text is taken as a list of one.
    Texts,
    /// Names with texts, such as an environment.
    Pairs,
}

/// Which numbers are accepted.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The smallest.
    pub least: u64,
    /// The largest.
    pub most: Option<u64>,
    /// What holds without one.
    pub default: Option<u64>,
}

impl Range {
    /// Any number, with this default.
    #[must_use]
    pub const fn any(default: Option<u64>) -> Self {
        Self { least: 0, most: None, default }
    }
}

impl Parameter {
    /// A parameter that every call must have.
    #[must_use]
    pub const fn required(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, required: true, about, offered: Offered::Always }
    }

    /// A parameter that may be left out.
    #[must_use]
    pub const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, required: false, about, offered: Offered::Always }
    }

    /// The same, offered only where background work is allowed.
    #[must_use]
    pub const fn with_background(self) -> Self {
        Self { offered: Offered::WithBackground, ..self }
    }

    /// Returns its JSON schema, where a wait takes so long unless it is given a time.
    #[must_use]
    pub fn schema(&self, wait_ms: u64) -> Value {
        let mut schema = match self.kind {
            Kind::Text | Kind::Command => json!({"type": "string"}),
            Kind::Flag { default } => with_default(json!({"type": "boolean"}), default),
            Kind::Whole(range) => range.schema("integer"),
            Kind::Number(range) => range.schema("number"),
            Kind::Wait { most, shown } => Range { least: 0, most, default: Some(wait_ms) }.schema(shown),
            Kind::Word { words, default } => with_default(json!({"type": "string", "enum": words}), default),
            Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Kind::Pairs => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        };
        if !self.about.is_empty() {
            schema["description"] = self.about.into();
        }
        schema
    }

    /// Reads what a model sent for it. Numbers and flags are also taken from texts, texts from numbers.
    fn read(&self, given: &Value) -> Result<Value, Refusal> {
        let wrong =
            |wanted: &str| Refusal::argument(self.name, &format!("must be {wanted}, not {}", short(given)));
        let in_range = |range: Range| {
            let number = number(given).ok_or_else(|| wrong("a number that is not negative"))?;
            if number < range.least || range.most.is_some_and(|most| number > most) {
                return Err(wrong(&range.to_words()));
            }
            Ok(number.into())
        };
        match self.kind {
            Kind::Text => text(given).map(Value::from).ok_or_else(|| wrong("a text")),
            Kind::Command => match given {
                Value::String(command) if command.trim().is_empty() => {
                    Err(Refusal::argument(self.name, "is empty"))
                }
                Value::String(_) => Ok(given.clone()),
                _ => Err(wrong("a text")),
            },
            Kind::Flag { .. } => match given {
                Value::Bool(_) => Ok(given.clone()),
                Value::String(word) if word.eq_ignore_ascii_case("true") || word == "1" => Ok(true.into()),
                Value::String(word) if word.eq_ignore_ascii_case("false") || word == "0" => Ok(false.into()),
                _ => Err(wrong("true or false")),
            },
            Kind::Whole(range) | Kind::Number(range) => in_range(range),
            Kind::Wait { most, .. } => in_range(Range { least: 0, most, default: None }),
            Kind::Word { words, .. } => {
                let word = given.as_str().unwrap_or_default();
                let found = words.iter().find(|known| known.eq_ignore_ascii_case(word));
                found
                    .map(|known| (*known).into())
                    .ok_or_else(|| wrong(&format!("one of {}", words.join(", "))))
            }
            Kind::Texts => match given {
                Value::Array(items) => {
                    let texts: Option<Vec<_>> = items.iter().map(text).collect();
                    texts.map(Value::from).ok_or_else(|| wrong("a list of texts"))
                }
                // Some models write the list as a text.
                Value::String(list) if list.trim_start().starts_with('[') => {
                    let texts: Result<Vec<String>, _> = serde_json::from_str(list);
                    texts.map(Value::from).map_err(|_| wrong("a list of texts"))
                }
                one => text(one).map(|one| json!([one])).ok_or_else(|| wrong("a list of texts")),
            },
            Kind::Pairs => {
                let pairs = given.as_object().ok_or_else(|| wrong("an object of names and texts"))?;
                let pairs: Option<Map<_, _>> =
                    pairs.iter().map(|(name, value)| Some((name.clone(), text(value)?.into()))).collect();
                pairs.map(Value::from).ok_or_else(|| wrong("an object of names and texts"))
            }
        }
    }
}

impl Range {
    fn schema(self, kind: &str) -> Value {
        let mut schema = with_default(json!({"type": kind}), self.default);
        if self.most.is_some() || self.least > 0 {
            schema["minimum"] = self.least.into();
        }
        if let Some(most) = self.most {
            schema["maximum"] = most.into();
        }
        schema
    }

    fn to_words(self) -> String {
        match self.most {
            Some(most) => format!("a number from {} to {most}", self.least),
            None => format!("a number of at least {}", self.least),
        }
    }
}

fn with_default(mut schema: Value, default: Option<impl Into<Value>>) -> Value {
    if let Some(default) = default {
        schema["default"] = default.into();
    }
    schema
}

fn text(given: &Value) -> Option<String> {
    match given {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn number(given: &Value) -> Option<u64> {
    let float = match given {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    (float.is_finite() && (0.0..9e15).contains(&float)).then_some(float as u64)
}

fn short(given: &Value) -> String {
    const MOST: usize = 40;
    let text = given.to_string();
    if text.chars().count() <= MOST { text } else { text.chars().take(MOST).chain(['…']).collect() }
}

/// What a model sent, read by the parameters of the tool it called. Fields that no parameter names are
/// passed over.
#[derive(Clone, Debug, Default)]
pub struct Arguments(Map<String, Value>);

impl Arguments {
    /// Reads what a model sent.
    ///
    /// # Errors
    /// When something required is missing, or is not what it should be.
    pub fn read(parameters: &[Parameter], given: &Map<String, Value>) -> Result<Self, Refusal> {
        let mut read = Map::new();
        for parameter in parameters {
            match given.get(parameter.name).filter(|value| !value.is_null()) {
                Some(value) => {
                    read.insert(parameter.name.to_owned(), parameter.read(value)?);
                }
                None if parameter.required => return Err(Refusal::argument(parameter.name, "is missing")),
                None => {}
            }
        }
        Ok(Self(read))
    }

    /// Returns a text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// Returns a required text. Empty where there is none, which reading has refused.
    #[must_use]
    pub fn required(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    /// Returns whether a flag is set; absent is not.
    #[must_use]
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name)?.as_bool()
    }

    /// Returns a number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64()
    }

    /// Returns a list of texts.
    #[must_use]
    pub fn texts(&self, name: &str) -> Option<Vec<String>> {
        let items = self.0.get(name)?.as_array()?;
        Some(items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// Returns names with texts.
    #[must_use]
    pub fn pairs(&self, name: &str) -> Vec<(String, String)> {
        let pairs = self.0.get(name).and_then(Value::as_object);
        pairs
            .into_iter()
            .flatten()
            .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: [Parameter; 5] = [
        Parameter::required("task_id", Kind::Text, ""),
        Parameter::optional("block", Kind::Flag { default: None }, ""),
        Parameter::optional("timeout", Kind::Number(Range { least: 0, most: Some(600), default: None }), ""),
        Parameter::optional("ids", Kind::Texts, ""),
        Parameter::optional("stream", Kind::Word { words: &["both", "stderr"], default: None }, ""),
    ];

    fn read(given: &Value) -> Result<Arguments, Refusal> {
        Arguments::read(&PARAMETERS, given.as_object().unwrap())
    }

    #[test]
    fn what_models_really_send_is_understood() {
        let read = read(&json!({
            "task_id": 7, "block": "True", "timeout": "30", "ids": "one", "stream": "STDERR",
            "unknown": {"deep": []}
        }))
        .unwrap();
        assert_eq!(read.text("task_id"), Some("7"));
        assert_eq!(read.flag("block"), Some(true));
        assert_eq!(read.number("timeout"), Some(30));
        assert_eq!(read.texts("ids"), Some(vec!["one".to_owned()]));
        assert_eq!(read.text("stream"), Some("stderr"));
        assert_eq!(read.text("unknown"), None);
    }

    #[test]
    fn null_is_absent() {
        let given = json!({"task_id": "a", "block": null, "timeout": null, "ids": null});
        assert_eq!(read(&given).unwrap().flag("block"), None);
        assert!(read(&json!({"task_id": null})).is_err());
    }

    #[test]
    fn what_cannot_be_meant_is_refused_by_name() {
        for (name, value) in [
            ("timeout", json!(601)),
            ("timeout", json!(-1)),
            ("timeout", json!("soon")),
            ("block", json!("maybe")),
            ("ids", json!({})),
            ("ids", json!([[]])),
            ("stream", json!("stdin")),
            ("task_id", json!([])),
        ] {
            let mut given = json!({"task_id": "a"});
            given[name] = value.clone();
            let refusal = read(&given).unwrap_err();
            assert!(refusal.to_string().contains(name), "{name} {value}: {refusal}");
        }
    }
}
