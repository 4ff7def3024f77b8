//! Describes the receipt of a kill in words.

use meanwhile::engine::model::wire::KillReceipt;
use meanwhile::model::Status;

use crate::text::count;

/// The target that a kill has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillOutcome {
    /// Nothing, because the task had already ended or still runs.
    Nothing,
    /// The task itself.
    Task,
    /// An idle agent that was kept for a follow-up.
    IdleAgent,
    /// Processes that were still running after their task had ended.
    Remains,
}

/// Returns what a kill has ended.
#[must_use]
pub fn ended_by(receipt: &KillReceipt) -> KillOutcome {
    match receipt.status {
        Status::Cancelled => KillOutcome::Task,
        status if !status.is_terminal() || receipt.killed.is_empty() => KillOutcome::Nothing,
        _ if receipt.id.is_of_agent() => KillOutcome::IdleAgent,
        _ => KillOutcome::Remains,
    }
}

/// Returns the lines of a receipt: the result of the kill, and the processes that are still alive.
#[must_use]
pub fn receipt_lines(receipt: &KillReceipt, name: Option<&str>) -> Vec<String> {
    let signals: Vec<_> = receipt.signals.iter().map(|sent| sent.signal.as_str()).collect();
    let id = name.map_or_else(|| receipt.id.to_string(), |name| format!("{name} ({})", receipt.id));
    let status = receipt.status.word();
    let done = if signals.is_empty() {
        format!("{id} {status}: no processes left to kill")
    } else if receipt.killed.is_empty() && receipt.survivors.is_empty() && !receipt.status.is_terminal() {
        format!("{id} {status}: {} sent", signals.join(", "))
    } else {
        let killed = count(receipt.killed.len() + receipt.killed_more as usize, "process", "processes");
        let sent = format!("{} to {killed}, {} ms", signals.join(", "), receipt.duration_ms);
        match ended_by(receipt) {
            KillOutcome::IdleAgent => format!("{id}: the agent was {status} and idle; ended: {sent}"),
            KillOutcome::Remains => {
                format!("{id}: the task was {status}; remaining processes ended: {sent}")
            }
            KillOutcome::Task | KillOutcome::Nothing => format!("{id} {status}: {sent}"),
        }
    };
    let alive = receipt
        .survivors
        .iter()
        .map(|survivor| format!("  still alive: {} {}", survivor.pid, survivor.command));
    std::iter::once(done).chain(alive).collect()
}
