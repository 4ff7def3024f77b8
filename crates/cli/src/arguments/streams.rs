//! Names of a task's streams on the command line.

use clap::ValueEnum;
use meanwhile::engine::StreamChoice;

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum StreamWord {
    Both,
    Stdout,
    Stderr,
}

impl StreamWord {
    pub(crate) const fn choice(self) -> StreamChoice {
        match self {
            Self::Both => StreamChoice::Both,
            Self::Stdout => StreamChoice::Stdout,
            Self::Stderr => StreamChoice::Stderr,
        }
    }
}
