//! Every setting, a file per group of sections.

mod agents;
mod approval;
mod general;
mod notifications;
mod tasks;
mod tools;

use super::accepts::Accepts;
use super::setting::Setting;

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;
/// The maximum of running tasks of a session.
pub(super) const MOST_RUNNING: u64 = 10_000;
/// The size of a log.
pub(super) const CAP: Accepts = Accepts::Size { least: 512, most: 1 << 40 };
/// How much of a stream is read.
pub(super) const STREAM_BYTES: Accepts = Accepts::Size { least: 1024, most: 1 << 40 };
/// The silence before a stall.
pub(super) const STALL: Accepts = Accepts::Milliseconds { least: 0, most: DAY_MS };

/// All groups, in the order of the default file.
static GROUPS: [&[Setting]; 6] = [
    &general::SETTINGS,
    &tasks::SETTINGS,
    &notifications::SETTINGS,
    &tools::SETTINGS,
    &agents::SETTINGS,
    &approval::SETTINGS,
];

/// Returns every setting.
pub(crate) fn settings() -> impl Iterator<Item = &'static Setting> {
    GROUPS.into_iter().flatten()
}

/// Returns the setting of that name.
pub(super) fn find(name: &str) -> Option<&'static Setting> {
    settings().find(|setting| setting.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load::Config;

    #[test]
    fn variables_are_named_after_their_settings() {
        for setting in settings() {
            let name = format!("MEANWHILE_{}", setting.name.to_uppercase().replace('.', "_"));
            assert_eq!(setting.variable, name);
        }
    }

    #[test]
    fn every_default_is_accepted_and_survives_being_set() {
        let mut config = Config::neutral();
        for setting in settings() {
            let before = (setting.get)(&config);
            assert_eq!(setting.accepts.read_text(&setting.accepts.text(&before)), Some(before.clone()));
            (setting.set)(&mut config, &before);
            assert_eq!((setting.get)(&config), before, "{}", setting.name);
        }
    }
}
