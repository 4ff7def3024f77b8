//! Five sources and our own set: names, parameters, defaults and replies over the same operations. A dialect
//! holds no state.

mod background_task;
pub(crate) mod canonical;
mod co_cli;
mod mycode;
mod opta;
mod panel;
pub mod screens;
mod text;
mod zidane;

use meanwhile::Task;

pub use mw_model::Dialect;

use crate::tools::{Desk, Refusal, Reply, Tool};

/// What a dialect has to say about the calls of models.
pub(crate) trait Speaks: Copy {
    /// Returns its tools.
    fn tools(self) -> &'static [Tool];

    /// Puts a refusal into its words.
    fn refuse(self, refusal: &Refusal, desk: &Desk<'_>) -> Reply;

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

    fn refuse(self, refusal: &Refusal, desk: &Desk<'_>) -> Reply {
        match self {
            Self::Canonical => canonical::refuse(refusal, desk),
            Self::Zidane => zidane::refuse(refusal, desk),
            Self::Mycode => mycode::refuse(refusal),
            Self::BackgroundTask => background_task::refuse(refusal, desk),
            Self::Opta => opta::refuse(refusal, desk),
            Self::CoCli => co_cli::refuse(refusal),
        }
    }

    fn state(self, task: &Task) -> &'static str {
        self.word(task.status, task.cause_value()).unwrap_or("running")
    }
}
