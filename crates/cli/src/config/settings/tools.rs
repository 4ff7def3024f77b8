//! Settings of tool calls and of the chat.

use super::STREAM_BYTES;
use crate::config::accepts::Accepts;
use crate::config::setting::{InProject, Setting, setting};

pub(super) static SETTINGS: [Setting; 8] = [
    setting!(
        "tools.reply_bytes",
        Accepts::Size { least: 256, most: 1 << 20 },
        InProject::Lower,
        tools.reply_bytes,
        "maximum output in one reply to a model, in bytes"
    ),
    setting!(
        "tools.stream_bytes",
        STREAM_BYTES,
        InProject::LowerNotZero,
        tools.stream_bytes,
        "how many of the last bytes of each stream bg_output reads, starting at a line; 0 = all"
    ),
    setting!(
        "tools.longest_call",
        Accepts::Duration { most: 240_000 },
        InProject::Lower,
        tools.longest_call_ms,
        "how long one tool call may block; hosts give up after 300 s"
    ),
    setting!(
        "tools.wait",
        Accepts::Duration { most: 600_000 },
        InProject::Nothing,
        tools.wait_ms,
        "default time that a tool call waits for the end of a task; shown in the schemas"
    ),
    setting!(
        "tools.no_background",
        Accepts::Flag,
        InProject::TurnOn,
        tools.no_background,
        "whether to offer models no background tasks"
    ),
    setting!(
        "tools.notices",
        Accepts::Flag,
        InProject::Nothing,
        tools.notices,
        "whether tool replies begin with undelivered notifications; turn it off if the host delivers them"
    ),
    setting!(
        "chat.auto_wake",
        Accepts::Flag,
        InProject::Nothing,
        chat.auto_wake,
        "whether mw chat delivers notifications to an idle agent at once; otherwise with your next message"
    ),
    setting!(
        "chat.layout",
        Accepts::Word(&["auto", "plain", "boxed", "table"]),
        InProject::Nothing,
        chat.layout,
        "how mw chat draws tasks: plain, boxed, table, or auto (the layout of the profile)"
    ),
];
