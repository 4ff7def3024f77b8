//! Watches the session for events of its tasks, notifications and approval requests.

use std::convert::Infallible;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use meanwhile::engine::Runtime;
use meanwhile::{Error, Scope, Settings};
use mw_desk::open_requests;

use super::core::Message;

/// The maximum time between two checks without a wake-up. The settings may contain a shorter time, because a wake-up
/// may be lost.
const MAX_CHECK_INTERVAL: Duration = Duration::from_secs(3600);
/// The minimum time between two messages that only tasks of other sessions have changed.
const QUIET_EVERY: Duration = Duration::from_secs(1);
/// The time between a failure and the next attempt.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// Reports changes until the chat ends.
pub(super) fn start(settings: Settings, session: String, keep: Duration, messages: Sender<Message>) {
    thread::spawn(move || {
        let mut watch = Watch { settings, session, keep, messages, failed: None };
        while watch.go_on().is_ok() {
            thread::sleep(RETRY_DELAY);
        }
    });
}

struct Watch {
    settings: Settings,
    session: String,
    keep: Duration,
    messages: Sender<Message>,
    /// The last failure. Each failure is reported once.
    failed: Option<String>,
}

/// The reason why the watch stops.
enum WatchEnd {
    /// The chat has ended.
    ChatEnded,
    Failed(Error),
}

impl From<Error> for WatchEnd {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Watch {
    /// Watches until an error occurs, and reports it. The caller retries.
    fn go_on(&mut self) -> Result<(), WatchEnd> {
        let error = match self.watch() {
            Ok(never) => match never {},
            Err(WatchEnd::ChatEnded) => return Err(WatchEnd::ChatEnded),
            Err(WatchEnd::Failed(error)) => error.to_string(),
        };
        if self.failed.as_ref() != Some(&error) {
            self.send(Message::Failed(format!("notifications are delayed ({error}); retrying")))?;
            self.failed = Some(error);
        }
        Ok(())
    }

    fn watch(&mut self) -> Result<Infallible, WatchEnd> {
        // Opened again after each failure, and not shared, because the subscription borrows it.
        let runtime = Runtime::open(self.settings.clone())?;
        let mut subscription = runtime.notifications().subscribe(Scope::Session(self.session.clone()))?;
        // Changes before the subscription are not reported by it.
        self.send(Message::Happened)?;
        let (mut before, mut reported_at) = (None, Instant::now());
        loop {
            let asked = open_requests(&runtime, Some(&self.session), self.keep)?;
            if before.as_ref() != Some(&asked) {
                before = Some(asked.clone());
                self.send(Message::Proposed(asked))?;
            }
            let happened = !subscription.next_or_wake_up(MAX_CHECK_INTERVAL)?.is_empty();
            self.failed = None;
            if happened {
                self.send(Message::Happened)?;
            } else if reported_at.elapsed() >= QUIET_EVERY {
                reported_at = Instant::now();
                self.send(Message::Quiet)?;
            }
        }
    }

    fn send(&self, message: Message) -> Result<(), WatchEnd> {
        self.messages.send(message).map_err(|_| WatchEnd::ChatEnded)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use meanwhile::settings::Executables;

    use super::*;

    const SOON: Duration = Duration::from_secs(30);

    #[test]
    fn a_failing_store_is_reported_once_and_watched_again_when_it_works() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        std::fs::write(&home, "not a directory").unwrap();
        let programs =
            Executables { supervisor: "mw-supervisor".into(), settle: Vec::new(), starter_exits: false };
        let settings = Settings::new(home.clone(), programs);
        let (messages, inbox) = channel();
        let mut watch = Watch { settings, session: "chat-1".to_owned(), keep: SOON, messages, failed: None };
        for _ in 0..3 {
            assert!(watch.go_on().is_ok(), "the watch can be retried");
        }
        let received: Vec<_> = inbox.try_iter().collect();
        let [Message::Failed(text)] = &*received else { panic!("expected exactly one failure message") };
        assert!(text.starts_with("notifications are delayed ("), "{text}");
        std::fs::remove_file(&home).unwrap();
        thread::spawn(move || watch.go_on());
        assert!(matches!(inbox.recv_timeout(SOON), Ok(Message::Happened)), "missed changes are checked");
        assert!(matches!(inbox.recv_timeout(SOON), Ok(Message::Proposed(asked)) if asked.is_empty()));
    }
}
