//! Where a task of a configured back-end is, as its driver has recorded it.

use mw_model::wire::PlaceRecord;
use serde::Serialize;

/// Where a task of a configured back-end is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PlaceState {
    /// The job there: its number, a container's id, or a directory of another machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The node that runs it, if the place has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// How often the place has started the command again by itself.
    pub requeued: u32,
    /// What the task waits for there, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl PlaceState {
    pub(crate) fn of(record: PlaceRecord) -> Self {
        let PlaceRecord { job, node, requeued, note, .. } = record;
        Self { job, node, requeued, note }
    }

    /// Describes it, without what it waits for.
    #[must_use]
    pub fn to_words(&self) -> Option<String> {
        let job = self.job.as_ref().map(|job| format!("job {job}"));
        let node = self.node.as_ref().map(|node| format!("on {node}"));
        let requeued = (self.requeued > 0).then(|| format!("started again {} times", self.requeued));
        let requeued = if self.requeued == 1 { Some("started again once".to_owned()) } else { requeued };
        let place = [job, node].into_iter().flatten().collect::<Vec<_>>().join(" ");
        let parts: Vec<_> = [(!place.is_empty()).then_some(place), requeued].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}
