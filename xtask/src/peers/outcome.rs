//! The result of a measurement step.

use std::fmt;
use std::io;

/// The result of a step.
pub(super) type Outcome<T> = Result<T, Trouble>;

/// The reason why a step gave no value.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The peer does not support the operation. Its cell stays empty.
    Unsupported,
    /// The step failed. The report contains the reason.
    Failed(String),
}

impl Trouble {
    pub(super) fn because(what: impl Into<String>) -> Self {
        Self::Failed(what.into())
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported => f.write_str("not supported"),
            Self::Failed(what) => f.write_str(what),
        }
    }
}
