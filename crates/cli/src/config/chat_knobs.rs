//! The settings of chats and of what has the whole screen, and of hosts that tell their agents themselves.

use super::accepts::Accepts;
use super::knob::{InProject, Knob, knob};

pub(super) const TOOLS_NOTICES: Knob = knob!(
    "tools.notices",
    Accepts::Flag,
    InProject::Nothing,
    tools.notices,
    "whether replies of tools begin with what the agent has not been told; off where its host tells it"
);

pub(super) const CHAT_AUTO_WAKE: Knob = knob!(
    "chat.auto_wake",
    Accepts::Flag,
    InProject::Nothing,
    chat.auto_wake,
    "whether mw chat tells an idle agent at once what has ended; else with what you say next"
);

pub(super) const THEME: Knob = knob!(
    "theme",
    Accepts::Word(&["auto", "dark", "light", "16", "none"]),
    InProject::Nothing,
    theme,
    "colours of mw top and mw chat: auto (as the terminal says), dark, light, 16 or none; NO_COLOR counts more"
);

pub(super) const CHAT_LAYOUT: Knob = knob!(
    "chat.layout",
    Accepts::Word(&["auto", "plain", "boxed", "table"]),
    InProject::Nothing,
    chat.layout,
    "how mw chat draws tasks: plain, boxed, table, or auto (as the profile has it)"
);
