//! When a task starts, and whether another run follows when one has ended.
//!
//! ```text
//! a run ends ─▶ after_run ─┬─▶ over: the end of the task
//!                          ├─▶ again, a retry: after a wait that doubles, as long as retries are left
//!                          └─▶ again, a repetition: at the next due time
//! ```

use serde::{Deserialize, Serialize};

use super::cause::{Cause, TimeLimit};
use super::state::{RunOrigin, TaskState};
use crate::text::units::duration;
use crate::time::Timestamp;

/// The wait before the first retry.
pub const FIRST_RETRY_MS: u64 = 1000;
/// The longest wait before a retry.
pub const LONGEST_RETRY_MS: u64 = 60_000;
/// After a run that lasted this long, the next wait is the first one again.
pub const STEADY_RUN_MS: u64 = 60_000;

/// When a task starts, and what follows the end of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// The first run does not start before this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    /// Whether a run that has ended is followed by a retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<RestartPolicy>,
    /// Whether the task is repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Repeat>,
}

/// After which runs a task is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartPolicy {
    /// The runs that are followed by another.
    pub when: RestartWhen,
    /// How many failures in a row are followed by a retry; no limit if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<u32>,
}

/// The runs that are followed by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RestartWhen {
    /// Those that failed.
    OnFailure,
    /// All of them.
    Always,
}

/// How a task is repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// When it is due.
    #[serde(flatten)]
    pub due: Due,
    /// Whether the owner is notified of every end; otherwise only of failures.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub notify_each: bool,
}

/// When a repeated task is due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Due {
    /// At a fixed distance, counted from the first start.
    Every {
        /// The distance in milliseconds; at least [`SHORTEST_INTERVAL_MS`].
        every_ms: u64,
    },
    /// At the times that match a cron expression.
    Cron {
        /// The expression.
        cron: String,
        /// The time zone; that of the machine if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        time_zone: Option<String>,
    },
}

/// The shortest distance of repetitions.
pub const SHORTEST_INTERVAL_MS: u64 = 1000;

/// A run that has ended.
#[derive(Clone, Copy, Debug)]
pub struct EndedRun<'run> {
    /// Its origin.
    pub origin: RunOrigin,
    /// When it was started, if it was.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Timestamp,
    /// Why it ended.
    pub cause: &'run Cause,
}

/// What follows a run that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterRun {
    /// Nothing: the task has ended.
    Over,
    /// Another run.
    Again {
        /// The origin of that run.
        origin: RunOrigin,
        /// It does not start before this time.
        not_before: Timestamp,
    },
}

impl Schedule {
    /// Returns whether the task starts at once and runs once.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.not_before.is_none() && !self.may_run_again()
    }

    /// Returns whether another run may follow the end of a run.
    #[must_use]
    pub const fn may_run_again(&self) -> bool {
        self.restart.is_some() || self.repeat.is_some()
    }

    /// Decides what follows a run. `next_due` returns when a repeated task is due after a time.
    ///
    /// A kill, the end of the session, the deadline and a skip end the task. Retries come before the next repetition.
    #[must_use]
    pub fn after_run(
        &self,
        run: &EndedRun<'_>,
        next_due: impl FnOnce(&Due, Timestamp) -> Option<Timestamp>,
    ) -> AfterRun {
        if is_end_of_task(run.cause) {
            return AfterRun::Over;
        }
        let retry = self.restart.and_then(|policy| policy.retry(run));
        let repetition = || {
            let not_before = next_due(&self.repeat.as_ref()?.due, run.ended_at)?;
            Some(AfterRun::Again { origin: RunOrigin::Repetition, not_before })
        };
        retry.or_else(repetition).unwrap_or(AfterRun::Over)
    }
}

impl Due {
    /// Describes when a task is repeated.
    #[must_use]
    pub fn to_words(&self) -> String {
        match self {
            Self::Every { every_ms } => format!("every {}", duration(*every_ms)),
            Self::Cron { cron, time_zone: Some(zone) } => format!("cron {cron} ({zone})"),
            Self::Cron { cron, time_zone: None } => format!("cron {cron}"),
        }
    }
}

