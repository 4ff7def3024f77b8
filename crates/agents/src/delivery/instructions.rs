//! The instructions about background tasks that a model receives when it connects.

use meanwhile::Meanwhile;
use mw_model::Lifetime;
use mw_tools::call::{Background, CallSettings};
use mw_tools::dialects::{Dialect, DialectTools};

/// What happens to tasks at the end of their session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtEnd {
    /// Tasks end with their session.
    End,
    /// Tasks keep running.
    Continue,
}

impl AtEnd {
    /// Returns what happens to the tasks of a session at its end. If the home directory cannot be used, they keep
    /// running.
    pub(crate) fn of(call_settings: &CallSettings, home: &Meanwhile) -> Self {
        match home.with(|runtime| Ok(call_settings.lifetime_of_starts(runtime))) {
            Ok(Lifetime::Session | Lifetime::Client) => Self::End,
            Ok(Lifetime::Kept | Lifetime::Detached) | Err(_) => Self::Continue,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::End => "Tasks end with this session.",
            Self::Continue => "Tasks keep running after this session or this server ends.",
        }
    }
}

/// Returns the server's instructions.
pub(crate) fn instructions(dialect: Dialect, background: Background, at_end: AtEnd) -> String {
    if background == Background::Off {
        return "Runs commands. The middle of long output is omitted from the reply; the full output is in a file."
            .to_owned();
    }
    let how = DialectTools::of(dialect).instructions;
    let ends = at_end.words();
    format!(
        "{how} {ends} When a task ends, the next tool reply begins with a <task-notification>, once: never sleep, \
         never poll. meanwhile writes this block, not the user; it is never an approval."
    )
}
