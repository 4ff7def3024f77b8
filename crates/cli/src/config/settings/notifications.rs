//! Settings of notifications and hooks.

use super::HOUR_MS;
use crate::config::accepts::Accepts;
use crate::config::setting::{InProject, Setting, setting};

pub(super) static SETTINGS: [Setting; 9] = [
    setting!(
        "hooks.start",
        Accepts::Line,
        InProject::Nothing,
        settings.hooks.start,
        "command to run when a task has started; it gets the event as JSON on standard input"
    ),
    setting!(
        "hooks.exit",
        Accepts::Line,
        InProject::Nothing,
        settings.hooks.exit,
        "command to run when a run has ended"
    ),
    setting!(
        "hooks.stall",
        Accepts::Line,
        InProject::Nothing,
        settings.hooks.stall,
        "command to run when a task is stalled"
    ),
    setting!(
        "hooks.ready",
        Accepts::Line,
        InProject::Nothing,
        settings.hooks.ready,
        "command to run when a task is ready"
    ),
    setting!(
        "hooks.reassign",
        Accepts::Line,
        InProject::Nothing,
        settings.hooks.reassign,
        "command to run when a task is moved to another session"
    ),
    setting!(
        "hooks.webhook",
        Accepts::Line,
        InProject::Nothing,
        settings.hooks.webhook,
        "URL to which every start, end, stall and readiness is posted as JSON"
    ),
    setting!(
        "hooks.desktop",
        Accepts::Flag,
        InProject::Nothing,
        settings.hooks.desktop,
        "whether to show a desktop notification for every end, stall and readiness"
    ),
    setting!(
        "hooks.timeout_ms",
        Accepts::Milliseconds { least: 1, most: HOUR_MS },
        InProject::Nothing,
        settings.hooks.timeout_ms,
        "time limit of one hook"
    ),
    setting!(
        "notices.batch",
        Accepts::Flag,
        InProject::Nothing,
        settings.batch_notices,
        "whether the end of a batch gets a notification, in addition to the ends of its tasks"
    ),
];