impl RestartPolicy {
    /// Describes after which runs a task is started again.
    #[must_use]
    pub fn to_words(self) -> String {
        let when = match self.when {
            RestartWhen::OnFailure => "after a failure",
            RestartWhen::Always => "after every end",
        };
        match self.retries {
            Some(most) => format!("{when}, after at most {most} failures in a row"),
            None => when.to_owned(),
        }
    }

    fn retry(self, run: &EndedRun<'_>) -> Option<AfterRun> {
        let has_failed = run.cause.status().is_error();
        let (earlier, last_wait) = match run.origin {
            RunOrigin::Retry { failures, waited_ms } => (failures, Some(waited_ms)),
            RunOrigin::First | RunOrigin::Restart | RunOrigin::Resume | RunOrigin::Repetition => (0, None),
        };
        let failures = if has_failed { earlier.saturating_add(1) } else { 0 };
        let is_wanted = match self.when {
            RestartWhen::OnFailure => has_failed,
            RestartWhen::Always => true,
        };
        if !is_wanted || self.retries.is_some_and(|most| failures > most) {
            return None;
        }
        let was_steady = run.started_at.is_some_and(|start| run.ended_at.ms_since(start) >= STEADY_RUN_MS);
        let waited_ms = match last_wait {
            Some(last) if !was_steady => last.saturating_mul(2).clamp(FIRST_RETRY_MS, LONGEST_RETRY_MS),
            Some(_) | None => FIRST_RETRY_MS,
        };
        let origin = RunOrigin::Retry { failures, waited_ms };
        Some(AfterRun::Again { origin, not_before: run.ended_at.plus_ms(waited_ms) })
    }
}

/// Returns whether an end with this cause is the end of the task, whatever its schedule says.
const fn is_end_of_task(cause: &Cause) -> bool {
    match cause {
        Cause::Cancelled { .. }
        | Cause::Skipped { .. }
        | Cause::TimedOut { limit: TimeLimit::Deadline, .. } => true,
        Cause::TimedOut { limit: TimeLimit::Run(_) | TimeLimit::Job, .. }
        | Cause::Exited { .. }
        | Cause::Signaled { .. }
        | Cause::LimitReached { .. }
        | Cause::SpawnFailed { .. }
        | Cause::Lost { .. } => false,
    }
}

/// Returns the first time after `after` that is a multiple of the distance from `begin`. If the clock was set to a time
/// before `begin`, such times lie before it, too.
#[must_use]
pub fn next_interval(begin: Timestamp, every_ms: u64, after: Timestamp) -> Timestamp {
    let every_us = i64::try_from(every_ms.max(SHORTEST_INTERVAL_MS).saturating_mul(1000)).unwrap_or(i64::MAX);
    let (begin, after) = (begin.as_micros(), after.as_micros());
    let passed = after.saturating_sub(begin).rem_euclid(every_us);
    Timestamp::from_micros(after.saturating_add(every_us - passed))
}

