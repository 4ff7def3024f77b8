//! The plan of a kill: first signal, grace period, SIGKILL, until the process tree is empty.

use std::collections::BTreeSet;

use mw_model::signal::SIGKILL;
use mw_model::wire::{EndRequest, KillReceipt, SentSignal, Survivor};
use mw_model::{Status, TaskId, Timestamp, signal_name};

/// How long after the first SIGKILL a process may take to die before the receipt names it.
const GIVE_UP_MS: u64 = 10_000;
/// How often SIGKILL is repeated while any process is alive: forks may race with it.
const REPEAT_MS: u64 = 10;
/// How often it is repeated after the receipt has named the survivors.
const LATER_MS: u64 = 5000;
/// Maximum number of pids in a reply, which must fit into a socket's buffer.
pub(crate) const MAX_NAMED: usize = 4096;

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Wait until this time.
    WaitUntil(u64),
    /// Send this signal to every living process of the tree.
    Send(i32),
    /// The remaining processes cannot be killed; report that once to those who wait.
    GiveUp,
}

/// A kill in progress.
pub(crate) struct Ending {
    /// The requester; nothing if a resource limit was exceeded.
    pub(crate) asked: Option<EndRequest>,
    pub(crate) signals: Vec<SentSignal>,
    begun_ms: u64,
    /// The signal to send next, and when.
    next: (i32, u64),
    /// When SIGKILL is due. A further request can only make it earlier.
    kill_ms: u64,
    /// Since when SIGKILL is being sent.
    killing_ms: Option<u64>,
    given_up: bool,
    signalled: BTreeSet<u32>,
}

impl Ending {
    pub(crate) fn new(asked: Option<EndRequest>, signal: i32, now_ms: u64) -> Self {
        Self {
            asked,
            signals: Vec::new(),
            begun_ms: now_ms,
            next: (signal, now_ms),
            kill_ms: u64::MAX,
            killing_ms: None,
            given_up: false,
            signalled: BTreeSet::new(),
        }
    }

    /// Applies a further request: its signal is sent at once, and the schedule never becomes weaker.
    pub(crate) fn request(&mut self, signal: i32, now_ms: u64) {
        if std::mem::take(&mut self.given_up) {
            self.killing_ms = Some(now_ms);
            self.next = (SIGKILL, now_ms);
        } else if self.killing_ms.is_none() {
            self.next = (signal, now_ms);
        }
    }

    /// Makes SIGKILL due at this time at the latest.
    pub(crate) fn kill_by(&mut self, due_ms: u64) {
        self.kill_ms = self.kill_ms.min(due_ms);
    }

    /// Records that an earlier supervisor has sent the first signal.
    pub(crate) const fn was_sent(&mut self) {
        self.next = (SIGKILL, self.kill_ms);
    }

    /// Returns what to do now.
    pub(crate) fn step(&self, now_ms: u64) -> Step {
        let (signal, due) = self.next;
        if !self.given_up && self.killing_ms.is_some_and(|since| now_ms >= since + GIVE_UP_MS) {
            Step::GiveUp
        } else if now_ms >= due {
            Step::Send(signal)
        } else {
            Step::WaitUntil(due)
        }
    }

    /// Records that a signal was sent to these processes, and schedules the next.
    pub(crate) fn sent(&mut self, signal: i32, pids: &[u32], at: Timestamp, now_ms: u64, grace_ms: u64) {
        self.signalled.extend(pids);
        let is_first = self.killing_ms.is_none();
        if is_first {
            self.signals.push(SentSignal { signal: signal_name(signal), at });
        }
        if signal == SIGKILL {
            self.killing_ms.get_or_insert(now_ms);
            self.next = (SIGKILL, now_ms + if self.given_up { LATER_MS } else { REPEAT_MS });
        } else {
            self.kill_ms = self.kill_ms.min(now_ms.saturating_add(grace_ms));
            self.next = (SIGKILL, self.kill_ms);
        }
    }

    /// Continues at a slow pace: a process that cannot be killed now may end later.
    pub(crate) const fn give_up(&mut self, now_ms: u64) {
        self.given_up = true;
        self.next = (SIGKILL, now_ms + LATER_MS);
    }

    /// Returns whether waiting clients were told about survivors.
    pub(crate) const fn has_given_up(&self) -> bool {
        self.given_up
    }

