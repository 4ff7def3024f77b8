//! Flow control towards the screen.
//!
//! An agent may send more than the screen can process, so only a limited part of the conversation is in transit.
//! Further senders wait, and so does the agent. Keys and their effects never wait.

use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use mw_desk::chat_protocol::ChatUpdate;

use crate::screen;

/// The maximum number of entries in transit.
const MAX_IN_TRANSIT: usize = 512;

/// Sends messages to the screen.
#[derive(Clone)]
pub struct EventSender {
    events: screen::EventSender<Sent>,
    in_transit: Arc<InTransit>,
}

/// Receives messages on the main thread.
pub type EventReceiver = screen::EventReceiver<Sent>;

/// A message in transit.
pub struct Sent {
    pub(super) update: ChatUpdate,
    /// The slot of the message. It is freed when the message was processed or the receiver is dropped.
    _slot: Option<Slot>,
}

#[cfg(test)]
impl From<ChatUpdate> for Sent {
    fn from(update: ChatUpdate) -> Self {
        Self { update, _slot: None }
    }
}

impl EventSender {
    /// Sends a message to the screen as soon as there is room for it.
    pub fn tell(&self, update: ChatUpdate) {
        let is_entry = matches!(update, ChatUpdate::Entry(_));
        let _slot = is_entry.then(|| Slot::take(&self.in_transit));
        self.events.send(Sent { update, _slot });
    }
}

/// Creates a connected sender and receiver.
///
/// # Errors
/// Fails if no socket pair can be created.
pub fn door() -> io::Result<(EventSender, EventReceiver)> {
    let (events, receiver) = screen::channel()?;
    Ok((EventSender { events, in_transit: Arc::default() }, receiver))
}

#[derive(Default)]
struct InTransit {
    count: Mutex<usize>,
    freed: Condvar,
}

struct Slot(Arc<InTransit>);

impl Slot {
    fn take(in_transit: &Arc<InTransit>) -> Self {
        let count = in_transit.count.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |count: &mut usize| *count >= MAX_IN_TRANSIT;
        let mut count = in_transit.freed.wait_while(count, is_full).unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        Self(Arc::clone(in_transit))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        *self.0.count.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use mw_desk::chat_protocol::ChatEntry;

    use super::*;

    #[test]
    fn a_sender_waits_for_a_busy_screen_but_not_for_a_closed_one() {
        let (events, receiver) = door().unwrap();
        let sent = AtomicUsize::new(0);
        let until = |number: usize| {
            let end = Instant::now() + Duration::from_secs(30);
            while sent.load(Ordering::SeqCst) < number {
                assert!(Instant::now() < end, "{sent:?} of {number}");
                std::thread::yield_now();
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..MAX_IN_TRANSIT * 4 {
                    events.tell(ChatUpdate::Entry(ChatEntry::Said { text: "x".to_owned() }));
                    sent.fetch_add(1, Ordering::SeqCst);
                }
            });
            until(MAX_IN_TRANSIT);
            // Messages outside the conversation always pass.
            events.tell(ChatUpdate::Replayed);
            assert_eq!(sent.load(Ordering::SeqCst), MAX_IN_TRANSIT);
            // Each processed message makes room for another.
            drop(Slot(Arc::clone(&events.in_transit)));
            until(MAX_IN_TRANSIT + 1);
            *events.in_transit.count.lock().unwrap() += 1;
            drop(receiver);
            until(MAX_IN_TRANSIT * 4);
        });
    }
}
