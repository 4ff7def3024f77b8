//! The only function that decides transitions. Recovery also replays events through it.

use super::event::Event;
use super::state::{RunOrigin, Status, TaskState};

/// An event that cannot happen in a state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a task that is {status} cannot be {event}")]
pub struct TransitionRefused {
    /// The word for the state.
    pub status: &'static str,
    /// The word for the event.
    pub event: &'static str,
}

/// Returns the state after `event`, or why the event is impossible.
///
/// Every pair is listed, so that the compiler requires a decision for each new state or event. Terminal states are
/// final: only another run leaves them.
///
/// # Errors
/// When the event cannot happen in this state.
pub fn next_state(state: &TaskState, event: &Event) -> Result<TaskState, TransitionRefused> {
    use TaskState::{Cancelling, Ended, Pending, Running, Starting};

    let refused = || Err(TransitionRefused { status: state.status().word(), event: event.word() });
    match (event, state) {
        (Event::Reserved { since }, Pending { run, origin, .. }) => {
            Ok(Starting { run: *run, origin: *origin, since: *since })
        }
        (Event::Reserved { .. }, Starting { .. } | Running { .. } | Cancelling { .. } | Ended { .. }) => {
            refused()
        }

        (Event::Released, Starting { run, origin, .. }) => {
            Ok(Pending { run: *run, origin: *origin, not_before: None })
        }
        (Event::Released, Pending { .. } | Running { .. } | Cancelling { .. } | Ended { .. }) => refused(),

        (Event::Started { process, started_at }, Starting { run, origin, .. }) => {
            let (process, started_at) = (process.clone(), *started_at);
            Ok(Running { run: *run, origin: *origin, process, started_at, ready: None })
        }
        (Event::Started { .. }, Pending { .. } | Running { .. } | Cancelling { .. } | Ended { .. }) => {
            refused()
        }

        (Event::KillRequested { by, .. }, Running { run, process, started_at, ready, origin }) => {
            let (process, by) = (process.clone(), by.clone());
            Ok(Cancelling { run: *run, process, started_at: *started_at, by, origin: *origin, ready: *ready })
        }
        // A second kill, even with a stronger signal, does not change the requester.
        (Event::KillRequested { .. }, Cancelling { .. }) => Ok(state.clone()),
        // Children that outlived the first process may still be killed.
        (Event::KillRequested { .. }, Ended { .. }) => Ok(state.clone()),
        (Event::KillRequested { .. }, Pending { .. } | Starting { .. }) => refused(),

        (
            Event::Ended { cause, ended_at, output_lost },
            Pending { .. } | Starting { .. } | Running { .. } | Cancelling { .. },
        ) => Ok(Ended {
            run: state.run(),
            started_at: state.started_at(),
            ended_at: *ended_at,
            cause: cause.clone(),
            origin: state.origin(),
            ready: state.ready(),
            output_lost: *output_lost,
        }),
        (Event::Ended { .. }, Ended { .. }) => refused(),

        // A follow-up requires an earlier answer.
        (Event::Requeued { origin: RunOrigin::Resume, .. }, Ended { .. })
            if state.status() != Status::Completed =>
        {
            refused()
        }
        (Event::Requeued { origin, not_before }, Ended { run, .. }) => {
            Ok(Pending { run: run + 1, origin: *origin, not_before: *not_before })
        }
        (Event::Requeued { .. }, Pending { .. } | Starting { .. } | Running { .. } | Cancelling { .. }) => {
            refused()
        }

        (Event::Stalled { .. }, Running { .. } | Cancelling { .. } | Ended { .. }) => Ok(state.clone()),
        (Event::Stalled { .. }, Pending { .. } | Starting { .. }) => refused(),

        (Event::Ready { ready_at, .. }, Running { ready: None, .. } | Cancelling { ready: None, .. }) => {
            let mut state = state.clone();
            if let Running { ready, .. } | Cancelling { ready, .. } = &mut state {
                *ready = Some(*ready_at);
            }
            Ok(state)
        }
        // A task becomes ready once per run, and never after its end.
        (Event::Ready { .. }, Running { ready: Some(_), .. } | Cancelling { ready: Some(_), .. }) => {
            refused()
        }
        (Event::Ready { .. }, Pending { .. } | Starting { .. } | Ended { .. }) => refused(),

        (Event::Progress { .. }, Running { .. } | Cancelling { .. }) => Ok(state.clone()),
        (Event::Progress { .. }, Pending { .. } | Starting { .. } | Ended { .. }) => refused(),

        (Event::MovedToBackground { .. }, Starting { .. } | Running { .. } | Cancelling { .. }) => {
            Ok(state.clone())
        }
        (Event::MovedToBackground { .. }, Pending { .. } | Ended { .. }) => refused(),

        (
            Event::Reassigned { .. },
            Pending { .. } | Starting { .. } | Running { .. } | Cancelling { .. } | Ended { .. },
        ) => Ok(state.clone()),

        (Event::TreeEmpty, Ended { .. }) => Ok(state.clone()),
        (Event::TreeEmpty, Pending { .. } | Starting { .. } | Running { .. } | Cancelling { .. }) => {
            refused()
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::task::cause::{Cause, Exit};
    use crate::task::progress::Progress;
    use crate::task::state::Process;
    use crate::time::Timestamp;

    fn process() -> Process {
        Process { pid: 7, start_ticks: 9, boot_id: "boot".to_owned() }
    }

    fn pending() -> TaskState {
        TaskState::Pending { run: 1, origin: RunOrigin::First, not_before: None }
    }

    fn all_events() -> Vec<Event> {
        let at = Timestamp::from_micros(5);
        vec![
            Event::Reserved { since: Timestamp::default() },
            Event::Released,
            Event::Started { process: process(), started_at: at },
            Event::KillRequested { by: "user".to_owned(), signal: 15 },
            Event::Ended { cause: Cause::Exited { code: 0 }, ended_at: at, output_lost: false },
            Event::Ended { cause: Cause::Lost { reason: "x".to_owned() }, ended_at: at, output_lost: false },
            Event::Requeued { origin: RunOrigin::Restart, not_before: None },
            Event::Stalled { prompt: "y/n".to_owned() },
            Event::Ready { what: "port 80".to_owned(), ready_at: at },
            Event::Progress { progress: Progress::default() },
            Event::MovedToBackground { handle_number: 1 },
            Event::TreeEmpty,
        ]
    }

    fn any_events() -> impl Strategy<Value = Vec<Event>> {
        proptest::collection::vec(proptest::sample::select(all_events()), 0..60)
    }

    fn replay(events: &[Event]) -> Result<TaskState, TransitionRefused> {
        events.iter().try_fold(pending(), |state, event| next_state(&state, event))
    }

    #[test]
    fn a_task_can_run_end_and_be_resumed() {
        let at = Timestamp::from_micros(5);
        let state = replay(&[
            Event::Reserved { since: Timestamp::default() },
            Event::Started { process: process(), started_at: at },
            Event::Ended { cause: Cause::Exited { code: 0 }, ended_at: at, output_lost: false },
            Event::Requeued { origin: RunOrigin::Resume, not_before: None },
            Event::Reserved { since: Timestamp::default() },
            Event::Started { process: process(), started_at: at },
        ]);
        let state = state.unwrap();
        assert_eq!((state.status(), state.run()), (Status::Resumed, 2));
    }

    #[test]
    fn a_cancelled_task_is_cancelled_even_if_it_exits_with_zero() {
        let at = Timestamp::from_micros(5);
        let cause = Cause::Cancelled { by: "user".to_owned(), exit: Some(Exit::Code(0)) };
        let state = replay(&[
            Event::Reserved { since: Timestamp::default() },
            Event::Started { process: process(), started_at: at },
            Event::KillRequested { by: "user".to_owned(), signal: 15 },
            Event::Ended { cause, ended_at: at, output_lost: false },
        ]);
        assert_eq!(state.unwrap().status(), Status::Cancelled);
    }

    #[test]
    fn a_run_becomes_ready_at_most_once_and_not_after_its_end() {
        let (at, later) = (Timestamp::from_micros(5), Timestamp::from_micros(9));
        let ready = |ready_at| Event::Ready { what: "port 80".to_owned(), ready_at };
        let begun = [Event::Reserved { since: at }, Event::Started { process: process(), started_at: at }];
        let running = replay(&begun).unwrap();
        assert_eq!(running.ready(), None);
        let state = next_state(&running, &ready(at)).unwrap();
        assert!(next_state(&state, &ready(later)).is_err());
        let ended = Event::Ended { cause: Cause::Exited { code: 0 }, ended_at: at, output_lost: false };
        let ended_ready = next_state(&state, &ended).unwrap();
        assert_eq!(ended_ready.ready(), Some(at));
        let ended_unready = next_state(&running, &ended).unwrap();
        assert!(next_state(&ended_unready, &ready(later)).is_err());
        let restarted =
            next_state(&ended_ready, &Event::Requeued { origin: RunOrigin::Restart, not_before: None })
                .unwrap();
        assert_eq!(restarted.ready(), None);
    }

    #[test]
    fn a_pending_task_can_be_cancelled_but_not_signalled() {
        let cause = Cause::Cancelled { by: "user".to_owned(), exit: None };
        let ended = next_state(
            &pending(),
            &Event::Ended { cause, ended_at: Timestamp::default(), output_lost: false },
        );
        assert_eq!(ended.unwrap().status(), Status::Cancelled);
        let refusal =
            next_state(&pending(), &Event::KillRequested { by: "u".to_owned(), signal: 9 }).unwrap_err();
        assert_eq!(refusal.to_string(), "a task that is pending cannot be kill_requested");
    }

    #[test]
    fn only_a_completed_task_can_be_resumed_and_it_stays_completed() {
        let at = Timestamp::default();
        let ended = |cause| Event::Ended { cause, ended_at: at, output_lost: false };
        let resume = Event::Requeued { origin: RunOrigin::Resume, not_before: None };
        let failed = next_state(&pending(), &ended(Cause::Lost { reason: "x".to_owned() })).unwrap();
        assert!(next_state(&failed, &resume).is_err());
        let answered = next_state(&pending(), &ended(Cause::Exited { code: 0 })).unwrap();
        let resumed = next_state(&answered, &resume).unwrap();
        assert!(next_state(&resumed, &resume).is_err(), "a second follow-up before the first has ended");
        let again = next_state(&resumed, &ended(Cause::Exited { code: 1 })).unwrap();
        assert_eq!(again.status(), Status::Completed);
        assert!(next_state(&again, &resume).is_ok());
        let restarted =
            next_state(&again, &Event::Requeued { origin: RunOrigin::Restart, not_before: None }).unwrap();
        let failed = next_state(&restarted, &ended(Cause::Exited { code: 1 })).unwrap();
        assert_eq!(failed.status(), Status::Failed);
    }

    proptest! {
        #[test]
        fn a_terminal_state_changes_only_when_requeued(events in any_events()) {
            let mut state = pending();
            for event in &events {
                let Ok(after) = next_state(&state, event) else { continue };
                if state.status().is_terminal() && !matches!(event, Event::Requeued { .. }) {
                    prop_assert_eq!(&after, &state);
                }
                prop_assert!(after.run() >= state.run());
                prop_assert_eq!(after.status().is_terminal(), matches!(after, TaskState::Ended { .. }));
                state = after;
            }
        }

        #[test]
        fn only_exit_code_zero_completes_a_task_that_is_not_a_follow_up(events in any_events()) {
            let mut state = pending();
            for event in &events {
                let Ok(after) = next_state(&state, event) else { continue };
                let succeeded = after.status() == Status::Completed && state.status() != Status::Completed;
                let seen = matches!(event, Event::Ended { cause: Cause::Exited { code: 0 }, .. });
                let is_follow_up = matches!(state, TaskState::Pending { origin: RunOrigin::Resume, .. }
                    | TaskState::Starting { origin: RunOrigin::Resume, .. }
                    | TaskState::Running { origin: RunOrigin::Resume, .. }
                    | TaskState::Cancelling { origin: RunOrigin::Resume, .. });
                prop_assert!(!succeeded || seen || is_follow_up);
                state = after;
            }
        }
    }
}
