//! What a kill did, in words.

use meanwhile::model::wire::KillReceipt;

use crate::text::count;

/// Returns the lines of a receipt: what was done, and whoever is still alive.
#[must_use]
pub fn receipt_lines(receipt: &KillReceipt, name: Option<&str>) -> Vec<String> {
    let signals: Vec<_> = receipt.signals.iter().map(|sent| sent.signal.as_str()).collect();
    let id = name.map_or_else(|| receipt.id.clone(), |name| format!("{name} ({})", receipt.id));
    let status = receipt.status.word();
    let done = if signals.is_empty() {
        format!("{id} {status}: nothing was left to kill")
    } else if receipt.killed.is_empty() && receipt.survivors.is_empty() && !receipt.status.is_terminal() {
        format!("{id} {status}: {} sent", signals.join(", "))
    } else {
        let killed = count(receipt.killed.len() + receipt.killed_more as usize, "process", "processes");
        format!("{id} {status}: {} to {killed}, {} ms", signals.join(", "), receipt.duration_ms)
    };
    let alive = receipt
        .survivors
        .iter()
        .map(|survivor| format!("  still alive: {} {}", survivor.pid, survivor.command));
    std::iter::once(done).chain(alive).collect()
}
