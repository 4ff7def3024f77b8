//! Profiles: for each design that this one unites, its own figures and its own names for settings.

use super::accepts::Accepts;
use super::knobs::{CAP, MOST_RUNNING, STALL, STREAM_BYTES};

/// The figures and names of one dialect.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) name: &'static str,
    /// Where its tasks live, below the user's directory, if not where those of all others do.
    pub(super) root: Option<&'static str>,
    /// Defaults that differ from the neutral ones: setting and value, written as in a variable.
    pub(super) values: &'static [(&'static str, &'static str)],
    /// Its own names for settings.
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
    pub(super) knob: &'static str,
    /// What it accepts under this name: the range and the unit are the profile's.
    pub(super) accepts: Accepts,
}

/// The names of all profiles, the neutral one first.
pub(super) const NAMES: [&str; 6] = ["neutral", "zidane", "mycode", "background-task", "opta", "co-cli"];

/// The profile of those who choose none.
pub(super) static NEUTRAL: Profile = Profile { name: NAMES[0], root: None, values: &[], aliases: &[] };

/// All others.
pub(super) static OTHERS: [Profile; 5] = [
    Profile {
        name: "zidane",
        root: None,
        // Its tasks never outlive their host.
        values: &[("session.end", "kill")],
        aliases: &[
            alias(
                "behavior.maxBackgroundTasks",
                "queue.max_running",
                Accepts::Count { least: 1, most: MOST_RUNNING },
            ),
            alias("behavior.backgroundOutputCap", "output.cap", CAP),
            alias("behavior.backgroundStallWatchdogMs", "stall.ms", STALL),
            alias("behavior.disableBackgroundTasks", "tools.no_background", Accepts::Flag),
        ],
    },
    Profile {
        name: "mycode",
        root: Some(".mycode"),
        values: &[("queue.max_running", "10"), ("run.shell", "bash"), ("retention.max_age", "24h")],
        aliases: &[
            alias("maxConcurrentTasks", "queue.max_running", Accepts::Count { least: 1, most: MOST_RUNNING }),
            alias("maxOutputSize", "output.cap", CAP),
            alias(
                "taskRetention",
                "retention.max_age",
                Accepts::Milliseconds { least: 0, most: 3650 * 86_400_000 },
            ),
        ],
    },
    // It keeps tasks until they are cleared or their session is deleted.
    Profile { name: "background-task", root: None, values: &[("retention.max_age", "0")], aliases: &[] },
    Profile {
        name: "opta",
        root: None,
        values: &[
            ("queue.max_running", "5"),
            ("queue.at_capacity", "reject"),
            ("run.timeout", "300000ms"),
            ("session.end", "kill"),
        ],
        aliases: &[
            alias("background.maxConcurrent", "queue.max_running", Accepts::Count { least: 1, most: 20 }),
            alias(
                "background.defaultTimeout",
                "run.timeout",
                Accepts::Milliseconds { least: 0, most: 31_536_000_000 },
            ),
            alias("background.maxBufferSize", "tools.stream_bytes", STREAM_BYTES),
            alias("background.killOnSessionEnd", "session.kill_tasks", Accepts::Flag),
        ],
    },
    Profile {
        name: "co-cli",
        root: Some(".co-cli"),
        values: &[("queue.max_running", "5"), ("output.log_header", "true")],
        aliases: &[
            Alias {
                variable: Some("CO_BACKGROUND_MAX_CONCURRENT"),
                ..alias(
                    "background_max_concurrent",
                    "queue.max_running",
                    Accepts::Count { least: 1, most: MOST_RUNNING },
                )
            },
            Alias {
                variable: Some("CO_BACKGROUND_TASK_RETENTION_DAYS"),
                ..alias("background_task_retention_days", "retention.max_age", Accepts::Days { most: 3650 })
            },
            Alias {
                variable: Some("CO_BACKGROUND_AUTO_CLEANUP"),
                ..alias("background_auto_cleanup", "retention.automatic", Accepts::Flag)
            },
        ],
    },
];

const fn alias(name: &'static str, knob: &'static str, accepts: Accepts) -> Alias {
    Alias { name, variable: None, knob, accepts }
}

/// Returns the profile of that name, else the neutral one.
pub(super) fn named(name: &str) -> &'static Profile {
    OTHERS.iter().find(|profile| profile.name == name).unwrap_or(&NEUTRAL)
}

/// Returns the profile that has this name for a setting, and the setting.
pub(super) fn knows(name: &str) -> Option<(&'static Profile, &'static Alias)> {
    OTHERS.iter().find_map(|profile| Some((profile, profile.alias(name)?)))
}

impl Profile {
    /// Returns the setting that this profile calls so.
    pub(super) fn alias(&'static self, name: &str) -> Option<&'static Alias> {
        self.aliases.iter().find(|alias| alias.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::knobs::find;

    #[test]
    fn every_name_has_its_profile() {
        let names: Vec<_> = OTHERS.iter().map(|profile| profile.name).collect();
        assert_eq!(names, NAMES[1..]);
        assert!(NAMES.iter().all(|name| named(name).name == *name));
    }

    #[test]
    fn every_figure_is_one_that_its_setting_accepts() {
        for (name, text) in OTHERS.iter().flat_map(|profile| profile.values) {
            let knob = find(name).unwrap();
            assert!(knob.accepts.read_text(text).is_some(), "{name} = {text}");
        }
    }

    #[test]
    fn every_alias_stands_for_a_setting_and_for_none_by_its_own_name() {
        for alias in OTHERS.iter().flat_map(|profile| profile.aliases) {
            assert!(find(alias.knob).is_some(), "{}", alias.name);
            assert!(find(alias.name).is_none(), "{}", alias.name);
        }
    }
}
