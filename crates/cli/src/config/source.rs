//! Where a value came from.

use std::fmt;
use std::path::{Path, PathBuf};

use meanwhile::engine::model::{clipped, visible};

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileLine {
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
}

impl fmt::Display for FileLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", shown(&self.file.to_string_lossy()), self.line)
    }
}

/// Where a value came from, in ascending order of precedence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Default,
    Profile(&'static str),
    User(FileLine),
    Project(FileLine),
    Environment(String),
}

impl Source {
    /// Returns the word for it in JSON.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Profile(_) => "profile",
            Self::User(_) => "user",
            Self::Project(_) => "project",
            Self::Environment(_) => "environment",
        }
    }

    /// Returns the file and the line, if it is from a file.
    pub(crate) fn file_line(&self) -> Option<(&Path, usize)> {
        match self {
            Self::User(place) | Self::Project(place) => Some((&place.file, place.line)),
            Self::Default | Self::Profile(_) | Self::Environment(_) => None,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Profile(name) => write!(f, "profile {name}"),
            Self::User(place) => write!(f, "{place}"),
            Self::Project(place) => write!(f, "project {place}"),
            Self::Environment(variable) => write!(f, "environment {variable}"),
        }
    }
}

/// Returns text from a file or a variable for display: on one line, shortened, without control characters.
pub(crate) fn shown(text: &str) -> String {
    const MAX: usize = 200;
    visible(&clipped(text, MAX)).replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_cannot_command_a_terminal() {
        assert_eq!(shown("a\u{1b}[2J\nb ü"), "a\\u{1b}[2J\\nb ü");
        assert_eq!(shown(&"x".repeat(300)).chars().count(), 201);
    }
}
