//! `place.json`: where a task runs, and how it ended there; written by the driver of its back-end.

use serde::{Deserialize, Serialize};

use crate::task::cause::{Cause, Exit};
use crate::task::resource_limits::ResourceLimit;

/// The version of `place.json`.
pub const PLACE_VERSION: u32 = 1;

/// `place.json`. It is replaced by rename, and written before a step takes effect at the place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceRecord {
    /// See [`PLACE_VERSION`].
    pub version: u32,
    /// The run that it describes. A record of another run means nothing.
    pub run: u32,
    /// The name of the back-end.
    pub backend: String,
    /// The job there: a container's id, or a directory of another machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The step that was begun last.
    pub step: PlaceStep,
    /// How many of the signals in `place.signals` were passed on.
    #[serde(default)]
    pub signals: usize,
    /// What the driver waits for or cannot do now, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// How the command ended there; absent as long as that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<PlaceEnd>,
}

/// How far a run has got at its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceStep {
    /// Nothing was requested there yet.
    #[default]
    Connecting,
    /// The start was or is about to be requested there. It may have taken effect.
    Starting,
    /// The command was started there.
    Started,
}

/// How the command of a run ended at its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceEnd {
    /// It was not started there, and will not be.
    NotStarted {
        /// The reason.
        message: String,
    },
    /// It ended.
    Ended {
        /// How, or why that is not known.
        exit: Exit,
        /// The resource limit that it exceeded, if the place enforced one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<ResourceLimit>,
    },
}

impl PlaceRecord {
    /// Returns how a run ended, if a record says so.
    #[must_use]
    pub fn end_of(self, run: u32) -> Option<PlaceEnd> {
        if self.run == run { self.end } else { None }
    }
}

impl PlaceEnd {
    /// Returns the exit of the task's first process.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::NotStarted { message } => Exit::Unknown(message.clone()),
            Self::Ended { exit, .. } => exit.clone(),
        }
    }

    /// Returns the cause that replaces the one derived from the exit, if there is one.
    #[must_use]
    pub fn cause(&self) -> Option<Cause> {
        match self {
            Self::NotStarted { message } => Some(Cause::SpawnFailed { message: message.clone() }),
            Self::Ended { .. } => None,
        }
    }

    /// Returns the resource limit that was exceeded.
    #[must_use]
    pub const fn limit(&self) -> Option<ResourceLimit> {
        match self {
            Self::NotStarted { .. } => None,
            Self::Ended { limit, .. } => *limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_another_run_means_nothing() {
        let end = PlaceEnd::Ended { exit: Exit::Code(3), limit: None };
        let record = PlaceRecord { run: 2, end: Some(end.clone()), ..PlaceRecord::default() };
        let text = serde_json::to_string(&record).unwrap();
        let record: PlaceRecord = serde_json::from_str(&text).unwrap();
        assert_eq!(record.clone().end_of(1), None);
        assert_eq!(record.end_of(2), Some(end));
    }
}
