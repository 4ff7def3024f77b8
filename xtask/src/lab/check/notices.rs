//! Every end is notified once.

use super::{Evidence, Promise, Violation};
use crate::lab::actions::Receipt;

pub(super) fn check(evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    let mut say = |text| found.push(Violation { promise: Promise::Notification, text });
    for task in evidence.tasks {
        let receipts: Vec<&Receipt> =
            evidence.actions.receipts.iter().filter(|receipt| receipt.id == task.id).collect();
        // A notification is repeated if the database was replaced between its delivery and the mark in the directory.
        let certain = receipts.iter().filter(|receipt| receipt.is_certain && !receipt.is_in_doubt);
        let start = evidence.actions.starts.get(&task.key);
        let name = format!("{} {} ({}, run {})", task.id, task.key, task.status, task.runs);
        // A restart ends a run, too, so each run may be notified.
        let count = certain.clone().count() as u64;
        if count > task.runs {
            say(format!("{name}: {count} notifications were received for certain: {receipts:?}"));
        }
        let mut runs: Vec<u64> = certain.filter_map(|receipt| receipt.run).collect();
        runs.sort_unstable();
        let before = runs.len();
        runs.dedup();
        if runs.len() < before && count <= task.runs {
            say(format!("{name}: a run was notified twice: {receipts:?}"));
        }
        // The reply of a foreground command reports its end, and nobody owns what the web page starts.
        let is_owned = task.session != "default" && start.is_none_or(|start| !start.is_attached);
        let about_last = |receipt: &&&Receipt| receipt.run.is_none_or(|run| run == task.runs);
        let last = receipts.iter().rfind(about_last);
        match last {
            None if is_owned => say(format!("{name}: its end was never notified: {receipts:?}")),
            Some(receipt) if task.runs == 1 && receipt.status != task.status => {
                say(format!("{name}: it was notified as {}", receipt.status));
            }
            _ => {}
        }
    }
}
