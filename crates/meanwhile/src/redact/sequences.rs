//! Control sequences in a text: where they are, and which are shown.

use std::ops::Range;

const ESC: u8 = 0x1b;
/// The longest text in a sequence, such as a title. After this many bytes, ordinary text begins again.
const LONGEST: usize = 4096;

/// The control sequences of a text, in order.
#[derive(Debug, Default)]
pub(super) struct Sequences(Vec<Sequence>);

#[derive(Debug)]
struct Sequence {
    range: Range<usize>,
    /// How many bytes before the end of this sequence belong to sequences.
    hidden: usize,
    /// Whether it only changes colours.
    is_colour: bool,
}

impl Sequences {
    /// Finds the sequences of a text, including one that the end of the text cuts off.
    pub(super) fn of(text: &[u8]) -> Self {
        let mut found = Vec::new();
        let mut at = 0;
        let mut hidden = 0;
        while let Some(next) = text[at..].iter().position(|byte| is_control(*byte)) {
            let start = at + next;
            let len = length(&text[start..]);
            at = start + len.max(1);
            if len > 0 {
                let is_colour = text[start..].starts_with(b"\x1b[") && text[at - 1] == b'm';
                hidden += len;
                found.push(Sequence { range: start..at, hidden, is_colour });
            }
        }
        Self(found)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text without sequences.
    pub(super) fn visible(&self, text: &[u8]) -> Vec<u8> {
        let mut visible = Vec::with_capacity(text.len());
        let mut at = 0;
        for sequence in &self.0 {
            visible.extend_from_slice(&text[at..sequence.range.start]);
            at = sequence.range.end;
        }
        visible.extend_from_slice(&text[at..]);
        visible
    }

    /// Converts a position in the text without sequences to a position in the text.
    pub(super) fn position(&self, visible: usize) -> usize {
        let is_before = |sequence: &Sequence| sequence.range.end - sequence.hidden <= visible;
        let before = self.0[..self.0.partition_point(is_before)].last();
        visible + before.map_or(0, |sequence| sequence.hidden)
    }

    /// Copies a part of the text. Of the sequences only colours are copied.
    pub(super) fn copy(&self, text: &[u8], range: Range<usize>, out: &mut Vec<u8>) {
        let mut at = range.start;
        for sequence in self.within(&range) {
            out.extend_from_slice(&text[at..sequence.range.start.max(at)]);
            copy_colour(text, sequence, &range, out);
            at = sequence.range.end.min(range.end);
        }
        out.extend_from_slice(&text[at..range.end]);
    }

    /// Copies only the colours of a part of the text.
    pub(super) fn copy_colours(&self, text: &[u8], range: Range<usize>, out: &mut Vec<u8>) {
        for sequence in self.within(&range) {
            copy_colour(text, sequence, &range, out);
        }
    }

    fn within(&self, range: &Range<usize>) -> impl Iterator<Item = &Sequence> {
        let first = self.0.partition_point(|sequence| sequence.range.end <= range.start);
        let end = range.end;
        self.0[first..].iter().take_while(move |sequence| sequence.range.start < end)
    }
}

/// Copies a colour if it ends in this part of the text.
fn copy_colour(text: &[u8], sequence: &Sequence, range: &Range<usize>, out: &mut Vec<u8>) {
    if sequence.is_colour && sequence.range.end <= range.end {
        out.extend_from_slice(&text[sequence.range.clone()]);
    }
}

/// Returns whether a byte begins a sequence, or is one: all control characters except tab, newline and carriage
/// return, and the first byte of the C1 controls in UTF-8.
const fn is_control(byte: u8) -> bool {
    (byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')) || byte == 0x7f || byte == 0xc2
}

/// Returns the length of the sequence at the beginning of a text; 0 if there is none.
fn length(text: &[u8]) -> usize {
    match text {
        [0xc2, 0x80..=0x9f, ..] => 2,
        [0xc2, ..] => 0,
        [ESC, b'[', rest @ ..] => {
            let parameters = rest.iter().take_while(|byte| (0x20..0x40).contains(*byte)).count();
            let last = rest.get(parameters).is_some_and(|byte| (0x40..0x7f).contains(byte));
            2 + parameters + usize::from(last)
        }
        [ESC, b']' | b'P' | b'_' | b'^' | b'X', rest @ ..] => 2 + text_length(rest),
        [ESC, rest @ ..] => {
            let between = rest.iter().take_while(|byte| (0x20..0x30).contains(*byte)).count();
            let last = rest.get(between).is_some_and(|byte| (0x30..0x7f).contains(byte));
            1 + between + usize::from(last)
        }
        _ => 1,
    }
}

/// Returns the length of the text in a sequence, including its terminator.
fn text_length(text: &[u8]) -> usize {
    let end = text.iter().take(LONGEST).position(|byte| matches!(*byte, 0x07 | ESC | b'\n'));
    match end.map(|end| (end, &text[end..])) {
        Some((end, [0x07, ..])) => end + 1,
        Some((end, [ESC, b'\\', ..])) => end + 2,
        Some((end, _)) => end,
        None => text.len().min(LONGEST),
    }
}
