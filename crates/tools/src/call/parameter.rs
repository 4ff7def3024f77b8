//! The parameters of tools: their JSON schema, and how the arguments of a call are read and checked.

use serde_json::{Map, Value, json};

use super::refusal::CallRefusal;

/// A parameter of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name of the parameter.
    pub name: &'static str,
    /// The type of the parameter.
    pub kind: Kind,
    /// Whether a call without the parameter is refused.
    pub required: bool,
    /// A one-line description for the model.
    pub about: &'static str,
    /// The condition under which the parameter is offered.
    pub offered: Offered,
}

/// The condition under which a tool or parameter is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// It is always offered.
    Always,
    /// It is offered only if background tasks are allowed.
    WithBackground,
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A string.
    Text,
    /// A command: a non-empty string. Other types are not converted.
    Command,
    /// A boolean, with the default in the schema.
    Flag(Option<bool>),
    /// A whole number with the schema type `integer`.
    Whole(Range),
    /// A whole number with the schema type `number`.
    Number(Range),
    /// A timeout in milliseconds. The default is a setting.
    Wait {
        /// The maximum.
        most: Option<u64>,
        /// The type in the schema: `integer` or `number`.
        shown: &'static str,
    },
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of strings. A single string is accepted as a list of one.
    Texts,
    /// An object with string values, such as an environment.
    Pairs,
}

/// The accepted range of numbers.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The minimum.
    pub least: u64,
    /// The maximum.
    pub most: Option<u64>,
}

impl Parameter {
    /// Creates a required parameter.
    #[must_use]
    pub const fn required(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, required: true, about, offered: Offered::Always }
    }

    /// Creates an optional parameter.
    #[must_use]
    pub const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, required: false, about, offered: Offered::Always }
    }

    /// Offers the parameter only if background tasks are allowed.
    #[must_use]
    pub const fn with_background(self) -> Self {
        Self { offered: Offered::WithBackground, ..self }
    }

    /// Returns the JSON schema. `wait_ms` is the default timeout of a wait.
    #[must_use]
    pub fn schema(&self, wait_ms: u64) -> Value {
        let mut schema = match self.kind {
            Kind::Text | Kind::Command => json!({"type": "string"}),
            Kind::Flag(None) => json!({"type": "boolean"}),
            Kind::Flag(Some(default)) => json!({"type": "boolean", "default": default}),
            Kind::Whole(range) => range.limit(json!({"type": "integer"})),
            Kind::Number(range) => range.limit(json!({"type": "number"})),
            Kind::Wait { most, shown } => {
                Range { least: 0, most }.limit(json!({"type": shown, "default": wait_ms}))
            }
            Kind::Word(words) => json!({"type": "string", "enum": words}),
            Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Kind::Pairs => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        };
        if !self.about.is_empty() {
            schema["description"] = self.about.into();
        }
        schema
    }

    /// Parses the argument. Strings are converted to numbers and flags, and numbers to strings.
    fn read(&self, given: &Value) -> Result<Value, CallRefusal> {
        let wrong = |wanted: &str| {
            CallRefusal::argument(self.name, &format!("must be {wanted}, not {}", short(given)))
        };
        let in_range = |range: Range| {
            let number = number(given).ok_or_else(|| wrong("a non-negative number"))?;
            if number < range.least || range.most.is_some_and(|most| number > most) {
                return Err(wrong(&range.to_words()));
            }
            Ok(number.into())
        };
        match self.kind {
            Kind::Text => text(given).map(Value::from).ok_or_else(|| wrong("a string")),
            Kind::Command => match given {
                Value::String(command) if command.trim().is_empty() => {
                    Err(CallRefusal::argument(self.name, "is empty"))
                }
                Value::String(_) => Ok(given.clone()),
                _ => Err(wrong("a string")),
            },
            Kind::Flag(_) => match given {
                Value::Bool(_) => Ok(given.clone()),
                Value::String(word) if word.eq_ignore_ascii_case("true") || word == "1" => Ok(true.into()),
                Value::String(word) if word.eq_ignore_ascii_case("false") || word == "0" => Ok(false.into()),
                _ => Err(wrong("true or false")),
            },
            Kind::Whole(range) | Kind::Number(range) => in_range(range),
            Kind::Wait { most, .. } => in_range(Range { least: 0, most }),
            Kind::Word(words) => {
                let word = given.as_str().unwrap_or_default();
                let found = words.iter().find(|known| known.eq_ignore_ascii_case(word));
                found
                    .map(|known| (*known).into())
                    .ok_or_else(|| wrong(&format!("one of {}", words.join(", "))))
            }
            Kind::Texts => match given {
                Value::Array(items) => {
                    let texts: Option<Vec<_>> = items.iter().map(text).collect();
                    texts.map(Value::from).ok_or_else(|| wrong("a list of strings"))
                }
                // Some models send the list as a string.
                Value::String(list) if list.trim_start().starts_with('[') => {
                    let texts: Result<Vec<String>, _> = serde_json::from_str(list);
                    texts.map(Value::from).map_err(|_| wrong("a list of strings"))
                }
                one => text(one).map(|one| json!([one])).ok_or_else(|| wrong("a list of strings")),
            },
            Kind::Pairs => {
                let pairs = given.as_object().ok_or_else(|| wrong("an object with string values"))?;
                let pairs: Option<Map<_, _>> =
                    pairs.iter().map(|(name, value)| Some((name.clone(), text(value)?.into()))).collect();
                pairs.map(Value::from).ok_or_else(|| wrong("an object with string values"))
            }
        }
    }
}

