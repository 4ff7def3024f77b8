//! Looks out for the session: what happens to its tasks, and what is asked on its behalf.

use std::convert::Infallible;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use meanwhile::{Error, Runtime, Scope, Settings};
use mw_desk::chat::ChatQuestion;

use super::office::Message;

/// How long it sleeps while nobody rings; the settings may say less, for a ring may be lost.
const LONGEST: Duration = Duration::from_secs(3600);
/// How often the office is told at most that nothing of its own happened while others rang.
const QUIET_EVERY: Duration = Duration::from_secs(1);
/// How long it rests after a failure.
const PAUSE: Duration = Duration::from_millis(500);

/// Says so whenever something happens, until nobody listens any more.
pub(super) fn start(settings: Settings, session: String, keep: Duration, messages: Sender<Message>) {
    thread::spawn(move || {
        let mut watch = Watch { settings, session, keep, messages, failed: None };
        while watch.go_on().is_ok() {
            thread::sleep(PAUSE);
        }
    });
}

struct Watch {
    settings: Settings,
    session: String,
    keep: Duration,
    messages: Sender<Message>,
    /// What went wrong last; it is said once.
    failed: Option<String>,
}

/// Why it watches no further.
enum Stop {
    /// Nobody listens any more.
    Unheard,
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Watch {
    /// Watches until that fails, and says so; then it can be tried again.
    fn go_on(&mut self) -> Result<(), Stop> {
        let error = match self.watch() {
            Ok(never) => match never {},
            Err(Stop::Unheard) => return Err(Stop::Unheard),
            Err(Stop::Failed(error)) => error.to_string(),
        };
        if self.failed.as_ref() != Some(&error) {
            self.tell(Message::Failed(format!("news come late: {error}; it goes on trying")))?;
            self.failed = Some(error);
        }
        Ok(())
    }

    fn watch(&mut self) -> Result<Infallible, Stop> {
        let runtime = Runtime::open(self.settings.clone())?;
        let mut subscription = runtime.subscribe(Scope::Session(self.session.clone()))?;
        // What happened before, while nobody looked.
        self.tell(Message::Happened)?;
        let (mut before, mut told) = (None, Instant::now());
        loop {
            let open = runtime.open_approvals(self.keep)?.into_iter();
            let ours = open.filter(|entry| entry.proposal.session == self.session);
            let asked: Vec<_> = ours.map(|entry| ChatQuestion::of(&entry.proposal)).collect();
            if before.as_ref() != Some(&asked) {
                before = Some(asked.clone());
                self.tell(Message::Proposed(asked))?;
            }
            let happened = !subscription.next_or_ring(LONGEST)?.is_empty();
            self.failed = None;
            if happened {
                self.tell(Message::Happened)?;
            } else if told.elapsed() >= QUIET_EVERY {
                told = Instant::now();
                self.tell(Message::Quiet)?;
            }
        }
    }

    fn tell(&self, message: Message) -> Result<(), Stop> {
        self.messages.send(message).map_err(|_| Stop::Unheard)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

    use meanwhile::Programs;

    use super::*;

    const SOON: Duration = Duration::from_secs(30);

    fn watched(home: &Path) -> Receiver<Message> {
        let programs =
            Programs { supervisor: "mw-supervisor".into(), settle: Vec::new(), starter_exits: false };
        let settings = Settings::new(home.to_owned(), programs);
        let (messages, inbox) = channel();
        start(settings, "chat-1".to_owned(), SOON, messages);
        inbox
    }

    #[test]
    fn a_store_that_fails_for_a_while_is_said_once_and_watched_again() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().join("home");
        std::fs::write(&home, "no directory").unwrap();
        let inbox = watched(&home);
        match inbox.recv_timeout(SOON).unwrap() {
            Message::Failed(text) => assert!(text.starts_with("news come late: "), "{text}"),
            _ => panic!("it does not say that it cannot watch"),
        }
        // Some tries later it has said nothing more.
        let more = inbox.recv_timeout(PAUSE * 3);
        assert!(matches!(more, Err(RecvTimeoutError::Timeout)));
        std::fs::remove_file(&home).unwrap();
        assert!(matches!(inbox.recv_timeout(SOON), Ok(Message::Happened)), "what was missed is looked at");
        assert!(matches!(inbox.recv_timeout(SOON), Ok(Message::Proposed(asked)) if asked.is_empty()));
    }
}
