//! One setting.

use super::accepts::{Accepts, SettingValue};
use super::load::Config;

/// What the variables of all settings begin with.
pub(super) const PREFIX: &str = "MEANWHILE_";

/// One setting: its names, its meaning, what it accepts, and the field that holds its value.
pub(crate) struct Setting {
    /// `section.key` in a file.
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) accepts: Accepts,
    /// What a project file may do to it.
    pub(super) in_project: InProject,
    pub(super) get: fn(&Config) -> SettingValue,
    pub(super) set: fn(&mut Config, &SettingValue),
}

/// What a project file may do to a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InProject {
    /// Nothing: no value is stricter than another, or the choice is the user's alone.
    Nothing,
    /// Make it smaller.
    Lower,
    /// Make it smaller; 0 means no limit.
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
    pub(super) fn is_stricter(self, asked: &SettingValue, present: &SettingValue) -> bool {
        match self {
            Self::Nothing => false,
            Self::Lower => asked.number() < present.number(),
            Self::LowerNotZero => {
                asked.number() != 0 && (present.number() == 0 || asked.number() < present.number())
            }
            Self::Choose(word) => asked.as_text() == word && present.as_text() != word,
            Self::Rank(ranks) => {
                let rank = |value: &SettingValue| {
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
    /// Returns the variable that overrides it: `MEANWHILE_SECTION_KEY`.
    pub(crate) fn variable(&self) -> String {
        format!("{PREFIX}{}", self.name.replace('.', "_").to_uppercase())
    }

    /// Returns whether a variable overrides it. Every command asks that for every setting, so nothing is put together.
    pub(super) fn has_variable(&self, name: &str) -> bool {
        let spelt = self.name.bytes().map(|byte| if byte == b'.' { b'_' } else { byte.to_ascii_uppercase() });
        name.strip_prefix(PREFIX).is_some_and(|rest| rest.bytes().eq(spelt))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_the_loosest_where_it_means_no_limit() {
        let number = SettingValue::Number;
        assert!(InProject::LowerNotZero.is_stricter(&number(5), &number(0)));
        assert!(!InProject::LowerNotZero.is_stricter(&number(0), &number(5)));
        assert!(InProject::Lower.is_stricter(&number(0), &number(5)));
        assert!(!InProject::Lower.is_stricter(&number(5), &number(5)));
    }

    #[test]
    fn a_rank_is_left_only_upwards() {
        let word = |word: &str| SettingValue::Text(word.to_owned());
        let rank = InProject::Rank(&[("loose", 0), ("strict", 1), ("other", 1)]);
        assert!(rank.is_stricter(&word("strict"), &word("loose")));
        assert!(!rank.is_stricter(&word("loose"), &word("strict")));
        assert!(!rank.is_stricter(&word("other"), &word("strict")));
    }

    #[test]
    fn a_word_or_a_flag_is_stricter_in_one_direction() {
        let word = |word: &str| SettingValue::Text(word.to_owned());
        let choose = InProject::Choose("reject");
        assert!(choose.is_stricter(&word("reject"), &word("queue")));
        assert!(!choose.is_stricter(&word("queue"), &word("reject")));
        assert!(InProject::TurnOn.is_stricter(&SettingValue::Flag(true), &SettingValue::Flag(false)));
        assert!(!InProject::TurnOn.is_stricter(&SettingValue::Flag(false), &SettingValue::Flag(true)));
        assert!(!InProject::Nothing.is_stricter(&word("reject"), &word("queue")));
    }
}
