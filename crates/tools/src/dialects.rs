//! The dialects: five from the seeds and our own. Each file has the tools of one dialect, with their names, parameters,
//! defaults and replies, over the same operations. No dialect has state.
//!
//! `mw_model::Dialect` describes the same dialects to the crates below: names of tools and tasks, words for states.

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

/// How a dialect serves models and chats.
pub struct Description {
    definitions: &'static [ToolDefinition],
    /// Makes the reply for a refused call.
    refuse: fn(&Refusal, &Map<String, Value>, &CallContext<'_>) -> Reply,
    /// The same before a home was opened.
    refuse_unopened: fn(&Refusal) -> Reply,
    /// Reads a command.
    command: fn(&str, &RawText) -> Result<CommandSpec, Refusal>,
    /// Whether the replies of its source are objects, and not lines of text.
    replies_with_objects: bool,
    /// The instructions for models about background tasks.
    instructions: &'static str,
    /// The last line of a task list.
    list_hint: &'static str,
    /// How a chat draws task lists by default.
    layout: Layout,
}

/// What a dialect knows about models and chats.
pub trait Speaks: Copy {
    /// Returns its description.
    fn description(self) -> &'static Description;

    /// Returns its word for the state of a task. All but zidane have one for every state.
    fn state(self, task: &Task) -> &'static str;

    /// Returns its tools.
    fn definitions(self) -> &'static [ToolDefinition] {
        self.description().definitions
    }

    /// Makes the reply for a refused call; `given` are the arguments.
    fn refuse(self, refusal: &Refusal, given: &Map<String, Value>, cx: &CallContext<'_>) -> Reply {
        (self.description().refuse)(refusal, given, cx)
    }

    /// Makes the reply for a call without a usable home.
    fn refuse_unopened(self, refusal: &Refusal) -> Reply {
        let mut reply = (self.description().refuse_unopened)(refusal);
        if let Refusal::Engine(error) = refusal {
            reply.text = format!("{}. {}", reply.text.trim_end_matches('.'), next_step(error));
        }
        reply
    }

    /// Reads a command as its source does: words that are executed without a shell, or a script for this one.
    ///
    /// # Errors
    /// When words are wanted and a quote is left open, or there is none.
    fn command(self, text: &str, shell: &RawText) -> Result<CommandSpec, Refusal> {
        (self.description().command)(text, shell)
    }

    /// Returns whether the replies of its source are objects, and not lines of text.
    fn replies_with_objects(self) -> bool {
        self.description().replies_with_objects
    }

    /// Returns the instructions for models: how to start, show and end background tasks.
    fn instructions(self) -> &'static str {
        self.description().instructions
    }

    /// Returns the last line of a task list: how to see the output of a task.
    fn list_hint(self) -> &'static str {
        self.description().list_hint
    }

    /// Returns how a chat draws task lists by default.
    fn layout(self) -> Layout {
        self.description().layout
    }
}

impl Speaks for Dialect {
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

/// The last line of a task list in a chat.
const STATUS_HINT: &str = "Use /status ID to get task output.";

/// Makes a script for the shell of a command.
#[expect(clippy::unnecessary_wraps, reason = "other dialects refuse commands")]
fn script(text: &str, shell: &RawText) -> Result<CommandSpec, Refusal> {
    Ok(CommandSpec::Shell { program: shell.clone(), script: text.into() })
}

/// Refuses with the error as text.
fn refuse_plainly(refusal: &Refusal) -> Reply {
    let text = refusal.to_string();
    Reply::failure(text.clone(), json!({"error": text}))
}