/// Returns whether a queued run may start: its time has come, or the time left is longer than the whole wait was, because
/// the clock was set back.
#[must_use]
pub fn is_due(schedule: Option<&Schedule>, state: &TaskState, now: Timestamp) -> bool {
    let Some(not_before) = state.not_before() else { return true };
    let longest_ms = match (state.origin(), schedule.and_then(|schedule| schedule.repeat.as_ref())) {
        (RunOrigin::Retry { waited_ms, .. }, _) => Some(waited_ms),
        (RunOrigin::Repetition, Some(Repeat { due: Due::Every { every_ms }, .. })) => Some(*every_ms),
        (RunOrigin::First | RunOrigin::Restart | RunOrigin::Resume | RunOrigin::Repetition, _) => None,
    };
    not_before <= now || longest_ms.is_some_and(|longest| not_before.ms_since(now) > longest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::task::cause::Exit;

    const NOW: Timestamp = Timestamp::from_micros(1_000_000_000_000);

    fn restart(when: RestartWhen, retries: Option<u32>) -> Schedule {
        Schedule { restart: Some(RestartPolicy { when, retries }), ..Schedule::default() }
    }

    fn hourly() -> Option<Repeat> {
        Some(Repeat { due: Due::Every { every_ms: 3_600_000 }, notify_each: false })
    }

    fn ended(origin: RunOrigin, lasted_ms: u64, cause: &Cause) -> EndedRun<'_> {
        EndedRun { origin, started_at: Some(NOW), ended_at: NOW.plus_ms(lasted_ms), cause }
    }

    fn in_an_hour(_: &Due, after: Timestamp) -> Option<Timestamp> {
        Some(after.plus_ms(3_600_000))
    }

    /// Returns the waits before the retries of a task whose runs all end like this.
    fn waits(schedule: &Schedule, lasted_ms: u64, cause: &Cause, most: usize) -> Vec<u64> {
        let mut waits = Vec::new();
        let mut origin = RunOrigin::First;
        while waits.len() < most {
            let run = ended(origin, lasted_ms, cause);
            let AfterRun::Again { origin: next, not_before } = schedule.after_run(&run, in_an_hour) else {
                break;
            };
            waits.push(not_before.ms_since(run.ended_at));
            origin = next;
        }
        waits
    }

    #[test]
    fn the_wait_doubles_up_to_a_minute_and_the_retries_are_counted() {
        let failed = Cause::Exited { code: 1 };
        let unlimited = restart(RestartWhen::OnFailure, None);
        let seconds = [1, 2, 4, 8, 16, 32, 60, 60].map(|seconds| seconds * 1000);
        assert_eq!(waits(&unlimited, 5, &failed, 8), seconds);
        let limited = restart(RestartWhen::OnFailure, Some(3));
        assert_eq!(waits(&limited, 5, &failed, 8), [1000, 2000, 4000]);
        assert_eq!(waits(&restart(RestartWhen::OnFailure, Some(0)), 5, &failed, 8), [0; 0]);
    }

    #[test]
    fn a_long_run_makes_the_wait_short_again_and_does_not_give_back_retries() {
        let failed = Cause::Exited { code: 1 };
        let limited = restart(RestartWhen::OnFailure, Some(3));
        assert_eq!(waits(&limited, STEADY_RUN_MS, &failed, 8), [1000, 1000, 1000]);
    }

    #[test]
    fn a_success_gives_the_retries_back() {
        let always = restart(RestartWhen::Always, Some(1));
        let (failed, done) = (Cause::Exited { code: 1 }, Cause::Exited { code: 0 });
        let origin_after =
            |origin, cause: &Cause| match always.after_run(&ended(origin, 1, cause), in_an_hour) {
                AfterRun::Again { origin, .. } => Some(origin),
                AfterRun::Over => None,
            };
        let second = origin_after(RunOrigin::First, &failed).unwrap();
        assert_eq!(origin_after(second, &failed), None);
        let third = origin_after(second, &done).unwrap();
        assert!(origin_after(third, &failed).is_some());
    }

    #[test]
    fn only_failures_are_retried_unless_all_runs_are_followed_by_another() {
        let killed = Exit::Signal { number: 9, core: false };
        let failures = [
            Cause::Exited { code: 2 },
            Cause::Signaled { signal: 11, core: false },
            Cause::TimedOut { limit: TimeLimit::Run(5), exit: Some(killed.clone()) },
            Cause::SpawnFailed { message: String::new() },
            Cause::Lost { reason: String::new() },
        ];
        let ends = [
            Cause::Cancelled { by: "user".to_owned(), exit: Some(killed) },
            Cause::Cancelled { by: "user".to_owned(), exit: None },
            Cause::TimedOut { limit: TimeLimit::Deadline, exit: None },
            Cause::Skipped { reason: String::new() },
        ];
        for when in [RestartWhen::OnFailure, RestartWhen::Always] {
            let schedule = Schedule { repeat: hourly(), ..restart(when, None) };
            for cause in &failures {
                assert_eq!(waits(&schedule, 1, cause, 1), [1000], "{cause:?}");
            }
            for cause in &ends {
                assert_eq!(waits(&schedule, 1, cause, 1), [0; 0], "{cause:?}");
            }
        }
        let done = Cause::Exited { code: 0 };
        assert_eq!(waits(&restart(RestartWhen::OnFailure, None), 1, &done, 1), [0; 0]);
        assert_eq!(waits(&restart(RestartWhen::Always, None), 1, &done, 1), [1000]);
        assert_eq!(waits(&Schedule::default(), 1, &failures[0], 1), [0; 0]);
    }

    #[test]
    fn the_next_repetition_comes_after_the_retries() {
        let schedule = Schedule { repeat: hourly(), ..restart(RestartWhen::OnFailure, Some(1)) };
        let failed = Cause::Exited { code: 1 };
        assert_eq!(waits(&schedule, 1, &failed, 4), [1000, 3_600_000, 1000, 3_600_000]);
    }

    #[test]
    fn a_schedule_is_written_in_short_and_read_back() {
        let cron = Due::Cron { cron: "0 9 * * 1-5".to_owned(), time_zone: Some("Europe/Berlin".to_owned()) };
        let schedule = Schedule {
            not_before: Some(NOW),
            repeat: Some(Repeat { due: cron, notify_each: true }),
            ..restart(RestartWhen::OnFailure, Some(4))
        };
        let text = serde_json::to_string(&schedule).unwrap();
        assert_eq!(
            text,
            r#"{"not_before":"1970-01-12T13:46:40.000000Z","restart":{"when":"on-failure","retries":4},"repeat":{"cron":"0 9 * * 1-5","time_zone":"Europe/Berlin","notify_each":true}}"#
        );
        assert_eq!(serde_json::from_str::<Schedule>(&text).unwrap(), schedule);
        let every = Schedule { repeat: hourly(), ..Schedule::default() };
        let text = serde_json::to_string(&every).unwrap();
        assert_eq!(text, r#"{"repeat":{"every_ms":3600000}}"#);
        assert_eq!(serde_json::from_str::<Schedule>(&text).unwrap(), every);
    }

    #[test]
    fn a_queued_run_waits_for_its_time_unless_the_clock_was_set_back() {
        let pending = |origin, not_before| TaskState::Pending { run: 2, origin, not_before };
        let retry = RunOrigin::Retry { failures: 1, waited_ms: 1000 };
        let at = Some(NOW.plus_ms(1000));
        assert!(is_due(None, &pending(RunOrigin::First, None), NOW));
        for origin in [RunOrigin::First, retry, RunOrigin::Repetition] {
            assert!(!is_due(None, &pending(origin, at), NOW));
            assert!(is_due(None, &pending(origin, at), NOW.plus_ms(1000)));
        }
        let long_ago = Timestamp::default();
        assert!(is_due(None, &pending(retry, at), long_ago));
        assert!(!is_due(None, &pending(RunOrigin::First, at), long_ago));
        let repeated = Schedule { repeat: hourly(), ..Schedule::default() };
        assert!(is_due(Some(&repeated), &pending(RunOrigin::Repetition, at), long_ago));
    }

    proptest! {
        #[test]
        fn the_next_interval_is_the_first_multiple_after_a_time(
            begin in 0_i64..1 << 50, every_ms in 0_u64..1 << 30, after in 0_i64..1 << 50
        ) {
            let after = Timestamp::from_micros(after);
            let begin = Timestamp::from_micros(begin);
            let next = next_interval(begin, every_ms, after);
            let every_us = (every_ms.max(SHORTEST_INTERVAL_MS) * 1000) as i64;
            prop_assert!(next > after && next.as_micros() - after.as_micros() <= every_us);
            prop_assert_eq!((next.as_micros() - begin.as_micros()) % every_us, 0);
        }
    }
}
