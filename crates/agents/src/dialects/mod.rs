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
mod words;
mod zidane;

use meanwhile::Task;

pub use words::Dialect;

use crate::tools::{Desk, Refusal, Reply, Tool};

impl Dialect {
    /// Returns its tools.
    #[must_use]
    pub const fn tools(self) -> &'static [Tool] {
        match self {
            Self::Canonical => &canonical::TOOLS,
            Self::Zidane => &zidane::TOOLS,
            Self::Mycode => &mycode::TOOLS,
            Self::BackgroundTask => &background_task::TOOLS,
            Self::Opta => &opta::TOOLS,
            Self::CoCli => &co_cli::TOOLS,
        }
    }

    /// Returns the name it has for a task.
    #[must_use]
    pub fn handle(self, task: &Task) -> String {
        match self {
            Self::Canonical | Self::Mycode | Self::BackgroundTask => task.id.to_string(),
            Self::Zidane => text::counted(task),
            Self::Opta => task.id.suffix().to_owned(),
            Self::CoCli => text::dated(task),
        }
    }

    /// Puts a refusal into its words.
    pub(crate) fn refuse(self, refusal: &Refusal, desk: &Desk<'_>) -> Reply {
        match self {
            Self::Canonical => canonical::refuse(refusal, desk),
            Self::Zidane => zidane::refuse(refusal, desk),
            Self::Mycode => mycode::refuse(refusal),
            Self::BackgroundTask => background_task::refuse(refusal, desk),
            Self::Opta => opta::refuse(refusal, desk),
            Self::CoCli => co_cli::refuse(refusal),
        }
    }

    /// Returns its word for the state a task is in. All but zidane have one for every state.
    fn state(self, task: &Task) -> &'static str {
        self.word(task.status, task.cause_value()).unwrap_or("running")
    }
}