impl Range {
    /// The range without limits.
    pub const ANY: Self = Self { least: 0, most: None };

    /// Adds the limits to the schema of a number.
    fn limit(self, mut schema: Value) -> Value {
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
    const MAX: usize = 40;
    mw_model::clipped(&given.to_string(), MAX)
}

/// The arguments of a call, checked against the parameters of the tool. Unknown fields are ignored.
#[derive(Clone, Debug, Default)]
pub struct Arguments(Map<String, Value>);

impl Arguments {
    /// Parses the arguments.
    ///
    /// # Errors
    /// Fails if a required argument is missing, or one has the wrong type.
    pub fn read(parameters: &[Parameter], given: &Map<String, Value>) -> Result<Self, CallRefusal> {
        let mut read = Map::new();
        for parameter in parameters {
            match given.get(parameter.name).filter(|value| !value.is_null()) {
                Some(value) => {
                    read.insert(parameter.name.to_owned(), parameter.read(value)?);
                }
                None if parameter.required => {
                    return Err(CallRefusal::argument(parameter.name, "is missing"));
                }
                None => {}
            }
        }
        Ok(Self(read))
    }

    /// Returns a string.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// Returns a required string. It may be empty, unless its kind is [`Kind::Command`].
    #[must_use]
    pub fn required(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    /// Returns the value of a flag, if it was given.
    #[must_use]
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name)?.as_bool()
    }

    /// Returns a number.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64()
    }

    /// Returns a list of strings.
    #[must_use]
    pub fn texts(&self, name: &str) -> Option<Vec<String>> {
        let items = self.0.get(name)?.as_array()?;
        Some(items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// Returns an object with string values.
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
        Parameter::optional("block", Kind::Flag(None), ""),
        Parameter::optional("timeout", Kind::Number(Range { least: 0, most: Some(600) }), ""),
        Parameter::optional("ids", Kind::Texts, ""),
        Parameter::optional("stream", Kind::Word(&["both", "stderr"]), ""),
    ];

    fn read(given: &Value) -> Result<Arguments, CallRefusal> {
        Arguments::read(&PARAMETERS, given.as_object().unwrap())
    }

    #[test]
    fn arguments_in_the_forms_that_models_send_are_accepted() {
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
    fn a_null_argument_counts_as_absent() {
        let given = json!({"task_id": "a", "block": null, "timeout": null, "ids": null});
        assert_eq!(read(&given).unwrap().flag("block"), None);
        assert!(read(&json!({"task_id": null})).is_err());
    }

    #[test]
    fn an_invalid_argument_is_refused_by_name() {
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
