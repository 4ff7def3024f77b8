//! Somebody who gives the memory of pipes back.
//!
//! To take bytes out of a pipe is to free its pages, one by one, which takes a quarter as long as copying them to the
//! log. With much output whoever copies is the one that everybody waits for. So the pages are handed on to a pipe of
//! our own, which frees nothing, and a thread empties that. It never leaves the kernel for longer than to go back
//! there, without a lock and without the heap, so that forking stays sound. A process that is forked off has no such
//! thread; its pipe fills up once, and it does the work itself.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::thread;

use rustix::io::ioctl_fionread;

use crate::boot::descriptors::has_spare;
use crate::output::log::CHUNK;
use crate::sys;

/// It calls the kernel and nothing else.
const STACK: usize = 32 << 10;

/// A pipe whose bytes are nobody's any more. Both ends are kept: without its reader the pipe would only fill up.
pub(super) struct Waste {
    pipe: (OwnedFd, OwnedFd),
}

impl Waste {
    pub(super) fn begin(null: &File) -> io::Result<Self> {
        let waste = Self::unattended()?;
        let (read, null) = (waste.pipe.0.try_clone()?, null.try_clone()?);
        if !has_spare(&null) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let caller = thread::current();
        let empty = move || {
            caller.unpark();
            while sys::await_and_move_bytes(&read, &null, CHUNK).is_ok_and(|gone| gone > 0) {}
        };
        thread::Builder::new().stack_size(STACK).spawn(empty)?;
        // Until its beginning is over, which has locks and uses the heap.
        thread::park();
        Ok(waste)
    }

    /// One that nobody empties.
    fn unattended() -> io::Result<Self> {
        let pipe = sys::new_pipe(CHUNK)?;
        // A smaller one might take a part of what it is to take.
        if sys::pipe_size(&pipe.0) < CHUNK {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(Self { pipe })
    }

    /// Takes bytes out of a pipe that certainly holds them; returns how many. That is all, in one go, or nothing: an
    /// empty pipe has room for a batch, which came through one of the same size.
    pub(super) fn take(&self, source: &impl AsFd, len: usize) -> usize {
        match ioctl_fionread(&self.pipe.0) {
            Ok(0) => sys::move_bytes(source, &self.pipe.1, len).unwrap_or(0),
            Ok(_) | Err(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::output::log::stage::MOST;
    use crate::spawn::pipe::OutputPipe;

    fn holding(len: usize) -> OutputPipe {
        let pipe = OutputPipe::new().unwrap();
        File::from(pipe.write.try_clone().unwrap()).write_all(&vec![b'x'; len]).unwrap();
        pipe
    }

    fn left_in(pipe: &OutputPipe) -> u64 {
        ioctl_fionread(&pipe.read).unwrap()
    }

    #[test]
    fn all_is_taken_or_nothing() {
        let waste = Waste::unattended().unwrap();
        let pipe = holding(CHUNK);
        assert_eq!(waste.take(&pipe.read, MOST), MOST);
        assert_eq!(left_in(&pipe), (CHUNK - MOST) as u64);
        assert_eq!(waste.take(&pipe.read, 1), 0, "nobody has emptied it yet");
        assert_eq!(left_in(&pipe), (CHUNK - MOST) as u64);
    }

    #[test]
    fn somebody_empties_it() {
        let waste = Waste::begin(&File::options().write(true).open("/dev/null").unwrap()).unwrap();
        let begun = Instant::now();
        let mut pipe = holding(CHUNK);
        let mut times = 0;
        while times < 3 {
            assert!(begun.elapsed() < Duration::from_secs(60), "it was emptied {times} times");
            if waste.take(&pipe.read, MOST) == MOST {
                times += 1;
                pipe = holding(CHUNK);
            }
        }
    }
}
