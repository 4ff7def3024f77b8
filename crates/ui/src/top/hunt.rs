//! Searches the parts of a log that are not loaded, from one end of the loaded part around to the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use meanwhile::Result;
use mw_desk::Desk;
use mw_desk::log_window::{LogChunk, LogPart, STRETCH};
use mw_desk::text::error_text;
use ratatui::style::Style;

use super::effect::{Direction, Hunt};
use super::event::Event;
use super::log::Matcher;
use super::program::EventSender;
use crate::screen::paint;

/// Two stretches of the log share this many bytes, so that a line at their border is searched as a whole.
const OVERLAP: u64 = 8 << 10;

/// Runs one thread for each search. A thread ends at its next step once another search begins.
pub(super) struct Hunter {
    desk: Desk,
    events: EventSender,
    turn: Arc<AtomicU64>,
}

impl Hunter {
    pub(super) fn new(desk: Desk, events: EventSender) -> Self {
        Self { desk, events, turn: Arc::new(AtomicU64::new(0)) }
    }

    /// Ends the current search.
    pub(super) fn stop(&self) {
        self.turn.fetch_add(1, Ordering::SeqCst);
    }

    /// Begins a search and ends the current one.
    pub(super) fn start(&self, hunt: Hunt) {
        let mine = self.turn.fetch_add(1, Ordering::SeqCst) + 1;
        let (desk, turn) = (self.desk.clone(), Arc::clone(&self.turn));
        self.events.spawn(move |events| {
            let is_mine = || turn.load(Ordering::SeqCst) == mine;
            match search(&desk, events, &hunt, is_mine) {
                Ok(Some(found)) => events.send(Event::Found(hunt, found)),
                Ok(None) => {}
                Err(error) => events.send(Event::Failed(error_text(&error))),
            }
        });
    }
}

/// Returns the part with the next match, or nothing if there is none. Returns `None` if the search was ended.
fn search(
    desk: &Desk,
    events: &EventSender,
    hunt: &Hunt,
    is_mine: impl Fn() -> bool,
) -> Result<Option<Option<LogChunk>>> {
    let matcher = Matcher::new(&hunt.text);
    let (first, after) = hunt.loaded;
    let end = desk.read_log(&hunt.target, LogPart::From(after))?.end;
    let total = (first + end.saturating_sub(after)).max(1);
    // The parts to search, each in the direction of the search.
    let parts = match hunt.direction {
        Direction::Forward => [(after, end), (0, first)],
        Direction::Backward => [(0, first), (after, end)],
    };
    let (mut done, mut told) = (0, 0);
    for (from, until) in parts {
        let mut left = from..until;
        while !left.is_empty() {
            if !is_mine() {
                return Ok(None);
            }
            let chunk = match hunt.direction {
                Direction::Forward => desk.read_log(&hunt.target, LogPart::From(left.start))?,
                Direction::Backward => desk.read_log(&hunt.target, LogPart::Before(left.end))?,
            };
            // What a part holds beyond the searched range belongs to the loaded part.
            if matches(&matcher, &chunk.text()) && (chunk.offset < until && chunk.next > from) {
                return Ok(Some(Some(chunk)));
            }
            let before = left.end - left.start;
            left = match hunt.direction {
                Direction::Forward if chunk.next >= left.end || chunk.next <= left.start => 0..0,
                Direction::Forward => chunk.next.saturating_sub(OVERLAP).max(left.start + 1)..left.end,
                Direction::Backward if chunk.offset <= left.start || !chunk.has_earlier => 0..0,
                Direction::Backward => left.start..(chunk.offset + OVERLAP).min(left.end - 1),
            };
            done += before - (left.end - left.start);
            let percent = done * 100 / total;
            if percent > told && done > 8 * STRETCH {
                told = percent;
                events.send(Event::Searched(hunt.clone(), percent.min(99)));
            }
        }
    }
    Ok(Some(None))
}

/// Returns whether a text contains a match. Control sequences are no part of the text.
fn matches(matcher: &Matcher, text: &str) -> bool {
    let mut style = Style::new();
    text.lines().any(|line| {
        if line.contains(['\u{1b}', '\r', '\u{8}', '\t']) {
            matcher.find(&paint(line, &mut style).text).is_some()
        } else {
            matcher.find(line).is_some()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_do_not_hide_a_match() {
        let matcher = Matcher::new("needle");
        assert!(matches(&matcher, "hay\nne\u{1b}[31medle\n"));
        assert!(!matches(&matcher, "nee\ndle"));
    }
}
