//! Finds where the last part of a stream begins.

use std::io;

use mw_model::wire::{EntryKind, Segment};

use crate::disk::task_dir::log_view::{LogView, StreamChoice};

/// Number of bytes read at once.
const STEP: usize = 64 << 10;

/// Finds where the last lines or bytes of a stream begin, reading backwards from the end.
pub(super) fn tail_start(view: &LogView, stream: StreamChoice, lines: u64, bytes: u64) -> io::Result<u64> {
    let mut lines_left = lines;
    let mut bytes_left = bytes;
    let mut start = view.size().0;
    let mut at_end = true;
    for part in view.readable(stream).rev() {
        if lines_left == 0 || bytes_left == 0 {
            break;
        }
        let mut until = part.len;
        while until > 0 && bytes_left > 0 {
            let len = (STEP as u64).min(until).min(bytes_left);
            let window = Segment { logical: part.logical, len: until, ..*part };
            let chunk = view.bytes(&window, part.logical + until - len, len as usize)?;
            for (at, byte) in chunk.iter().enumerate().rev() {
                // The newline at the very end does not start another line.
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

/// Finds where the last `bytes` of a stream begin, rounded to the beginning of a line. If that part is within one
/// longer line, it begins in the middle of that line.
pub(super) fn window_start(view: &LogView, stream: StreamChoice, bytes: u64) -> io::Result<u64> {
    let start = tail_start(view, stream, u64::MAX, bytes)?;
    let before = view.readable(stream).rfind(|part| part.logical < start);
    let Some(before) = before else { return Ok(start) };
    let last = (before.logical + before.len).min(start) - 1;
    if view.bytes(before, last, 1)? == b"\n" {
        return Ok(start);
    }
    let end = view.readable(stream).next_back().map_or(start, |part| part.logical + part.len);
    for part in view.readable(stream) {
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

/// Returns where the next whole character begins if `start` is inside one.
pub(super) fn next_character(view: &LogView, start: u64) -> io::Result<u64> {
    const LONGEST: u64 = 4;
    let holds = |part: &&Segment| part.logical < start && start < part.logical + part.len;
    let Some(part) = view.parts().iter().find(holds) else { return Ok(start) };
    if matches!(part.kind, EntryKind::Drop(_)) {
        return Ok(start);
    }
    let from = start.saturating_sub(LONGEST - 1).max(part.logical);
    let bytes = view.bytes(part, from, (start - from + LONGEST - 1) as usize)?;
    Ok(from + after_cut_character(&bytes, (start - from) as usize) as u64)
}

fn after_cut_character(bytes: &[u8], at: usize) -> usize {
    for first in 0..at {
        let is_character = |end: &usize| {
            let text = bytes.get(first..*end).and_then(|bytes| std::str::from_utf8(bytes).ok());
            text.is_some_and(|text| text.chars().count() == 1)
        };
        if let Some(end) = (at + 1..=first + 4).find(is_character) {
            return end;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_begins_with_a_whole_character() {
        assert_eq!(after_cut_character("aé".as_bytes(), 2), 3);
        assert_eq!(after_cut_character("€b".as_bytes(), 1), 3);
        assert_eq!(after_cut_character("€b".as_bytes(), 2), 3);
        assert_eq!(after_cut_character("abc".as_bytes(), 2), 2);
        assert_eq!(after_cut_character(b"\xff\x80\x80", 1), 1);
        assert_eq!(after_cut_character(b"", 0), 0);
    }
}
