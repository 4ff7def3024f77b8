//! The dialects: five from the seeds and the canonical one. Each has its own names, parameters, defaults and replies
//! over the same operations, and no state.

mod background_task;
pub mod canonical;
mod co_cli;
mod mycode;
mod opta;
mod panel;
pub mod screens;
mod text;
mod zidane;

use meanwhile::Task;
use mw_model::{CommandSpec, RawText};
use serde_json::{Map, Value, json};

pub use mw_model::Dialect;

use crate::call::{CallContext, Refusal, Reply, Tool, next_step};

/// What a dialect has to say about the calls of models.
pub trait Speaks: Copy {
    /// Returns its tools.
    fn tools(self) -> &'static [Tool];

    /// Puts the refusal of a call into its words; `given` is what it was called with.
    fn refuse(self, refusal: &Refusal, given: &Map<String, Value>, cx: &CallContext<'_>) -> Reply;

    /// Puts a refusal into its words that came before there was a home to look at.
    fn refuse_unopened(self, refusal: &Refusal) -> Reply;

    /// Reads a command as its source does: words that are executed without a shell, or a script for this one.
    ///
    /// # Errors
    /// When words are wanted and a quote is left open, or there is none.
    fn command(self, text: &str, shell: &RawText) -> Result<CommandSpec, Refusal>;

    /// Returns whether the replies of its source are objects, and not lines of text.
    fn replies_with_objects(self) -> bool;

    /// Returns its word for the state a task is in. All but zidane have one for every state.
    fn state(self, task: &Task) -> &'static str;
}

impl Speaks for Dialect {
    fn tools(self) -> &'static [Tool] {
        match self {
            Self::Canonical => &canonical::TOOLS,
            Self::Zidane => &zidane::TOOLS,
            Self::Mycode => &mycode::TOOLS,
            Self::BackgroundTask => &background_task::TOOLS,
            Self::Opta => &opta::TOOLS,
            Self::CoCli => &co_cli::TOOLS,
        }
    }

    fn refuse(self, refusal: &Refusal, given: &Map<String, Value>, cx: &CallContext<'_>) -> Reply {
        match self {
            Self::Canonical => canonical::refuse(refusal, cx),
            Self::Zidane => zidane::refuse(refusal, cx),
            Self::Mycode => mycode::refuse(refusal, given),
            Self::BackgroundTask => background_task::refuse(refusal, cx),
            Self::Opta => opta::refuse(refusal, cx),
            Self::CoCli => co_cli::refuse(refusal),
        }
    }

    fn command(self, text: &str, shell: &RawText) -> Result<CommandSpec, Refusal> {
        match self {
            Self::CoCli => {
                let words = co_cli::words(text)?;
                Ok(CommandSpec::Argv(words.into_iter().map(Into::into).collect()))
            }
            Self::Canonical | Self::Zidane | Self::Mycode | Self::BackgroundTask | Self::Opta => {
                Ok(CommandSpec::Shell { program: shell.clone(), script: text.into() })
            }
        }
    }

    fn replies_with_objects(self) -> bool {
        match self {
            Self::Mycode | Self::BackgroundTask | Self::CoCli => true,
            Self::Canonical | Self::Zidane | Self::Opta => false,
        }
    }

    fn refuse_unopened(self, refusal: &Refusal) -> Reply {
        let mut reply = match self {
            Self::Mycode => mycode::refuse(refusal, &Map::new()),
            Self::CoCli => co_cli::refuse(refusal),
            Self::Canonical => {
                let text = refusal.to_string();
                let data = json!({"error": {"code": refusal.code(), "message": text}});
                Reply::failure(text, data)
            }
            Self::Zidane | Self::BackgroundTask | Self::Opta => {
                let text = refusal.to_string();
                Reply::failure(text.clone(), json!({"error": text}))
            }
        };
        if let Refusal::Engine(error) = refusal {
            reply.text = format!("{}. {}", reply.text.trim_end_matches('.'), next_step(error));
        }
        reply
    }

    fn state(self, task: &Task) -> &'static str {
        self.word(task.status, task.cause_value()).unwrap_or("running")
    }
}
