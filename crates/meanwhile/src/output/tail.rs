//! Where the end of a stream begins.

use std::io;

use mw_model::wire::{EntryKind, Segment};

use super::read::StreamChoice;
use super::view::LogView;

/// Bytes looked at in one go.
const STEP: usize = 64 << 10;

/// Finds where the last lines or bytes of a stream begin, looking backwards from the end only.
pub(super) fn tail_start(view: &LogView, stream: StreamChoice, lines: u64, bytes: u64) -> io::Result<u64> {
    let mut lines_left = lines;
    let mut bytes_left = bytes;
    let mut start = view.size().0;
    let mut at_end = true;
    for part in view.parts().iter().rev() {
        if lines_left == 0 || bytes_left == 0 {
            break;
        }
        if matches!(part.kind, EntryKind::Drop(_)) || !stream.takes(part.kind) {
            continue;
        }
        let mut until = part.len;
        while until > 0 && bytes_left > 0 {
            let len = (STEP as u64).min(until).min(bytes_left);
            let window = Segment { logical: part.logical, len: until, ..*part };
            let chunk = view.bytes(&window, part.logical + until - len, len as usize)?;
            for (at, byte) in chunk.iter().enumerate().rev() {
                // The newline that ends the last line does not begin another.
                if *byte == b'\n' && !std::mem::take(&mut at_end) {
                    lines_left -= 1;
                    if lines_left == 0 {
                        return Ok(part.logical + until - len + at as u64 + 1);
                    }
                }
                at_end = false;
            }
            bytes_left -= len;
            until -= len;
            start = part.logical + until;
        }
    }
    Ok(start)
}

/// Finds where the last `bytes` of a stream begin, from a line's beginning on. A line that is longer than that has
/// no beginning there; its end is shown then.
pub(super) fn window_start(view: &LogView, stream: StreamChoice, bytes: u64) -> io::Result<u64> {
    let start = tail_start(view, stream, u64::MAX, bytes)?;
    let mine = |part: &&Segment| stream.takes(part.kind) && !matches!(part.kind, EntryKind::Drop(_));
    let before = view.parts().iter().filter(mine).rfind(|part| part.logical < start);
    let Some(before) = before else { return Ok(start) };
    let last = (before.logical + before.len).min(start) - 1;
    if view.bytes(before, last, 1)? == b"\n" {
        return Ok(start);
    }
    let end = view.parts().iter().rfind(mine).map_or(start, |part| part.logical + part.len);
    for part in view.parts().iter().filter(mine) {
        let mut from = start.max(part.logical);
        while from < part.logical + part.len {
            let chunk = view.bytes(part, from, STEP)?;
            if let Some(at) = memchr::memchr(b'\n', &chunk) {
                let line = from + at as u64 + 1;
                return Ok(if line < end { line } else { start });
            }
            if chunk.is_empty() {
                break;
            }
            from += chunk.len() as u64;
        }
    }
    Ok(start)
}
