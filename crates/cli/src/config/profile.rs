//! Profiles: the defaults and the names of settings that go with each dialect.

use meanwhile::policy::Dialect;

use super::accepts::Accepts;
use super::settings::{CAP, MAX_RUNNING, STALL, STREAM_BYTES};

/// The defaults and names of one dialect.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) dialect: Dialect,
    /// The home of its tasks below the user's directory, if not the usual one.
    pub(super) root: Option<&'static str>,
    /// Defaults that differ from the neutral ones: setting and value, written as in a variable.
    pub(super) values: &'static [(&'static str, &'static str)],
    /// Its names for settings.
    pub(super) aliases: &'static [Alias],
}

/// A name that a profile has for a setting.
#[derive(Debug)]
pub(crate) struct Alias {
    /// The name in the user file, with its section if it has one.
    pub(super) name: &'static str,
    /// The variable, if there is one.
    pub(super) variable: Option<&'static str>,
    /// The setting.
    pub(super) setting: &'static str,
    /// What it accepts under this name, with the range and the unit of the profile.
    pub(super) accepts: Accepts,
}

/// The names of all profiles.
pub(super) const NAMES: [&str; Dialect::ALL.len()] = {
    let mut names = [""; Dialect::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Dialect::ALL[at].profile();
        at += 1;
    }
    names
};

/// The profile of each dialect.
pub(super) static PROFILES: [Profile; Dialect::ALL.len()] = [
    Profile { dialect: Dialect::Canonical, root: None, values: &[], aliases: &[] },
    Profile {
        dialect: Dialect::Zidane,
        root: None,
        // Its tasks never outlive their host.
        values: &[("session.end", "kill")],
        aliases: &[
            alias("behavior.maxBackgroundTasks", "queue.max_running", Accepts::Count(1..=MAX_RUNNING)),
            alias("behavior.backgroundOutputCap", "output.cap", CAP),
            alias("behavior.backgroundStallWatchdogMs", "stall.ms", STALL),
            alias("behavior.disableBackgroundTasks", "tools.no_background", Accepts::Flag),
        ],
    },
    Profile {
        dialect: Dialect::Mycode,
        root: Some(".mycode"),
        values: &[("queue.max_running", "10"), ("run.shell", "bash"), ("retention.max_age", "24h")],
        aliases: &[
            alias("maxConcurrentTasks", "queue.max_running", Accepts::Count(1..=MAX_RUNNING)),
            alias("maxOutputSize", "output.cap", CAP),
            alias("taskRetention", "retention.max_age", Accepts::Milliseconds(0..=3650 * 86_400_000)),
        ],
    },
    // It keeps tasks until they are cleared or their session is deleted.
    Profile {
        dialect: Dialect::BackgroundTask,
        root: None,
        values: &[("retention.max_age", "0")],
        aliases: &[],
    },
    Profile {
        dialect: Dialect::Opta,
        root: None,
        values: &[
            ("queue.max_running", "5"),
            ("queue.at_capacity", "reject"),
            ("run.timeout", "5m"),
            ("session.end", "kill"),
        ],
        aliases: &[
            alias("background.maxConcurrent", "queue.max_running", Accepts::Count(1..=20)),
            alias("background.defaultTimeout", "run.timeout", Accepts::Milliseconds(0..=31_536_000_000)),
            alias("background.maxBufferSize", "tools.stream_bytes", STREAM_BYTES),
            alias("background.killOnSessionEnd", "session.kill_tasks", Accepts::Flag),
        ],
    },
    Profile {
        dialect: Dialect::CoCli,
        root: Some(".co-cli"),
        values: &[("queue.max_running", "5"), ("output.log_header", "true")],
        aliases: &[
            Alias {
                variable: Some("CO_BACKGROUND_MAX_CONCURRENT"),
                ..alias("background_max_concurrent", "queue.max_running", Accepts::Count(1..=MAX_RUNNING))
            },
            Alias {
                variable: Some("CO_BACKGROUND_TASK_RETENTION_DAYS"),
                ..alias("background_task_retention_days", "retention.max_age", Accepts::Days(3650))
            },
            Alias {
                variable: Some("CO_BACKGROUND_AUTO_CLEANUP"),
                ..alias("background_auto_cleanup", "retention.automatic", Accepts::Flag)
            },
        ],
    },
];

const fn alias(name: &'static str, setting: &'static str, accepts: Accepts) -> Alias {
    Alias { name, variable: None, setting, accepts }
}

/// Returns the profile of a dialect.
pub(super) fn of(dialect: Dialect) -> &'static Profile {
    PROFILES.iter().find(|profile| profile.dialect == dialect).unwrap_or(&PROFILES[0])
}

/// Returns the profile that has this name for a setting, and the setting.
pub(super) fn knows(name: &str) -> Option<(&'static Profile, &'static Alias)> {
    PROFILES.iter().find_map(|profile| Some((profile, profile.alias(name)?)))
}

impl Profile {
    /// Returns its name.
    pub(super) const fn name(&self) -> &'static str {
        self.dialect.profile()
    }

    /// Returns the setting that has this name in the profile.
    pub(super) fn alias(&'static self, name: &str) -> Option<&'static Alias> {
        self.aliases.iter().find(|alias| alias.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::settings::find;

    #[test]
    fn every_dialect_has_its_profile() {
        assert!(Dialect::ALL.into_iter().all(|dialect| of(dialect).dialect == dialect));
    }

    #[test]
    fn every_figure_is_one_that_its_setting_accepts() {
        for (name, text) in PROFILES.iter().flat_map(|profile| profile.values) {
            let setting = find(name).unwrap();
            assert!(setting.accepts.read_text(text).is_some(), "{name} = {text}");
        }
    }

    #[test]
    fn every_alias_stands_for_a_setting_and_for_none_by_its_own_name() {
        for alias in PROFILES.iter().flat_map(|profile| profile.aliases) {
            assert!(find(alias.setting).is_some(), "{}", alias.name);
            assert!(find(alias.name).is_none(), "{}", alias.name);
        }
    }
}
