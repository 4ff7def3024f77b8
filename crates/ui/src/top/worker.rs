//! The thread that queries the desk, so that the main thread never waits.

use std::sync::mpsc::{self, Receiver, Sender};

use meanwhile::engine::{Clock, SystemClock};
use mw_desk::Desk;
use mw_desk::log_window::LogPart;
use mw_desk::text::error_text;

use super::effect::Lookup;
use super::event::Event;
use super::program::Post;
use super::sampler::Sampler;

/// A thread that answers one question after the other.
pub(super) struct Worker(Sender<Lookup>);

impl Worker {
    pub(super) fn start(desk: &Desk, post: &Post) -> Self {
        let (sender, questions) = mpsc::channel();
        let (desk, sampler) = (desk.clone(), Sampler::start(desk, post));
        post.spawn(move |post| answer(&desk, &sampler, &questions, post));
        Self(sender)
    }

    pub(super) fn ask(&self, question: Lookup) {
        // Without the thread the program is about to leave.
        let _ = self.0.send(question);
    }
}

fn answer(desk: &Desk, sampler: &Sampler, questions: &Receiver<Lookup>, post: &Post) {
    while let Ok(first) = questions.recv() {
        let mut asked = vec![first];
        asked.extend(questions.try_iter());
        only_last(&mut asked).for_each(|question| post.tell(answer_one(desk, sampler, question)));
    }
}

/// Skips lookups that were repeated meanwhile, so that slow answers do not pile up.
fn only_last(asked: &mut Vec<Lookup>) -> impl Iterator<Item = Lookup> {
    let is_again = |at: usize| {
        asked[at + 1..].iter().any(|later| match (&asked[at], later) {
            (Lookup::Facts(_), Lookup::Facts(_)) | (Lookup::Runs(_), Lookup::Runs(_)) => true,
            (_, _) => false,
        })
    };
    let kept: Vec<_> = (0..asked.len()).map(|at| !is_again(at)).collect();
    asked.drain(..).zip(kept).filter_map(|(question, is_kept)| is_kept.then_some(question))
}

fn answer_one(desk: &Desk, sampler: &Sampler, question: Lookup) -> Event {
    let answer = match question {
        Lookup::List(query, stretch) => match desk.list(query, &stretch) {
            Ok(listing) => {
                listing.round.into_iter().for_each(|round| sampler.look_at(round));
                Ok(Event::Listed(listing.window))
            }
            // Tried again with the next question, which comes when something happens or can be heard again.
            Err(error) => Ok(Event::Unlisted(error_text(&error))),
        },
        Lookup::Facts(id) => desk.facts(&id).map(|facts| Event::Known(id, facts)),
        Lookup::Runs(ids) => desk.lanes(&ids).map(|lanes| Event::Lanes(lanes, SystemClock.now())),
        Lookup::Sessions => desk.sessions().map(Event::SessionsKnown),
        Lookup::Attachable(id) => desk.takes_input(&id).map(|takes_input| match takes_input {
            true => Event::Attachable(id),
            false => Event::Failed(format!(
                "{id} has no input to attach to: it was started without --pty or --stdin"
            )),
        }),
        Lookup::Outcome(id) => {
            desk.verdict(&id).map(|verdict| Event::Told(format!("{id} {}", verdict.words())))
        }
        Lookup::LogBefore(target, offset) => Ok(match desk.read_log(&target, LogPart::Before(offset)) {
            Ok(chunk) => Event::ReadEarlier(target, chunk),
            Err(error) => Event::Unreadable(target, error_text(&error)),
        }),
    };
    answer.unwrap_or_else(|error| Event::Failed(error_text(&error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_again_is_answered_once() {
        let know = |id: &str| Lookup::Facts(id.to_owned());
        let mut asked = vec![know("a"), Lookup::Sessions, know("a"), Lookup::Runs(Vec::new()), know("b")];
        let left: Vec<_> = only_last(&mut asked).collect();
        assert_eq!(left, [Lookup::Sessions, Lookup::Runs(Vec::new()), know("b")]);
    }
}
