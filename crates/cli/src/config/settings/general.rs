//! Settings of everything: the profile, the approval mode and the theme.

use crate::config::accepts::Accepts;
use crate::config::profile;
use crate::config::setting::{InProject, Setting, setting};

pub(super) static SETTINGS: [Setting; 3] = [
    setting!(
        "profile",
        Accepts::Word(&profile::NAMES),
        InProject::Nothing,
        profile,
        "the dialect whose defaults and names for settings apply"
    ),
    setting!(
        "mode",
        Accepts::Word(&["safe", "auto", "plan", "ci", "dangerous"]),
        InProject::Rank(&[
            ("dangerous", 0),
            ("auto", 1),
            ("safe", 2),
            // Each of these allows something that the other does not.
            ("plan", 3),
            ("ci", 3),
        ]),
        policy.mode,
        "which commands need approval before they run; see docs/approval.md"
    ),
    setting!(
        "theme",
        Accepts::Word(&["auto", "dark", "light", "16", "none"]),
        InProject::Nothing,
        theme,
        "colours of mw top and mw chat: auto (detected from the terminal), dark, light, 16 or none; NO_COLOR overrides it"
    ),
];
