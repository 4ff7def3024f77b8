//! Reads the log of the selected task, and what it prints from then on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use meanwhile::{Error, From, ReadReply, ReadRequest, Runtime};

use super::event::Event;
use super::log::{LogChunk, LogTarget};
use super::program::{Options, Post};
use super::worker::told;

/// What is read at first, and at most at once.
pub(super) const STRETCH: u64 = 512 << 10;
/// More than this behind, a reader jumps to the end.
const FAR_BEHIND: u64 = 4 * STRETCH;
/// Longest silence between two looks; the supervisor wakes us before.
const LONGEST: Duration = Duration::from_secs(2);
/// Nobody reads faster than the screen changes.
const BREATH: Duration = Duration::from_millis(30);

/// One thread per log that is looked at; a thread whose log is no longer the one ends at its next step.
pub(super) struct Reader {
    options: Arc<Options>,
    post: Post,
    turn: Arc<AtomicU64>,
}

impl Reader {
    pub(super) fn new(options: Arc<Options>, post: Post) -> Self {
        Self { options, post, turn: Arc::new(AtomicU64::new(0)) }
    }

    /// Reads this log from now on, and no other.
    pub(super) fn follow(&self, target: Option<LogTarget>) {
        let mine = self.turn.fetch_add(1, Ordering::SeqCst) + 1;
        let Some(target) = target else { return };
        let (options, turn) = (Arc::clone(&self.options), Arc::clone(&self.turn));
        self.post.spawn(move |post| {
            let is_mine = || turn.load(Ordering::SeqCst) == mine;
            // Whoever holds a key down passes over most logs.
            std::thread::sleep(BREATH);
            if let Err(error) = read_on(&options, post, &target, is_mine) {
                post.tell(Event::Unreadable(target, told(&error)));
            }
        });
    }
}

fn read_on(
    options: &Options,
    post: &Post,
    target: &LogTarget,
    is_mine: impl Fn() -> bool,
) -> Result<(), Error> {
    let runtime = Runtime::open(options.settings.clone())?;
    let scope = options.scope();
    let id = runtime.resolve(&target.id, &scope)?;
    let mut request = ReadRequest {
        stream: target.stream,
        from: From::TailBytes(STRETCH),
        max_bytes: STRETCH,
        run: Some(target.run),
        ..ReadRequest::default()
    };
    let mut first = true;
    let mut skipped = 0;
    while is_mine() {
        let reply = runtime.read_shown(&target.id, &scope, &request)?;
        if first || !reply.pieces.is_empty() {
            post.tell(Event::Read(target.clone(), chunk(&reply, skipped)));
            first = false;
        }
        if reply.eof {
            return Ok(());
        }
        skipped = 0;
        request.from = From::Offset(reply.next_offset);
        if reply.left > FAR_BEHIND {
            skipped = reply.left - STRETCH;
            request.from = From::TailBytes(STRETCH);
        } else if reply.left == 0 {
            runtime.wait_for_output(&id, reply.next_offset.max(reply.end), LONGEST)?;
        }
        std::thread::sleep(BREATH);
    }
    Ok(())
}

/// Makes a stretch out of what was read.
pub(super) fn chunk(reply: &ReadReply, skipped: u64) -> LogChunk {
    LogChunk {
        text: reply.text(),
        offset: reply.offset,
        end: reply.end,
        skipped,
        has_earlier: reply.has_earlier,
    }
}
