//! What a dialect offers to models and chats.

use meanwhile::Task;
use mw_desk::text::with_hint;
use mw_model::{CommandSpec, RawText};
use serde_json::{Map, Value, json};

use super::{Dialect, background_task, canonical, co_cli, mycode, opta, zidane};
use crate::call::{CallContext, CallRefusal, Reply, ToolDefinition, next_step};
use crate::screens::Layout;

/// The tools of a dialect, and its properties for models and chats.
pub struct DialectTools {
    /// The tools.
    pub definitions: &'static [ToolDefinition],
    /// Creates the reply to a refused call from the refusal and the arguments.
    pub refuse: fn(&CallRefusal, &Map<String, Value>, &CallContext<'_>) -> Reply,
    pub(super) refuse_unopened: fn(&CallRefusal) -> Reply,
    /// Parses a command as the dialect's source does: as words that are executed without a shell, or as a script for
    /// the given shell. Fails if words are expected and there are none, or a quote is not closed.
    pub command: fn(&str, &RawText) -> Result<CommandSpec, CallRefusal>,
    /// Whether the replies of the dialect's source are objects. Otherwise they are lines of text.
    pub replies_with_objects: bool,
    /// The instructions for models: how to start, show and end background tasks.
    pub instructions: &'static str,
    /// The last line of a task list, which explains how to see the output of a task.
    pub list_hint: &'static str,
    /// The default layout of task lists in a chat.
    pub layout: Layout,
}

impl DialectTools {
    /// The properties that most dialects share.
    pub(super) const DEFAULT: Self = Self {
        definitions: &[],
        refuse: |refusal, _, _| failure(refusal.to_string()),
        refuse_unopened: |refusal| failure(refusal.to_string()),
        command: |text, shell| Ok(CommandSpec::Shell { program: shell.clone(), script: text.into() }),
        replies_with_objects: false,
        instructions: "",
        list_hint: "Use /status ID to get task output.",
        layout: Layout::Plain,
    };

    /// Returns the tools of a dialect.
    #[must_use]
    pub const fn of(dialect: Dialect) -> &'static Self {
        match dialect {
            Dialect::Canonical => &canonical::TOOLS,
            Dialect::Zidane => &zidane::TOOLS,
            Dialect::Mycode => &mycode::TOOLS,
            Dialect::BackgroundTask => &background_task::TOOLS,
            Dialect::Opta => &opta::TOOLS,
            Dialect::CoCli => &co_cli::TOOLS,
        }
    }

    /// Creates the reply to a call without a usable home directory.
    #[must_use]
    pub fn refuse_unopened(&self, refusal: &CallRefusal) -> Reply {
        let mut reply = (self.refuse_unopened)(refusal);
        if let CallRefusal::Engine(error) = refusal {
            reply.text = with_hint(&reply.text, &next_step(error));
        }
        reply
    }
}

/// Returns a dialect's word for the state of a task.
pub(crate) fn state(task: &Task, dialect: Dialect) -> &'static str {
    dialect.word(task.status, task.cause_value())
}

/// Creates a refusal with this text.
pub(super) fn failure(text: String) -> Reply {
    let data = json!({"error": text});
    Reply::failure(text, data)
}
