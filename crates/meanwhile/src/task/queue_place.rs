//! The places of queued tasks: by priority, then rank, then arrival.

use std::cmp::Reverse;

use mw_model::TaskId;

/// What decides the place of a queued task. A task has rank 0 until it, or one behind it, is moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QueuePlace {
    pub(crate) id: TaskId,
    pub(crate) priority: i32,
    pub(crate) rank: i64,
    /// The number of the arrival.
    pub(crate) seq: i64,
}

impl QueuePlace {
    const fn key(&self) -> (Reverse<i32>, i64, i64) {
        (Reverse(self.priority), self.rank, self.seq)
    }
}

/// Moves a task of a queue from one place to another. Returns the tasks whose priority or rank changes.
///
/// The task takes the priority of its new neighbours if its own does not fit between them. Tasks that arrive later stay behind all
/// of them, because no rank is ever above 0.
pub(crate) fn moved(mut queue: Vec<QueuePlace>, from: usize, to: usize) -> Vec<QueuePlace> {
    let before = queue.clone();
    let mut task = queue.remove(from);
    let behind = queue.get(to).cloned();
    if let Some(ahead) = to.checked_sub(1).and_then(|at| queue.get(at)) {
        task.priority = task.priority.min(ahead.priority);
    }
    if let Some(behind) = &behind {
        task.priority = task.priority.max(behind.priority);
    }
    task.rank = match behind.filter(|behind| behind.priority == task.priority) {
        Some(behind) if task.key() >= behind.key() => behind.rank - 1,
        Some(_) => task.rank,
        None => 0,
    };
    queue.insert(to, task);
    for at in (0..to).rev() {
        if queue[at].key() < queue[at + 1].key() {
            break;
        }
        queue[at].rank = queue[at + 1].rank - 1;
    }
    queue.retain(|place| !before.contains(place));
    queue
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(number: usize) -> TaskId {
        format!("bash-aaaaaaa{}", char::from(b'a' + number as u8)).parse().unwrap()
    }

    fn sorted(mut queue: Vec<QueuePlace>) -> Vec<QueuePlace> {
        queue.sort_by_key(QueuePlace::key);
        queue
    }

    fn apply(mut queue: Vec<QueuePlace>, from: usize, to: usize) -> Vec<QueuePlace> {
        for changed in moved(queue.clone(), from, to) {
            let at = queue.iter().position(|place| place.id == changed.id).unwrap();
            queue[at] = changed;
        }
        queue
    }

    proptest! {
        /// However often tasks are moved, each comes to stand where it was moved to, and the others keep their order.
        #[test]
        fn a_moved_task_stands_where_it_was_moved_to(
            priorities in prop::collection::vec(-1..2_i32, 1..8),
            moves in prop::collection::vec((0..8_usize, 0..8_usize), 0..8),
        ) {
            let place = |(number, priority)| QueuePlace { id: id(number), priority, rank: 0, seq: number as i64 };
            let mut queue = sorted(priorities.into_iter().enumerate().map(place).collect());
            for (from, to) in moves {
                let (from, to) = (from % queue.len(), to % queue.len());
                let mut wanted: Vec<_> = queue.iter().map(|place| place.id.clone()).collect();
                let task = wanted.remove(from);
                wanted.insert(to, task);
                queue = apply(queue, from, to);
                let stored = queue.clone();
                queue = sorted(queue);
                prop_assert_eq!(&wanted, &queue.iter().map(|place| place.id.clone()).collect::<Vec<_>>());
                prop_assert!(stored.iter().all(|place| place.rank <= 0), "later arrivals stay behind");
            }
        }
    }

    #[test]
    fn one_task_changes_when_it_becomes_the_first() {
        let place = |number| QueuePlace { id: id(number), priority: 0, rank: 0, seq: number as i64 };
        let changed = moved((0..5).map(place).collect(), 4, 0);
        assert_eq!(changed, [QueuePlace { rank: -1, ..place(4) }]);
    }
}
