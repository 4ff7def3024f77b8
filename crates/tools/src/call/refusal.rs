//! The reasons why a call is refused.

use meanwhile::Error;

/// A refusal of a call. Each dialect has its own text for it.
#[derive(Debug, thiserror::Error)]
pub enum CallRefusal {
    /// An argument is missing or wrong.
    #[error("{name} {problem}")]
    Argument {
        /// The name of the argument.
        name: String,
        /// A description of the problem.
        problem: String,
    },
    /// Background tasks are disabled, but the call requested one.
    #[error("background tasks are disabled: omit {flag}, or run it in the foreground")]
    NoBackground {
        /// The argument that requested it.
        flag: &'static str,
    },
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] Error),
}

impl CallRefusal {
    /// Refuses an argument.
    #[must_use]
    pub fn argument(name: &str, problem: &str) -> Self {
        Self::Argument { name: name.to_owned(), problem: problem.to_owned() }
    }

    /// Returns a stable code for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Argument { .. } => "invalid_argument",
            Self::NoBackground { .. } => "background_off",
            Self::Engine(error) => error.code().as_str(),
        }
    }
}
