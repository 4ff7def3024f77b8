//! One setting.

use super::accepts::{Accepts, Value};
use super::load::Config;

/// One setting: its names, its meaning, what it accepts, and the field that holds its value.
pub(crate) struct Setting {
    /// `section.key` in a file.
    pub(crate) name: &'static str,
    /// The variable that overrides it: `MEANWHILE_SECTION_KEY`.
    pub(super) variable: &'static str,
    pub(crate) help: &'static str,
    pub(crate) accepts: Accepts,
    /// What a project file may do to it.
    pub(super) in_project: InProject,
    pub(super) get: fn(&Config) -> Value,
    pub(super) set: fn(&mut Config, &Value),
}

/// What a project file may do to a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InProject {
    /// Nothing: no value is stricter than another, or the choice is the user's alone.
    Nothing,
    /// Make it smaller.
    Lower,
    /// Make it smaller; 0 stands for no limit.
    LowerNotZero,
    /// Choose this word.
    Choose(&'static str),
    /// Choose a word of a higher rank.
    Rank(&'static [(&'static str, u8)]),
    /// Turn it on.
    TurnOn,
}

impl InProject {
    /// Returns whether a value is stricter than the current one.
    pub(super) fn is_stricter(self, asked: &Value, present: &Value) -> bool {
        match self {
            Self::Nothing => false,
            Self::Lower => asked.number() < present.number(),
            Self::LowerNotZero => {
                asked.number() != 0 && (present.number() == 0 || asked.number() < present.number())
            }
            Self::Choose(word) => asked.as_text() == word && present.as_text() != word,
            Self::Rank(ranks) => {
                let rank = |value: &Value| {
                    ranks.iter().find(|(word, _)| *word == value.as_text()).map(|(_, rank)| *rank)
                };
                rank(asked) > rank(present)
            }
            Self::TurnOn => asked.is_on() && !present.is_on(),
        }
    }

    /// Describes it for people.
    pub(crate) fn rule(self) -> String {
        match self {
            Self::Nothing => "not in a project file".to_owned(),
            Self::Lower | Self::LowerNotZero => "a project file may lower it".to_owned(),
            Self::Choose(word) => format!("a project file may choose {word}"),
            Self::Rank(_) => "a project file may choose a stricter one".to_owned(),
            Self::TurnOn => "a project file may turn it on".to_owned(),
        }
    }
}

impl Setting {
    /// Returns the variable that overrides it.
    pub(crate) const fn variable(&self) -> &'static str {
        self.variable
    }

    /// Returns the value as text.
    pub(crate) fn value(&self, config: &Config) -> String {
        self.accepts.text(&(self.get)(config))
    }

    /// Returns its section and its key; the section may be empty.
    pub(super) fn section_and_key(&self) -> (&'static str, &'static str) {
        self.name.split_once('.').unwrap_or(("", self.name))
    }
}

/// Makes a setting of a field of [`Config`]: its name, what it accepts, what a project file may do, the field, and what
/// it means. The type of the field says how it is read and shown.
macro_rules! setting {
    ($name:literal, $accepts:expr, $in_project:expr, $($field:tt).+, $help:literal) => {
        Setting {
            name: $name,
            variable: {
                const BYTES: [u8; $name.len() + $crate::config::setting::PREFIX.len()] =
                    $crate::config::setting::variable_of($name);
                $crate::config::setting::variable_text(&BYTES)
            },
            help: $help,
            accepts: $accepts,
            in_project: $in_project,
            get: |config| $crate::config::field::Field::value(&config.$($field).+),
            set: |config, value| $crate::config::field::Field::take(&mut config.$($field).+, value),
        }
    };
}
pub(super) use setting;

/// What the variables of all settings begin with.
pub(super) const PREFIX: &str = "MEANWHILE_";

/// Spells the variable of a setting, when this is compiled: nothing is put together when a command starts.
pub(super) const fn variable_of<const LENGTH: usize>(name: &str) -> [u8; LENGTH] {
    let (prefix, name) = (PREFIX.as_bytes(), name.as_bytes());
    let mut bytes = [0; LENGTH];
    let mut at = 0;
    while at < LENGTH {
        bytes[at] = if at < prefix.len() {
            prefix[at]
        } else if name[at - prefix.len()] == b'.' {
            b'_'
        } else {
            name[at - prefix.len()].to_ascii_uppercase()
        };
        at += 1;
    }
    bytes
}

/// Returns it as text; names are ASCII.
pub(super) const fn variable_text(bytes: &'static [u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_the_loosest_where_it_means_no_limit() {
        let number = Value::Number;
        assert!(InProject::LowerNotZero.is_stricter(&number(5), &number(0)));
        assert!(!InProject::LowerNotZero.is_stricter(&number(0), &number(5)));
        assert!(InProject::Lower.is_stricter(&number(0), &number(5)));
        assert!(!InProject::Lower.is_stricter(&number(5), &number(5)));
    }

    #[test]
    fn a_rank_is_left_only_upwards() {
        let word = |word: &str| Value::Text(word.to_owned());
        let rank = InProject::Rank(&[("loose", 0), ("strict", 1), ("other", 1)]);
        assert!(rank.is_stricter(&word("strict"), &word("loose")));
        assert!(!rank.is_stricter(&word("loose"), &word("strict")));
        assert!(!rank.is_stricter(&word("other"), &word("strict")));
    }

    #[test]
    fn a_word_or_a_flag_is_stricter_in_one_direction() {
        let word = |word: &str| Value::Text(word.to_owned());
        let choose = InProject::Choose("reject");
        assert!(choose.is_stricter(&word("reject"), &word("queue")));
        assert!(!choose.is_stricter(&word("queue"), &word("reject")));
        assert!(InProject::TurnOn.is_stricter(&Value::Flag(true), &Value::Flag(false)));
        assert!(!InProject::TurnOn.is_stricter(&Value::Flag(false), &Value::Flag(true)));
        assert!(!InProject::Nothing.is_stricter(&word("reject"), &word("queue")));
    }
}
