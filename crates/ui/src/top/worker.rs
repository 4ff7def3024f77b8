//! The threads that query the desk. The main thread never waits for a query, a measurement or a change.

use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use meanwhile::engine::{Clock, SystemClock};
use mw_desk::log_window::LogPart;
use mw_desk::text::error_text;
use mw_desk::{Desk, DeskChange, Round};

use super::effect::Lookup;
use super::event::Event;
use super::program::EventSender;

/// The time between a failed watch and the next attempt.
const WATCH_RETRY_DELAY: Duration = Duration::from_secs(2);

/// A thread that answers lookups in order.
pub(super) struct Worker(Sender<Lookup>);

impl Worker {
    pub(super) fn start(desk: &Desk, events: &EventSender) -> Self {
        let (sender, questions) = mpsc::channel();
        let (desk, rounds) = (desk.clone(), sample(desk.clone(), events));
        events.spawn(move |events| answer(&desk, &rounds, &questions, events));
        Self(sender)
    }

    pub(super) fn ask(&self, question: Lookup) {
        // If the thread has ended, the program is about to end as well.
        let _ = self.0.send(question);
    }
}

fn answer(desk: &Desk, rounds: &Sender<Round>, questions: &Receiver<Lookup>, events: &EventSender) {
    while let Ok(first) = questions.recv() {
        let mut asked = vec![first];
        asked.extend(questions.try_iter());
        only_last(&mut asked);
        asked.into_iter().for_each(|question| events.send(answer_one(desk, rounds, question)));
    }
}

/// Drops lookups that a later one replaces. Slow replies then do not accumulate.
fn only_last(asked: &mut Vec<Lookup>) {
    for at in (0..asked.len()).rev() {
        let is_repeated = asked[at + 1..].iter().any(|later| {
            matches!(
                (&asked[at], later),
                (Lookup::Facts(_), Lookup::Facts(_)) | (Lookup::Runs(_), Lookup::Runs(_))
            )
        });
        if is_repeated {
            asked.remove(at);
        }
    }
}

fn answer_one(desk: &Desk, rounds: &Sender<Round>, question: Lookup) -> Event {
    let answer = match question {
        Lookup::List(query, range) => match desk.list(query, &range) {
            Ok(listing) => {
                // If the thread has ended, the program is about to end as well.
                listing.round.into_iter().for_each(|round| _ = rounds.send(round));
                Ok(Event::Listed(listing.window))
            }
            // The list is requested again after the next change, or when the watch works again.
            Err(error) => Ok(Event::ListFailed(error_text(&error))),
        },
        Lookup::Facts(id) => desk.facts(&id).map(|facts| Event::Facts(id, facts)),
        Lookup::Runs(ids) => desk.lanes(&ids).map(|lanes| Event::Lanes(lanes, SystemClock.now())),
        Lookup::Sessions => desk.sessions().map(Event::Sessions),
        Lookup::Attachable(id) => desk.takes_input(&id).map(|takes_input| match takes_input {
            true => Event::Attachable(id),
            false => Event::Failed(format!(
                "{id} has no input to attach to: it was started without --pty or --stdin"
            )),
        }),
        Lookup::Outcome(id) => {
            desk.outcome(&id).map(|outcome| Event::AnsweredElsewhere(format!("{id} {outcome}")))
        }
        Lookup::LogAfter(target, offset) => Ok(match desk.read_log(&target, LogPart::From(offset)) {
            Ok(chunk) => Event::ReadLater(target, chunk),
            Err(error) => Event::Unreadable(target, error_text(&error)),
        }),
        Lookup::LogStart(target) => Ok(match desk.read_log(&target, LogPart::From(0)) {
            Ok(chunk) => Event::ReadStart(target, chunk),
            Err(error) => Event::Unreadable(target, error_text(&error)),
        }),
        Lookup::LogBefore(target, offset) => Ok(match desk.read_log(&target, LogPart::Before(offset)) {
            Ok(chunk) => Event::ReadEarlier(target, chunk),
            Err(error) => Event::Unreadable(target, error_text(&error)),
        }),
    };
    answer.unwrap_or_else(|error| Event::Failed(error_text(&error)))
}

/// Starts the thread that measures the resource usage of tasks. It is separate, because a supervisor may not answer.
fn sample(desk: Desk, events: &EventSender) -> Sender<Round> {
    let (sender, rounds) = mpsc::channel::<Round>();
    events.spawn(move |events| {
        while let Ok(first) = rounds.recv() {
            // After a slow round, only the newest request is performed.
            let round = rounds.try_iter().last().unwrap_or(first);
            // A new task gets its second sample within a second. The next list reports a broken home directory.
            if desk.sample(&round).is_ok_and(|is_first| is_first) {
                events.send(Event::TasksChanged);
            }
        }
    });
    sender
}

/// Starts the thread that reports changes of tasks and approval requests. Failures are shown and retried as long as the
/// screen is open, because an outdated screen must be visible as such.
pub(super) fn watch(desk: Desk, events: &EventSender) {
    events.spawn(move |events| {
        loop {
            let watched = desk.watch(|change| {
                events.send(match change {
                    DeskChange::Watching => Event::WatchStarted,
                    DeskChange::Tasks => Event::TasksChanged,
                    DeskChange::Asked(asked) => Event::Asked(asked),
                });
                ControlFlow::Continue(())
            });
            if let Err(error) = watched {
                events.send(Event::WatchFailed(error_text(&error)));
            }
            std::thread::sleep(WATCH_RETRY_DELAY);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lookup_of_each_kind_is_answered() {
        let know = |id: &str| Lookup::Facts(id.to_owned());
        let mut asked = vec![know("a"), Lookup::Sessions, know("a"), Lookup::Runs(Vec::new()), know("b")];
        only_last(&mut asked);
        assert_eq!(asked, [Lookup::Sessions, Lookup::Runs(Vec::new()), know("b")]);
    }
}
