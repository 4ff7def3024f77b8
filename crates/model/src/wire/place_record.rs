//! `place.json`: where a task runs, and how it ended there; written by the driver of its back-end.

use serde::{Deserialize, Serialize};

use crate::task::cause::{Cause, EndRequest, Exit};
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
    /// The node that runs it, if the place has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// How often the place has started the command again by itself. The output of each attempt follows that of the one
    /// before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub requeued: u32,
    /// The bytes of both streams that earlier attempts have printed.
    #[serde(default, skip_serializing_if = "are_zero")]
    pub printed_before: [u64; 2],
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
        /// The request of someone else that the place has carried out, if that ended it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked: Option<EndRequest>,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn are_zero(numbers: &[u64; 2]) -> bool {
    *numbers == [0, 0]
}

impl PlaceRecord {
    /// Returns how a run ended, if a record says so.
    #[must_use]
    pub fn end_of(self, run: u32) -> Option<PlaceEnd> {
        if self.run == run { self.end } else { None }
    }
}

impl PlaceEnd {
    /// An end that nothing but the command itself has caused.
    #[must_use]
    pub const fn by_itself(exit: Exit) -> Self {
        Self::Ended { exit, limit: None, asked: None }
    }

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
            Self::Ended { exit, asked: Some(asked), .. } => {
                Some(Cause::of_exit(Some(asked), None, exit.clone()))
            }
            Self::Ended { asked: None, .. } => None,
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
        let end = PlaceEnd::by_itself(Exit::Code(3));
        let record = PlaceRecord { run: 2, end: Some(end.clone()), ..PlaceRecord::default() };
        let text = serde_json::to_string(&record).unwrap();
        let record: PlaceRecord = serde_json::from_str(&text).unwrap();
        assert_eq!(record.clone().end_of(1), None);
        assert_eq!(record.end_of(2), Some(end));
    }
}
