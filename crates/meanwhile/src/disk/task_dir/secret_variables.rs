//! The secret variables of an environment. A list of tasks reads many environments, and skips the values of all others.

use std::fmt;

use mw_model::{EnvVar, RawText, is_secret_name};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The variables of a stored environment whose names are those of secrets.
pub(super) struct SecretVariables(pub(super) Vec<EnvVar>);

impl<'de> Deserialize<'de> for SecretVariables {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(AllVariables)
    }
}

struct AllVariables;

impl<'de> Visitor<'de> for AllVariables {
    type Value = SecretVariables;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of variables")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<SecretVariables, A::Error> {
        let mut secret = Vec::new();
        while let Some(Variable(variable)) = seq.next_element()? {
            secret.extend(variable);
        }
        Ok(SecretVariables(secret))
    }
}

/// A variable if its name is that of a secret.
struct Variable(Option<EnvVar>);

impl<'de> Deserialize<'de> for Variable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OneVariable)
    }
}

#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Key {
    Name,
    Value,
    #[serde(other)]
    Other,
}

fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(drop)
}

struct OneVariable;

impl<'de> Visitor<'de> for OneVariable {
    type Value = Variable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a variable")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Variable, A::Error> {
        let (mut name, mut value) = (None, None);
        while let Some(key) = map.next_key()? {
            match (key, &name) {
                (Key::Name, _) => name = Some(map.next_value::<RawText>()?),
                (Key::Value, Some(name)) if !is_secret_name(name.as_bytes()) => skip(&mut map)?,
                (Key::Value, _) => value = Some(map.next_value::<RawText>()?),
                (Key::Other, _) => skip(&mut map)?,
            }
        }
        let variable = name.zip(value).map(|(name, value)| EnvVar { name, value });
        Ok(Variable(variable.filter(|variable| is_secret_name(variable.name.as_bytes()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_with_secret_names_are_kept_in_any_order_and_form() {
        let text = r#"[{"name":"PATH","value":"/bin"},{"value":"abc","name":"API_KEY","later":[1]},
            {"name":"PASSWORD","value":{"hex":"ff"}},{"name":{"hex":"ff"},"value":"x"}]"#;
        let secret = serde_json::from_str::<SecretVariables>(text).unwrap().0;
        let all: Vec<_> = secret.iter().map(|var| (var.name.as_bytes(), var.value.as_bytes())).collect();
        assert_eq!(all, [(&b"API_KEY"[..], &b"abc"[..]), (b"PASSWORD", b"\xff")]);
        assert!(serde_json::from_str::<SecretVariables>(r#"[{"name":"A"}, 7]"#).is_err());
    }
}