    /// Returns the receipt, given the processes that are still alive.
    pub(crate) fn receipt(
        &self,
        task: TaskId,
        status: Status,
        alive: Vec<Survivor>,
        now_ms: u64,
    ) -> KillReceipt {
        let requested_by = match &self.asked {
            Some(EndRequest::Kill { by }) => by.clone(),
            Some(EndRequest::Limit(_)) => "time limit".to_owned(),
            None => "resource limit".to_owned(),
        };
        let living: BTreeSet<u32> = alive.iter().map(|process| process.pid).collect();
        let mut killed: Vec<u32> = self.signalled.difference(&living).copied().collect();
        let killed_more = killed.len().saturating_sub(MAX_NAMED) as u64;
        killed.truncate(MAX_NAMED);
        KillReceipt {
            id: task,
            status,
            requested_by,
            signals: self.signals.clone(),
            killed,
            killed_more,
            survivors: alive,
            duration_ms: now_ms.saturating_sub(self.begun_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use mw_model::signal::SIGTERM;

    use super::*;

    fn ending() -> Ending {
        Ending::new(Some(EndRequest::Kill { by: "user".to_owned() }), SIGTERM, 100)
    }

    #[test]
    fn asks_first_then_kills_after_the_grace_period() {
        let mut ending = ending();
        assert_eq!(ending.step(100), Step::Send(SIGTERM));
        ending.sent(SIGTERM, &[7], Timestamp::default(), 100, 5000);
        assert_eq!(ending.step(5099), Step::WaitUntil(5100));
        assert_eq!(ending.step(5100), Step::Send(SIGKILL));
        ending.sent(SIGKILL, &[7, 8], Timestamp::default(), 5100, 5000);
        assert_eq!(ending.step(5105), Step::WaitUntil(5110));
        assert_eq!(ending.step(5110), Step::Send(SIGKILL));
        assert_eq!(ending.step(15_100), Step::GiveUp);
        let names: Vec<_> = ending.signals.iter().map(|sent| sent.signal.as_str()).collect();
        assert_eq!(names, ["SIGTERM", "SIGKILL"]);
    }

    #[test]
    fn a_stronger_kill_does_not_wait_for_the_grace_period() {
        let mut ending = ending();
        ending.sent(SIGTERM, &[7], Timestamp::default(), 100, 5000);
        ending.request(SIGKILL, 200);
        assert_eq!(ending.step(200), Step::Send(SIGKILL));
    }

    #[test]
    fn a_weaker_kill_does_not_slow_down_a_stronger_one() {
        let mut ending = ending();
        ending.sent(SIGKILL, &[7], Timestamp::default(), 100, 5000);
        ending.request(SIGTERM, 105);
        assert_eq!(ending.step(110), Step::Send(SIGKILL));
    }

    #[test]
    fn repeated_kill_requests_never_postpone_the_sigkill() {
        let mut ending = ending();
        for second in 0..5 {
            let now = 100 + second * 700;
            ending.request(SIGTERM, now);
            assert_eq!(ending.step(now), Step::Send(SIGTERM));
            ending.sent(SIGTERM, &[7], Timestamp::default(), now, 5000);
            assert_eq!(ending.step(now), Step::WaitUntil(5100));
        }
        ending.sent(SIGTERM, &[7], Timestamp::default(), 4000, 100);
        assert_eq!(ending.step(4000), Step::WaitUntil(4100));
    }

    #[test]
    fn after_giving_up_sigkill_is_retried_slowly_until_a_new_request() {
        let mut ending = ending();
        ending.sent(SIGKILL, &[7], Timestamp::default(), 100, 0);
        assert_eq!(ending.step(10_100), Step::GiveUp);
        ending.give_up(10_100);
        assert_eq!(ending.step(10_100), Step::WaitUntil(15_100));
        assert_eq!(ending.step(15_100), Step::Send(SIGKILL));
        ending.sent(SIGKILL, &[7], Timestamp::default(), 15_100, 0);
        assert_eq!(ending.step(15_110), Step::WaitUntil(20_100));
        ending.request(SIGTERM, 16_000);
        assert_eq!(ending.step(16_000), Step::Send(SIGKILL), "a new request starts a new attempt");
        ending.sent(SIGKILL, &[7], Timestamp::default(), 16_000, 0);
        assert_eq!(ending.step(16_005), Step::WaitUntil(16_010));
        assert_eq!(ending.step(26_000), Step::GiveUp);
    }

    #[test]
    fn the_receipt_lists_only_dead_processes_as_killed() {
        let mut ending = ending();
        ending.sent(SIGKILL, &[7, 8], Timestamp::default(), 100, 0);
        let alive = vec![Survivor { pid: 8, command: "stuck".to_owned() }];
        let receipt = ending.receipt("bash-k3f9x2ab".parse().unwrap(), Status::Cancelled, alive, 150);
        assert_eq!((receipt.killed, receipt.duration_ms), (vec![7], 50));
    }
}
