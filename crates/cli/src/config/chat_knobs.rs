//! The settings of chats and of what has the whole screen, and of hosts that tell their agents themselves.

use super::accepts::Accepts;
use super::knob::{InProject, Knob, knob};

pub(super) const TOOLS_NOTICES: Knob = knob!(
    "tools.notices",
    Accepts::Flag,
    InProject::Nothing,
    tools.notices,
    "whether tool replies begin with undelivered notifications; turn it off if the host delivers them"
);

pub(super) const CHAT_AUTO_WAKE: Knob = knob!(
    "chat.auto_wake",
    Accepts::Flag,
    InProject::Nothing,
    chat.auto_wake,
    "whether mw chat delivers notifications to an idle agent at once; otherwise with your next message"
);

pub(super) const THEME: Knob = knob!(
    "theme",
    Accepts::Word(&["auto", "dark", "light", "16", "none"]),
    InProject::Nothing,
    theme,
    "colours of mw top and mw chat: auto (detected from the terminal), dark, light, 16 or none; NO_COLOR overrides it"
);

pub(super) const CHAT_LAYOUT: Knob = knob!(
    "chat.layout",
    Accepts::Word(&["auto", "plain", "boxed", "table"]),
    InProject::Nothing,
    chat.layout,
    "how mw chat draws tasks: plain, boxed, table, or auto (the layout of the profile)"
);
