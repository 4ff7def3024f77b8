//! What the stream of events says about the order in which slots were given.

use std::collections::{BTreeMap, BTreeSet};

use meanwhile::Scope;
use meanwhile::model::{Event, Status};

use super::World;

/// Who holds a slot and who is over, at one point of the stream.
#[derive(Default)]
struct Moment {
    holding: BTreeSet<usize>,
    over: BTreeMap<usize, Status>,
}

impl World {
    /// Replays all events: no slot is given beyond a limit, too early, or to the wrong one.
    pub fn check_history(&self) {
        let mut moment = Moment::default();
        for row in self.runtime.tasks().events_after(0, &Scope::All, None, 100_000).unwrap() {
            let at = self.known.iter().position(|known| known.id == row.task).unwrap();
            match row.event {
                Event::Reserved { .. } => {
                    self.check_choice(&moment, at, row.seq);
                    assert!(moment.holding.insert(at), "task {at} got two slots");
                    self.check_count(&moment);
                }
                Event::Released => assert!(moment.holding.remove(&at), "task {at} had no slot to give back"),
                Event::Ended { cause, .. } => {
                    moment.holding.remove(&at);
                    assert!(moment.over.insert(at, cause.status()).is_none(), "task {at} ended twice");
                }
                _ => {}
            }
        }
        assert_eq!(moment.over.len(), self.len(), "some did not end");
        assert!(moment.holding.is_empty(), "slots are still held by {:?}", moment.holding);
    }

    fn check_count(&self, moment: &Moment) {
        for session in 0..2 {
            let of_session = moment.holding.iter().filter(|at| self.known[**at].asked.session == session);
            let count = of_session.count();
            assert!(count <= self.limits.per_session as usize, "{count} slots of session {session}");
        }
        let count = moment.holding.len();
        assert!(self.limits.in_all == 0 || count <= self.limits.in_all as usize, "{count} slots in all");
    }

    /// The one that gets a slot is the first of those that may run.
    fn check_choice(&self, moment: &Moment, chosen: usize, seq: i64) {
        assert!(self.may_run(moment, chosen), "task {chosen} does not wait, or waits for another");
        let rank = |at: usize| (std::cmp::Reverse(self.known[at].asked.priority), at);
        let passed_over = (0..self.len()).find(|at| {
            self.known[*at].asked.session == self.known[chosen].asked.session
                && self.known[*at].since < seq
                && self.may_run(moment, *at)
                && rank(*at) < rank(chosen)
        });
        assert_eq!(passed_over, None, "task {chosen} came first");
    }

    fn may_run(&self, moment: &Moment, at: usize) -> bool {
        let waits = !moment.holding.contains(&at) && !moment.over.contains_key(&at);
        let mut before = self.known[at].asked.after.iter();
        waits && before.all(|before| moment.over.get(before) == Some(&Status::Completed))
    }
}
