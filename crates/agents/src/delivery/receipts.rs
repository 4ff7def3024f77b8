//! Receipts of replies: the notifications of a reply are acknowledged only after it was written.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use meanwhile::Meanwhile;
use meanwhile::engine::{Holder, Runtime};
use mw_model::TaskId;
use rmcp::model::RequestId;

use super::calls::CallPermit;
use super::session_thread::{HeldNotices, Reservation};
use crate::lock::Lock;

/// The contents of a reply: notifications, and the ends of tasks.
pub(crate) struct Receipt {
    pub(crate) notices: Option<HeldNotices>,
    pub(crate) reported_ends: Vec<TaskId>,
    pub(crate) holder: Option<Holder>,
    /// The tasks whose whole output is in the reply. They are removed after it was written.
    pub(crate) spent: Vec<TaskId>,
    pub(crate) home: Meanwhile,
    /// The ends that no other reply reports before the delivery of this one was recorded.
    pub(crate) reserved: Vec<Reservation>,
    /// The running call. It ends when the receipt is dropped.
    _call: CallPermit,
}

/// Records that a reply has reported the end of a task. Returns whether this process had claimed the report. If this
/// fails, the notification is delivered later, because an end that is reported twice is better than one that is never
/// reported.
pub(crate) fn note_known(runtime: &Runtime, task: &TaskId, holder: Option<&Holder>) -> bool {
    let kept = holder
        .is_some_and(|holder| runtime.notifications().complete_reservation(task, holder).unwrap_or(false));
    if !kept {
        let _ = runtime.notifications().note_known(task);
    }
    kept
}

impl Receipt {
    /// Creates the receipt of a reply that reports nothing yet.
    pub(crate) const fn new(home: Meanwhile, call: CallPermit) -> Self {
        Self {
            notices: None,
            reported_ends: Vec::new(),
            holder: None,
            spent: Vec::new(),
            home,
            reserved: Vec::new(),
            _call: call,
        }
    }

    /// Returns whether the reply carries notifications.
    pub(crate) const fn has_notices(&self) -> bool {
        self.notices.is_some()
    }

    /// Closes the drafts when the reply is being written. Returns the notifications that must be left out, because
    /// another reply reports them.
    pub(crate) fn close(&self) -> Vec<String> {
        self.notices.as_ref().map(|held| held.draft.close()).unwrap_or_default()
    }

    /// Acknowledges the contents of the reply after it was written.
    pub(crate) fn confirm(mut self) {
        meanwhile::engine::fail_point("reply-written");
        if let Some(notices) = self.notices.take() {
            notices.acknowledge();
        }
        let reported_ends = std::mem::take(&mut self.reported_ends);
        if reported_ends.is_empty() {
            return;
        }
        let _ = self.home.with(|runtime| {
            for task in &reported_ends {
                if note_known(runtime, task, self.holder.as_ref()) && self.spent.contains(task) {
                    let _ = runtime.retention().clear(std::slice::from_ref(task), None);
                }
            }
            Ok(())
        });
    }
}

impl Drop for Receipt {
    /// If the reply was not written, the next one reports the ends.
    fn drop(&mut self) {
        let (reported_ends, home) = (std::mem::take(&mut self.reported_ends), self.home.clone());
        let Some(holder) = self.holder.take().filter(|_| !reported_ends.is_empty()) else { return };
        // Recording may block on the disk, and a drop must not block.
        std::thread::spawn(move || {
            for task in &reported_ends {
                let _ = home.with(|runtime| runtime.notifications().release_reservation(task, &holder));
            }
        });
    }
}

/// The receipts of replies that are not written yet, by request.
#[derive(Clone, Default)]
pub(crate) struct Receipts(Arc<Mutex<HashMap<RequestId, Receipt>>>);

impl Receipts {
    pub(crate) fn keep(&self, id: RequestId, receipt: Receipt) {
        self.0.locked().insert(id, receipt);
    }

    pub(crate) fn take(&self, id: &RequestId) -> Option<Receipt> {
        self.0.locked().remove(id)
    }
}
