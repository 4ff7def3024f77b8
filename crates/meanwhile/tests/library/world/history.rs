//! Checks of the order in which slots were given, by the stream of events.

use std::collections::{BTreeMap, BTreeSet};

use meanwhile::Scope;
use meanwhile::model::{Event, Status};

use super::World;

/// The tasks that hold a slot and the tasks that have ended, at one point of the stream.
#[derive(Default)]
struct QueueState {
    holding: BTreeSet<usize>,
    ended: BTreeMap<usize, Status>,
}

impl World {
    /// Replays all events: no slot is given beyond a limit, too early, or to the wrong task.
    pub fn check_history(&self) {
        let mut state = QueueState::default();
        for row in self.runtime.tasks().events_after(0, &Scope::All, None, 100_000).unwrap() {
            let at = self.started.iter().position(|started| started.id == row.task).unwrap();
            match row.event {
                Event::Reserved { .. } => {
                    self.check_choice(&state, at, row.seq);
                    assert!(state.holding.insert(at), "task {at} got two slots");
                    self.check_count(&state);
                }
                Event::Released => assert!(state.holding.remove(&at), "task {at} had no slot to release"),
                Event::Ended { cause, .. } => {
                    state.holding.remove(&at);
                    assert!(state.ended.insert(at, cause.status()).is_none(), "task {at} ended twice");
                }
                _ => {}
            }
        }
        assert_eq!(state.ended.len(), self.len(), "some tasks did not end");
        assert!(state.holding.is_empty(), "slots are still held by {:?}", state.holding);
    }

    fn check_count(&self, state: &QueueState) {
        for session in 0..2 {
            let of_session = state.holding.iter().filter(|at| self.started[**at].plan.session == session);
            let count = of_session.count();
            assert!(count <= self.limits.per_session as usize, "{count} slots of session {session} are held");
        }
        let count = state.holding.len();
        assert!(self.limits.total == 0 || count <= self.limits.total as usize, "{count} slots are held");
    }

    /// Checks that the task that gets a slot is the first of the runnable tasks.
    fn check_choice(&self, state: &QueueState, chosen: usize, seq: i64) {
        assert!(self.may_run(state, chosen), "task {chosen} is not queued, or waits for another task");
        let rank = |at: usize| (std::cmp::Reverse(self.started[at].plan.priority), at);
        let passed_over = (0..self.len()).find(|at| {
            self.started[*at].plan.session == self.started[chosen].plan.session
                && self.started[*at].since < seq
                && self.may_run(state, *at)
                && rank(*at) < rank(chosen)
        });
        assert_eq!(passed_over, None, "task {chosen} got a slot before it");
    }

    fn may_run(&self, state: &QueueState, at: usize) -> bool {
        let waits = !state.holding.contains(&at) && !state.ended.contains_key(&at);
        let mut before = self.started[at].plan.after.iter();
        waits && before.all(|before| state.ended.get(before) == Some(&Status::Completed))
    }
}
