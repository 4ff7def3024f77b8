//! Why a call was not carried out.

use meanwhile::Error;

/// Why a call was not carried out. Each dialect has its own words for the same refusal.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// An argument is missing or wrong.
    #[error("{name} {problem}")]
    Argument {
        /// Which.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Background work is off, and was asked for all the same.
    #[error("background work is switched off here: leave out {flag}, or do it in the foreground")]
    NoBackground {
        /// What asked for it.
        flag: &'static str,
    },
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] Error),
}

impl Refusal {
    /// Refuses an argument.
    #[must_use]
    pub fn argument(name: &str, problem: &str) -> Self {
        Self::Argument { name: name.to_owned(), problem: problem.to_owned() }
    }

    /// Returns a word that programs can rely on.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Argument { .. } => "invalid_argument",
            Self::NoBackground { .. } => "background_off",
            Self::Engine(error) => error.code(),
        }
    }
}
