//! Searches for a line in output that is still growing.

use regex::bytes::Regex;

use super::clean::clean_text;
use super::read::{ReadFrom, ReadRequest};
use crate::base::Base;
use crate::error::Result;
use crate::read::Reader;
use crate::task::Task;

/// Number of bytes searched at once.
const STEP: u64 = 1 << 20;
/// How much of an unfinished line is kept for matching.
const LONGEST_LINE: usize = 64 << 10;
const ESCAPE: u8 = 0x1b;

/// The position of a search. Each byte is searched once, in a complete line or in the unfinished last line.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineSearch {
    /// Logical offset up to which output was searched.
    seen: u64,
    /// The end of the output at the last search. It may be after `seen` by part of a character.
    pub(crate) known_end: u64,
    /// The unfinished line at the end.
    partial: Vec<u8>,
}

impl LineSearch {
    /// Searches new output. Returns the first line that matches, as it was printed or without its colours.
    pub(crate) fn go_on(&mut self, base: &Base, task: &Task, pattern: &Regex) -> Result<Option<String>> {
        loop {
            let request =
                ReadRequest { from: ReadFrom::Offset(self.seen), max_bytes: STEP, ..ReadRequest::default() };
            let reply = Reader::on(base).read_task(task, &request)?;
            self.known_end = reply.end;
            if reply.next_offset == self.seen {
                return Ok(None);
            }
            self.seen = reply.next_offset;
            self.partial.extend(reply.bytes());
            let mut lines = self.partial.split(|byte| *byte == b'\n');
            if let Some(line) = lines.find(|line| fits(pattern, line)) {
                return Ok(Some(clean_text(&String::from_utf8_lossy(line))));
            }
            let keep = self.partial.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let keep = keep.max(self.partial.len().saturating_sub(LONGEST_LINE));
            self.partial.drain(..keep);
        }
    }
}

fn fits(pattern: &Regex, line: &[u8]) -> bool {
    pattern.is_match(line)
        || (line.contains(&ESCAPE) && {
            pattern.is_match(clean_text(&String::from_utf8_lossy(line)).as_bytes())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_a_line_with_colours() {
        let pattern = Regex::new("^ready in [0-9]+ ms$").unwrap();
        assert!(fits(&pattern, b"ready in 300 ms"));
        assert!(fits(&pattern, b"\x1b[32mready\x1b[0m in \x1b[1m300\x1b[0m ms"));
        assert!(!fits(&pattern, b"not ready in 300 ms"));
    }
}
