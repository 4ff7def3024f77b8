//! The dialects: five from the seeds and our own.
//!
//! Each file contains the tools of one dialect, with their names, parameters, defaults and replies, based on the same
//! operations. No dialect has state.
//!
//! `mw_model::Dialect` describes the same dialects to the crates below: the names of tools and tasks, and the words for
//! states.

mod background_task;
pub mod canonical;
mod co_cli;
mod mycode;
mod opta;
mod zidane;

use meanwhile::Task;
use mw_model::{CommandSpec, RawText};
use serde_json::{Map, Value, json};

pub use mw_model::Dialect;

use crate::call::{CallContext, Refusal, Reply, ToolDefinition, next_step};
use crate::screens::Layout;

/// The properties of a dialect for models and chats.
pub struct Description {
    definitions: &'static [ToolDefinition],
    /// Creates the reply to a refused call.
    refuse: fn(&Refusal, &Map<String, Value>, &CallContext<'_>) -> Reply,
    /// Creates the reply to a call that was refused before a home directory was opened.
    refuse_unopened: fn(&Refusal) -> Reply,
    /// Parses a command.
    command: fn(&str, &RawText) -> Result<CommandSpec, Refusal>,
    /// Whether the replies of the dialect's source are objects. Otherwise they are lines of text.
    replies_with_objects: bool,
    /// The instructions for models about background tasks.
    instructions: &'static str,
    /// The last line of a task list.
    list_hint: &'static str,
    /// The default layout of task lists in a chat.
    layout: Layout,
}

impl Description {
    /// The properties that most dialects share.
    const DEFAULT: Self = Self {
        definitions: &[],
        refuse: |refusal, _, _| failure(refusal.to_string()),
        refuse_unopened: |refusal| failure(refusal.to_string()),
        command: |text, shell| Ok(CommandSpec::Shell { program: shell.clone(), script: text.into() }),
        replies_with_objects: false,
        instructions: "",
        list_hint: "Use /status ID to get task output.",
        layout: Layout::Plain,
    };
}

/// The behaviour of a dialect for models and chats.
pub trait DialectTools: Copy {
    /// Returns the properties of the dialect.
    fn description(self) -> &'static Description;

    /// Returns the dialect's word for the state of a task. All dialects except zidane have one for every state.
    fn state(self, task: &Task) -> &'static str;

    /// Returns the tools of the dialect.
    fn definitions(self) -> &'static [ToolDefinition] {
        self.description().definitions
    }

    /// Creates the reply to a refused call. `given` contains the arguments.
    fn refuse(self, refusal: &Refusal, given: &Map<String, Value>, cx: &CallContext<'_>) -> Reply {
        (self.description().refuse)(refusal, given, cx)
    }

    /// Creates the reply to a call without a usable home directory.
    fn refuse_unopened(self, refusal: &Refusal) -> Reply {
        let mut reply = (self.description().refuse_unopened)(refusal);
        if let Refusal::Engine(error) = refusal {
            reply.text = format!("{}. {}", reply.text.trim_end_matches('.'), next_step(error));
        }
        reply
    }

    /// Parses a command as the dialect's source does: as words that are executed without a shell, or as a script for
    /// `shell`.
    ///
    /// # Errors
    /// Fails if words are expected and there are none, or a quote is not closed.
    fn command(self, text: &str, shell: &RawText) -> Result<CommandSpec, Refusal> {
        (self.description().command)(text, shell)
    }

    /// Returns whether the replies of the dialect's source are objects. Otherwise they are lines of text.
    fn replies_with_objects(self) -> bool {
        self.description().replies_with_objects
    }

    /// Returns the instructions for models: how to start, show and end background tasks.
    fn instructions(self) -> &'static str {
        self.description().instructions
    }

    /// Returns the last line of a task list, which explains how to see the output of a task.
    fn list_hint(self) -> &'static str {
        self.description().list_hint
    }

    /// Returns the default layout of task lists in a chat.
    fn layout(self) -> Layout {
        self.description().layout
    }
}

impl DialectTools for Dialect {
    fn description(self) -> &'static Description {
        match self {
            Self::Canonical => &canonical::DESCRIPTION,
            Self::Zidane => &zidane::DESCRIPTION,
            Self::Mycode => &mycode::DESCRIPTION,
            Self::BackgroundTask => &background_task::DESCRIPTION,
            Self::Opta => &opta::DESCRIPTION,
            Self::CoCli => &co_cli::DESCRIPTION,
        }
    }

    fn state(self, task: &Task) -> &'static str {
        self.word(task.status, task.cause_value()).unwrap_or("running")
    }
}

/// Creates a refusal with this text.
fn failure(text: String) -> Reply {
    let data = json!({"error": text});
    Reply::failure(text, data)
}
