//! The settings of chats, and of hosts that tell their agents themselves.

use super::accepts::{Accepts, Value};
use super::knob::{InProject, Knob};

pub(super) const TOOLS_NOTICES: Knob = Knob {
    name: "tools.notices",
    variable: "MEANWHILE_TOOLS_NOTICES",
    help: "whether replies of tools begin with what the agent has not been told; off where its host tells it",
    accepts: Accepts::Flag,
    in_project: InProject::Nothing,
    get: |c| Value::Flag(c.tools.notices),
    set: |c, value| c.tools.notices = value.is_on(),
};

pub(super) const CHAT_AUTO_WAKE: Knob = Knob {
    name: "chat.auto_wake",
    variable: "MEANWHILE_CHAT_AUTO_WAKE",
    help: "whether mw chat tells an idle agent at once what has ended; else with what you say next",
    accepts: Accepts::Flag,
    in_project: InProject::Nothing,
    get: |c| Value::Flag(c.chat.auto_wake),
    set: |c, value| c.chat.auto_wake = value.is_on(),
};

pub(super) const CHAT_LAYOUT: Knob = Knob {
    name: "chat.layout",
    variable: "MEANWHILE_CHAT_LAYOUT",
    help: "how mw chat draws tasks: plain, boxed, table, or auto (as the profile has it)",
    accepts: Accepts::Word(&["auto", "plain", "boxed", "table"]),
    in_project: InProject::Nothing,
    get: |c| Value::Text(c.chat.layout.clone()),
    set: |c, value| value.as_text().clone_into(&mut c.chat.layout),
};
