//! Errors of setting up a host.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a host's file was not changed.
#[derive(Debug, Error)]
pub enum SetupError {
    /// The file is invalid.
    #[error("cannot parse {}, line {line}: {why}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Where.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// The file is valid, but a change could not be undone.
    #[error("{} cannot be changed safely at line {line}: {why}", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// Where.
        line: usize,
        /// The reason.
        why: String,
    },
    /// The file changed after the change was shown.
    #[error("{} has changed since it was read; nothing was written", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The file is read-only.
    #[error("{} is read-only; nothing was written to it", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// Reading or writing failed.
    #[error("{} {}: {source}", path.display(), failed.words())]
    Io {
        /// The file.
        path: PathBuf,
        /// What failed.
        failed: FailedAction,
        /// What the system reported.
        source: io::Error,
    },
    /// There is no home directory.
    #[error("no home directory")]
    NoHome,
}

/// What was not possible with a host's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedAction {
    /// Reading it.
    Read,
    /// Following the link to it.
    Find,
    /// Writing the new text.
    Write,
    /// Renaming the new file into place.
    Replace,
    /// Removing it.
    Remove,
}

impl FailedAction {
    const fn words(self) -> &'static str {
        match self {
            Self::Read => "cannot be read",
            Self::Find => "cannot be found",
            Self::Write => "cannot be written",
            Self::Replace => "cannot be replaced",
            Self::Remove => "cannot be removed",
        }
    }
}

impl SetupError {
    pub(in crate::hosts) fn io<'a>(
        path: &'a Path,
        failed: FailedAction,
    ) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Io { path: path.to_owned(), failed, source }
    }

    /// Returns the code for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Broken { .. } => "broken_file",
            Self::Unfit { .. } => "unfit_file",
            Self::Changed { .. } => "file_changed",
            Self::ReadOnly { .. } => "read_only",
            Self::Io { .. } => "io",
            Self::NoHome => "no_home",
        }
    }

    /// Returns the next step.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Broken { .. } => {
                "correct that line, then run this again; --print shows what to add by hand"
            }
            Self::Unfit { .. } => "--print shows what to add by hand",
            Self::Changed { .. } => "run this again to see the change against the file as it is now",
            Self::ReadOnly { .. } => {
                "make it writable (chmod u+w), or change its source: --print shows the content"
            }
            Self::Io { .. } => "check the path and its permissions",
            Self::NoHome => "set HOME",
        }
    }
}

/// A problem in a text, without the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::hosts) enum Flaw {
    /// It does not parse.
    Broken { line: usize, why: String },
    /// It parses, but cannot be changed.
    Unfit { line: usize, why: String },
}

impl Flaw {
    pub(in crate::hosts) fn unfit(text: &str, at: usize, why: impl Into<String>) -> Self {
        let line = text.get(..at).unwrap_or(text).matches('\n').count() + 1;
        Self::Unfit { line, why: why.into() }
    }

    pub(in crate::hosts) fn in_file(self, path: &Path) -> SetupError {
        let path = path.to_owned();
        match self {
            Self::Broken { line, why } => SetupError::Broken { path, line, why },
            Self::Unfit { line, why } => SetupError::Unfit { path, line, why },
        }
    }
}
