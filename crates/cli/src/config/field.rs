//! How the fields of [`super::Config`] are read and shown: one way for each type.

use std::time::Duration;

use meanwhile::policy::{Dialect, Mode};
use meanwhile::settings::{AtCapacity, SecretPattern};
use mw_tools::call::SessionEnd;

use super::accepts::SettingValue;
use super::profile::{self, Profile};

/// A field that holds the value of a setting. [`super::accepts::Accepts`] passes it only values of its type.
pub(super) trait Field {
    /// Shows it.
    fn value(&self) -> SettingValue;
    /// Takes a value.
    fn take(&mut self, value: &SettingValue);
}

macro_rules! fields {
    ($($type:ty: |$field:ident| $shown:expr, |$value:ident| $taken:expr;)+) => {$(
        impl Field for $type {
            fn value(&self) -> SettingValue {
                let $field = self;
                $shown
            }

            fn take(&mut self, $value: &SettingValue) {
                *self = $taken;
            }
        }
    )+};
}

fields! {
    u64: |number| SettingValue::Number(*number), |value| value.number();
    u32: |number| SettingValue::Number((*number).into()), |value| value.number().try_into().unwrap_or(u32::MAX);
    // 0 = no limit.
    Option<u64>: |limit| SettingValue::Number(limit.unwrap_or(0)), |value| Some(value.number()).filter(|limit| *limit > 0);
    Duration: |time| SettingValue::Number(meanwhile::engine::model::millis(*time)), |value| Self::from_millis(value.number());
    bool: |flag| SettingValue::Flag(*flag), |value| value.is_on();
    String: |text| SettingValue::Text(text.clone()), |value| value.as_text().to_owned();
    // Empty = none.
    Option<String>: |text| SettingValue::Text(text.clone().unwrap_or_default()),
        |value| Some(value.as_text().to_owned()).filter(|text| !text.is_empty());
    Vec<String>: |items| SettingValue::List(items.clone()), |value| value.items().to_vec();
    Vec<SecretPattern>: |items| SettingValue::List(items.iter().map(|item| item.as_str().to_owned()).collect()),
        |value| value.items().iter().filter_map(|item| SecretPattern::new(item).ok()).collect();
    AtCapacity: |choice| SettingValue::Text(match choice { Self::Queue => "queue", Self::Reject => "reject" }.to_owned()),
        |value| at_capacity(value.as_text()).unwrap_or_default();
    SessionEnd: |end| SettingValue::Text(match end { Self::Keep => "keep", Self::Kill => "kill" }.to_owned()),
        |value| if value.as_text() == "kill" { Self::Kill } else { Self::Keep };
    Mode: |mode| SettingValue::Text(mode.name().to_owned()), |value| Self::named(value.as_text()).unwrap_or_default();
    &'static Profile: |profile| SettingValue::Text(profile.name().to_owned()),
        |value| profile::of(Dialect::of_profile(value.as_text()).unwrap_or_default());
}

/// Reads what to do when no slot is free.
pub(crate) fn at_capacity(text: &str) -> Result<AtCapacity, String> {
    match text {
        "queue" => Ok(AtCapacity::Queue),
        "reject" => Ok(AtCapacity::Reject),
        _ => Err(format!("{text:?} is neither queue nor reject")),
    }
}
