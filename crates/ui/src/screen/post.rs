//! Sends input from other threads to the thread that owns the terminal.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Instant;

/// What other threads have for the main one.
pub(super) enum Message<News> {
    News(News),
    Signal(i32),
    Crashed,
    /// A program that had the terminal has ended, or could not be waited for.
    Ended(io::Result<ExitStatus>),
}

/// The way to the screen.
pub struct Post<News> {
    sender: Sender<Message<News>>,
    wake: Arc<UnixStream>,
}

impl<News> Clone for Post<News> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), wake: Arc::clone(&self.wake) }
    }
}

impl<News: Send + 'static> Post<News> {
    /// Sends a message to the screen.
    pub fn tell(&self, news: News) {
        self.send(Message::News(news));
    }

    pub(super) fn send(&self, message: Message<News>) {
        // The screen may be gone.
        let _ = self.sender.send(message);
        // A pipe that is full wakes just as well.
        let _ = (&*self.wake).write(&[1]);
    }

    /// Runs something on a separate thread; if it panics, the main thread leaves.
    pub(crate) fn spawn(&self, work: impl FnOnce(&Self) + Send + 'static) {
        struct Guard<News: Send + 'static>(Post<News>);
        impl<News: Send + 'static> Drop for Guard<News> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.send(Message::Crashed);
                }
            }
        }
        let guard = Guard(self.clone());
        std::thread::spawn(move || work(&guard.0));
    }
}

/// Where the screen listens.
pub struct Door<News> {
    inbox: Receiver<Message<News>>,
    woken: UnixStream,
    pub(super) post: Post<News>,
}

impl<News> Door<News> {
    /// Returns the next message, if one is there.
    pub(super) fn next(&self) -> Option<Message<News>> {
        self.inbox.try_recv().ok()
    }

    /// Returns the next message, if one is there and the time is not over: whoever never falls silent is heard in
    /// rounds.
    pub(super) fn next_until(&self, end: Instant) -> Option<Message<News>> {
        if Instant::now() < end { self.next() } else { None }
    }

    /// Clears the wake-up; the messages stay.
    pub(super) fn hush(&self) {
        while matches!((&self.woken).read(&mut [0; 64]), Ok(1..)) {}
    }
}

impl<News> AsFd for Door<News> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }
}

/// Makes the way to the screen, before there is one.
///
/// # Errors
/// When the system has no sockets left.
pub fn door<News>() -> io::Result<(Post<News>, Door<News>)> {
    let (wake, woken) = UnixStream::pair()?;
    wake.set_nonblocking(true)?;
    woken.set_nonblocking(true)?;
    let (sender, inbox) = mpsc::channel();
    let post = Post { sender, wake: Arc::new(wake) };
    Ok((post.clone(), Door { inbox, woken, post }))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn whoever_never_falls_silent_is_heard_in_rounds() {
        let (post, door) = door::<u8>().unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    post.tell(7);
                }
            });
            for _ in 0..3 {
                let end = Instant::now() + Duration::from_millis(20);
                while door.next_until(end).is_some() {}
            }
            is_over.store(true, Ordering::Relaxed);
        });
        let end = Instant::now() + Duration::from_secs(60);
        while door.next_until(end).is_some() {}
        assert!(door.next_until(Instant::now()).is_none());
        post.tell(7);
        assert!(door.next_until(end).is_some(), "nothing is lost");
    }
}
