//! Flow control towards the screen. An agent may send more than the screen can process, so only a limited part of the
//! conversation is in transit: further senders wait, and so does the agent. Keys and their effects never wait.

use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use mw_desk::chat::ChatNews;

use crate::screen;

/// How many entries may be on their way.
const WIDTH: usize = 512;

/// The way to the screen.
#[derive(Clone)]
pub struct Post {
    post: screen::Post<Sent>,
    window: Arc<Window>,
}

/// Where the screen listens.
pub type Door = screen::Door<Sent>;

/// News on their way.
pub struct Sent {
    pub(super) news: ChatNews,
    /// Released when they were processed, or when the receiver is gone.
    _place: Option<Place>,
}

impl Post {
    /// Sends a message to the screen once there is room for it.
    pub fn tell(&self, news: ChatNews) {
        let place = match &news {
            ChatNews::Entry(_) => Some(Place::take(&self.window)),
            ChatNews::Tasks(_)
            | ChatNews::Asked(_)
            | ChatNews::Settled(_)
            | ChatNews::Agent(_)
            | ChatNews::Waiting(_)
            | ChatNews::Leaving(_)
            | ChatNews::Replayed
            | ChatNews::Failed(_) => None,
        };
        self.post.tell(Sent { news, _place: place });
    }
}

/// Makes the way to the screen, before there is one.
///
/// # Errors
/// When the system has no sockets left.
pub fn door() -> io::Result<(Post, Door)> {
    let (post, door) = screen::door()?;
    Ok((Post { post, window: Arc::default() }, door))
}

#[derive(Default)]
struct Window {
    taken: Mutex<usize>,
    freed: Condvar,
}

struct Place(Arc<Window>);

impl Place {
    fn take(window: &Arc<Window>) -> Self {
        let taken = window.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |taken: &mut usize| *taken >= WIDTH;
        let mut taken = window.freed.wait_while(taken, is_full).unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
        Self(Arc::clone(window))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use mw_desk::chat::Entry;

    use super::*;

    #[test]
    fn whoever_tells_more_than_the_screen_takes_waits_and_nobody_waits_for_a_screen_that_is_gone() {
        let (post, door) = door().unwrap();
        let told = AtomicUsize::new(0);
        let until = |number: usize| {
            let end = Instant::now() + Duration::from_secs(30);
            while told.load(Ordering::SeqCst) < number {
                assert!(Instant::now() < end, "{told:?} of {number}");
                std::thread::yield_now();
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..WIDTH * 4 {
                    post.tell(ChatNews::Entry(Entry::Said { text: "x".to_owned() }));
                    told.fetch_add(1, Ordering::SeqCst);
                }
            });
            until(WIDTH);
            // Messages outside the conversation always pass.
            post.tell(ChatNews::Replayed);
            assert_eq!(told.load(Ordering::SeqCst), WIDTH);
            // Each processed message makes room for another.
            drop(Place(Arc::clone(&post.window)));
            until(WIDTH + 1);
            *post.window.taken.lock().unwrap() += 1;
            drop(door);
            until(WIDTH * 4);
        });
    }
}
