//! Takes output from a log, up to a limit and in whole characters.

use std::io;

use mw_model::wire::EntryKind;

use super::read::{Piece, ReadRequest};
use crate::disk::task_dir::log_view::{LogView, StreamChoice};

/// The output that was taken.
pub(super) struct OutputSlice {
    pub(super) pieces: Vec<Piece>,
    /// The offset to continue from.
    pub(super) next_offset: u64,
    /// Bytes after that offset that are the beginning of an incomplete character.
    pub(super) held_back: u64,
}

/// Takes output from `start` on until a limit is reached.
///
/// An incomplete character at the end is left for the next read, which may have the rest of it. While the output may
/// grow, this is so even if there is nothing else to return. The incomplete character is returned if the rest cannot
/// come: at the end of a finished run, before a gap, or if the limit is smaller than one character. Streams that are
/// read separately are treated as bytes, and nothing is held back.
pub(super) fn take(view: &LogView, request: &ReadRequest, start: u64, over: bool) -> io::Result<OutputSlice> {
    let mut bytes_left = request.most_bytes();
    let mut lines_left = if request.max_lines == 0 { u64::MAX } else { request.max_lines };
    let mut pieces = Vec::new();
    // The positions of the bytes of the last piece. The bytes of one stream need not be contiguous.
    let mut stretches: Vec<(u64, u64)> = Vec::new();
    let mut next = start;
    let mut cut = false;
    for part in view.parts().iter().filter(|part| part.logical + part.len > start) {
        // Other streams are skipped even when the limit is reached, because they do not count as unread.
        if !request.stream.takes(part.kind) {
            next = part.logical + part.len;
            continue;
        }
        if bytes_left == 0 || lines_left == 0 {
            cut = true;
            break;
        }
        let from = start.max(part.logical);
        if let EntryKind::Drop(count) = part.kind {
            pieces.push(Piece::Dropped(count));
            next = part.logical + part.len;
            continue;
        }
        let most = usize::try_from(bytes_left).unwrap_or(usize::MAX);
        let mut bytes = view.bytes(part, from, most)?;
        if let Some(cut) = nth_line_end(&bytes, lines_left) {
            bytes.truncate(cut);
        }
        lines_left = lines_left.saturating_sub(memchr::memchr_iter(b'\n', &bytes).count() as u64);
        let len = bytes.len() as u64;
        next = from + len;
        bytes_left -= len;
        stretches.push((from, len));
        append(&mut pieces, part.kind, bytes);
        if next < part.logical + part.len {
            cut = true;
            break;
        }
    }
    let mut taken = OutputSlice { pieces, next_offset: next, held_back: 0 };
    if request.stream != StreamChoice::Apart && (cut || !over) {
        let part = taken.cut_character();
        // A limit that is smaller than one character must not stop the reader for ever.
        let is_all = stretches.iter().map(|(_, len)| len).sum::<u64>() == part;
        if !(cut || bytes_left == 0) || !is_all {
            taken.leave(part, &stretches);
            taken.held_back = if cut { 0 } else { part };
        }
    }
    Ok(taken)
}

impl OutputSlice {
    /// Counts the bytes of an incomplete character at the end.
    fn cut_character(&self) -> u64 {
        match self.pieces.last() {
            Some(Piece::Stdout(bytes) | Piece::Stderr(bytes)) => {
                (bytes.len() - whole_characters(bytes)) as u64
            }
            Some(Piece::Dropped(_)) | None => 0,
        }
    }

    /// Gives the last bytes back.
    fn leave(&mut self, count: u64, stretches: &[(u64, u64)]) {
        if count == 0 {
            return;
        }
        if let Some(Piece::Stdout(bytes) | Piece::Stderr(bytes)) = self.pieces.last_mut() {
            bytes.truncate(bytes.len() - count as usize);
            if bytes.is_empty() {
                self.pieces.pop();
            }
        }
        let mut left = count;
        for (from, len) in stretches.iter().rev() {
            let back = left.min(*len);
            self.next_offset = from + len - back;
            left -= back;
            if left == 0 {
                return;
            }
        }
    }
}

fn append(pieces: &mut Vec<Piece>, kind: EntryKind, bytes: Vec<u8>) {
    match (pieces.last_mut(), kind) {
        (Some(Piece::Stdout(last)), EntryKind::Stdout(_))
        | (Some(Piece::Stderr(last)), EntryKind::Stderr(_)) => last.extend(bytes),
        (_, EntryKind::Stdout(_)) => pieces.push(Piece::Stdout(bytes)),
        (_, EntryKind::Stderr(_)) => pieces.push(Piece::Stderr(bytes)),
        (_, EntryKind::Drop(count)) => pieces.push(Piece::Dropped(count)),
    }
}

fn nth_line_end(bytes: &[u8], lines: u64) -> Option<usize> {
    let nth = usize::try_from(lines).ok()?.checked_sub(1)?;
    memchr::memchr_iter(b'\n', bytes).nth(nth).map(|at| at + 1)
}

/// Returns the length without an incomplete character at the end.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        // An error without a length is an incomplete character at the end.
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Err(_) => {
            let last = bytes.len().saturating_sub(3);
            let start = bytes[last..].iter().rposition(|byte| byte & 0xC0 == 0xC0).map(|at| last + at);
            match start.map(|start| (start, std::str::from_utf8(&bytes[start..]))) {
                Some((start, Err(error))) if error.error_len().is_none() && error.valid_up_to() == 0 => start,
                _ => bytes.len(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incomplete_last_character_is_left_out() {
        assert_eq!(whole_characters("aé".as_bytes()), 3);
        assert_eq!(whole_characters(&"aé".as_bytes()[..2]), 1);
        assert_eq!(whole_characters(&"x€".as_bytes()[..3]), 1);
        assert_eq!(whole_characters(b"\xff\xfe"), 2);
        assert_eq!(whole_characters(b"\xff\xc3"), 1);
        assert_eq!(whole_characters(b""), 0);
    }

    #[test]
    fn the_end_of_the_nth_line_is_found() {
        assert_eq!(nth_line_end(b"a\nb\nc", 1), Some(2));
        assert_eq!(nth_line_end(b"a\nb\nc", 2), Some(4));
        assert_eq!(nth_line_end(b"a\nb\nc", 3), None);
    }
}
