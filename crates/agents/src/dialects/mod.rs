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
use mw_model::{News, Status};
use serde_json::json;

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

    /// Tells whether the replies of its source are objects, and not lines of text.
    pub(crate) const fn replies_with_objects(self) -> bool {
        match self {
            Self::Mycode | Self::BackgroundTask | Self::CoCli => true,
            Self::Canonical | Self::Zidane | Self::Opta => false,
        }
    }

    /// Puts a refusal into its words that came before there was a home to look at.
    pub(crate) fn refuse_unopened(self, refusal: &Refusal) -> Reply {
        let mut reply = match self {
            Self::Mycode => mycode::refuse(refusal),
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
            reply.text = format!("{}. {}", reply.text.trim_end_matches('.'), error.hint());
        }
        reply
    }

    /// Returns its word for the state in which news leaves a task.
    pub(crate) fn news_word(self, news: &News) -> &'static str {
        let state = match news {
            _ if self == Self::Canonical => None,
            News::Ended { cause } => self.word(cause.status(), Some(cause)),
            News::Stalled { .. } | News::Ready { .. } => self.word(Status::Running, None),
            News::Batch { others: 0, .. } => self.word(Status::Completed, None),
            News::Batch { .. } => self.word(Status::Failed, None),
        };
        state.unwrap_or_else(|| news.status())
    }

    /// Returns its word for the state a task is in. All but zidane have one for every state.
    fn state(self, task: &Task) -> &'static str {
        self.word(task.status, task.cause_value()).unwrap_or("running")
    }
}
