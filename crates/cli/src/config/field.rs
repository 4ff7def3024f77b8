//! How the fields of [`super::Config`] are read and shown: one way for each type.

use std::time::Duration;

use meanwhile::policy::{Dialect, Mode};
use meanwhile::{AtCapacity, SecretPattern};

use super::accepts::Value;
use super::profile::{self, Profile};

/// A field that holds the value of a setting. [`super::accepts::Accepts`] passes it only values of its type.
pub(super) trait Field {
    /// Shows it.
    fn value(&self) -> Value;
    /// Takes a value.
    fn take(&mut self, value: &Value);
}

impl Field for u64 {
    fn value(&self) -> Value {
        Value::Number(*self)
    }

    fn take(&mut self, value: &Value) {
        *self = value.number();
    }
}

impl Field for u32 {
    fn value(&self) -> Value {
        Value::Number((*self).into())
    }

    fn take(&mut self, value: &Value) {
        *self = value.small();
    }
}

/// In milliseconds.
impl Field for Duration {
    fn value(&self) -> Value {
        Value::Number(self.as_millis() as u64)
    }

    fn take(&mut self, value: &Value) {
        *self = Self::from_millis(value.number());
    }
}

/// A limit; 0 = none.
impl Field for Option<u64> {
    fn value(&self) -> Value {
        Value::Number(self.unwrap_or(0))
    }

    fn take(&mut self, value: &Value) {
        *self = Some(value.number()).filter(|limit| *limit > 0);
    }
}

impl Field for bool {
    fn value(&self) -> Value {
        Value::Flag(*self)
    }

    fn take(&mut self, value: &Value) {
        *self = value.is_on();
    }
}

impl Field for String {
    fn value(&self) -> Value {
        Value::Text(self.clone())
    }

    fn take(&mut self, value: &Value) {
        value.as_text().clone_into(self);
    }
}

/// A text; empty = none.
impl Field for Option<String> {
    fn value(&self) -> Value {
        Value::Text(self.clone().unwrap_or_default())
    }

    fn take(&mut self, value: &Value) {
        *self = Some(value.as_text().to_owned()).filter(|text| !text.is_empty());
    }
}

impl Field for Vec<String> {
    fn value(&self) -> Value {
        Value::List(self.clone())
    }

    fn take(&mut self, value: &Value) {
        *self = value.items().to_vec();
    }
}

impl Field for Vec<SecretPattern> {
    fn value(&self) -> Value {
        Value::List(self.iter().map(|pattern| pattern.as_str().to_owned()).collect())
    }

    fn take(&mut self, value: &Value) {
        *self = value.items().iter().filter_map(|item| SecretPattern::new(item).ok()).collect();
    }
}

impl Field for AtCapacity {
    fn value(&self) -> Value {
        let word = match self {
            Self::Queue => "queue",
            Self::Reject => "reject",
        };
        Value::Text(word.to_owned())
    }

    fn take(&mut self, value: &Value) {
        *self = at_capacity(value.as_text()).unwrap_or_default();
    }
}

impl Field for Mode {
    fn value(&self) -> Value {
        Value::Text(self.name().to_owned())
    }

    fn take(&mut self, value: &Value) {
        *self = Self::named(value.as_text()).unwrap_or_default();
    }
}

impl Field for &'static Profile {
    fn value(&self) -> Value {
        Value::Text(self.name().to_owned())
    }

    fn take(&mut self, value: &Value) {
        *self = profile::of(Dialect::of_profile(value.as_text()).unwrap_or_default());
    }
}

/// Reads what to do when no slot is free.
pub(crate) fn at_capacity(text: &str) -> Result<AtCapacity, String> {
    match text {
        "queue" => Ok(AtCapacity::Queue),
        "reject" => Ok(AtCapacity::Reject),
        _ => Err(format!("{text:?} is neither queue nor reject")),
    }
}
