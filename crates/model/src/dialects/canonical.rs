//! The dialect of meanwhile itself: it has a word for every state.

use super::DialectFacts;
use crate::tool::{Tool, ToolClass};

pub(super) static FACTS: DialectFacts = DialectFacts {
    name: "canonical",
    profile: "neutral",
    tools: &[
        Tool::new("shell", ToolClass::Starts),
        Tool::new("task_output", ToolClass::Reads),
        Tool::new("task_wait", ToolClass::Reads),
        Tool::new("task_list", ToolClass::Reads),
        Tool::new("task_stop", ToolClass::Kills),
        Tool::new("task_input", ToolClass::Types),
        Tool::new("task_clear", ToolClass::Clears),
        Tool::new("agent", ToolClass::Delegates),
        Tool::new("task_resume", ToolClass::Delegates),
    ],
    words: &[
        "pending",
        "running",
        "resumed",
        "cancelling",
        "completed",
        "failed",
        "cancelled",
        "timed_out",
        "lost",
    ],
    ..DialectFacts::DEFAULT
};
