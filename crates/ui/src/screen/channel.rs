//! Sends input from other threads to the thread that owns the terminal.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Instant;

/// A message to the main thread.
pub(super) enum Message<E> {
    Event(E),
    Signal(i32),
    Crashed,
    /// The program that had the terminal has ended, or waiting for it failed.
    Ended(io::Result<ExitStatus>),
}

/// Sends messages to the main thread and wakes it.
pub struct EventSender<E> {
    sender: Sender<Message<E>>,
    wake: Arc<UnixStream>,
}

impl<E> Clone for EventSender<E> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), wake: Arc::clone(&self.wake) }
    }
}

impl<E: Send + 'static> EventSender<E> {
    /// Sends an event to the main thread.
    pub fn send(&self, event: E) {
        self.send_message(Message::Event(event));
    }

    pub(super) fn send_message(&self, message: Message<E>) {
        // The receiver may already be dropped.
        let _ = self.sender.send(message);
        // A full socket buffer wakes the main thread as well, so a failed write is ignored.
        let _ = (&*self.wake).write(&[1]);
    }

    /// Runs a closure on a separate thread. If it panics, the main loop ends.
    pub(crate) fn spawn(&self, work: impl FnOnce(&Self) + Send + 'static) {
        struct Guard<E: Send + 'static>(EventSender<E>);
        impl<E: Send + 'static> Drop for Guard<E> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.send_message(Message::Crashed);
                }
            }
        }
        let guard = Guard(self.clone());
        std::thread::spawn(move || work(&guard.0));
    }
}

/// Receives messages on the main thread.
pub struct EventReceiver<E> {
    inbox: Receiver<Message<E>>,
    woken: UnixStream,
    pub(super) events: EventSender<E>,
}

impl<E> EventReceiver<E> {
    /// Returns the next message, if there is one.
    pub(super) fn next(&self) -> Option<Message<E>> {
        self.inbox.try_recv().ok()
    }

    /// Returns the next message, if there is one and `end` has not passed. The limit keeps a constant stream of
    /// messages from blocking the main loop.
    pub(super) fn next_until(&self, end: Instant) -> Option<Message<E>> {
        if Instant::now() < end { self.next() } else { None }
    }

    /// Clears the wake-up. Queued messages are kept.
    pub(super) fn clear_wake_up(&self) {
        while matches!((&self.woken).read(&mut [0; 64]), Ok(1..)) {}
    }
}

impl<E> AsFd for EventReceiver<E> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }
}

/// Creates a connected sender and receiver.
///
/// # Errors
/// Fails if no socket pair can be created.
pub fn channel<E>() -> io::Result<(EventSender<E>, EventReceiver<E>)> {
    let (wake, woken) = UnixStream::pair()?;
    wake.set_nonblocking(true)?;
    woken.set_nonblocking(true)?;
    let (sender, inbox) = mpsc::channel();
    let events = EventSender { sender, wake: Arc::new(wake) };
    Ok((events.clone(), EventReceiver { inbox, woken, events }))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_constant_stream_of_messages_is_received_in_rounds() {
        let (events, receiver) = channel::<u8>().unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    events.send(7);
                }
            });
            for _ in 0..3 {
                let end = Instant::now() + Duration::from_millis(20);
                while receiver.next_until(end).is_some() {}
            }
            is_over.store(true, Ordering::Relaxed);
        });
        let end = Instant::now() + Duration::from_secs(60);
        while receiver.next_until(end).is_some() {}
        assert!(receiver.next_until(Instant::now()).is_none());
        events.send(7);
        assert!(receiver.next_until(end).is_some(), "a later message arrives");
    }
}
