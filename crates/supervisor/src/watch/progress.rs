//! The progress that a task reports: the latest line counts, and some lines are written to the journal.

use mw_model::Progress;
use mw_model::wire::JournalEntry;

use super::supervise::Supervisor;
use crate::clock;
use crate::end::conclude::is_settling_due;
use crate::sys::Board;

/// The longest line; longer lines are ignored.
const LONGEST_LINE: usize = 4096;
/// Maximum number of bytes read before other work is done.
const TURN_BYTES: usize = 64 << 10;
/// The shortest time between two journal lines: a second, and at least this part of the task's age.
const PAUSE_MS: u64 = 1000;
const PART_OF_AGE: u64 = 50;

/// The latest progress of a task.
pub(crate) struct ProgressReport {
    lines: Lines,
    pub(crate) latest: Option<Progress>,
    /// Whether the latest is not in the journal yet.
    is_news: bool,
    noted_ms: Option<u64>,
}

impl ProgressReport {
    /// Continues from the shared page.
    pub(crate) fn on(board: Board) -> Self {
        let latest = board.progress_text().and_then(|text| serde_json::from_slice(&text).ok());
        Self { lines: Lines::default(), latest, is_news: false, noted_ms: None }
    }

    /// When to write the latest to the journal. The pauses grow, so that a long task does not fill its journal.
    pub(crate) fn due_ms(&self, started_ms: u64) -> Option<u64> {
        let next = |noted: u64| noted + PAUSE_MS.max(noted.saturating_sub(started_ms) / PART_OF_AGE);
        self.is_news.then(|| self.noted_ms.map_or(0, next))
    }
}

/// Splits bytes into lines.
#[derive(Default)]
struct Lines {
    partial: Vec<u8>,
    /// Whether the current line is too long.
    skipping: bool,
}

impl Lines {
    /// Adds bytes; returns the last complete line that is valid.
    fn take(&mut self, bytes: &[u8]) -> Option<Progress> {
        let mut found = None;
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let complete = piece.ends_with(b"\n");
            if self.skipping || self.partial.len() + piece.len() > LONGEST_LINE {
                self.partial.clear();
                self.skipping = !complete;
                continue;
            }
            self.partial.extend_from_slice(piece);
            if complete {
                found = sense_of(&self.partial).or(found);
                self.partial.clear();
            }
        }
        found
    }
}

/// Parses a line. Only an object is valid: serde would read a list as the fields in order.
fn sense_of(line: &[u8]) -> Option<Progress> {
    let is_object = line.trim_ascii_start().starts_with(b"{");
    is_object.then(|| serde_json::from_slice::<Progress>(line).ok()).flatten().and_then(Progress::sensible)
}

impl Supervisor {
    /// Reads what the task has reported.
    pub(crate) fn read_progress(&mut self) {
        let Some(pipe) = &self.run.files.progress else { return };
        let mut part = [0; 4096];
        let (mut taken, mut news) = (0, false);
        while taken < TURN_BYTES
            && let Ok(read) = rustix::io::read(pipe, &mut part)
            && read > 0
        {
            taken += read;
            if let Some(progress) = self.progress.lines.take(&part[..read]) {
                news |= self.progress.latest.as_ref() != Some(&progress);
                self.progress.latest = Some(progress);
            }
        }
        self.progress.is_news |= news;
        if news
            && let Some(text) =
                self.progress.latest.as_ref().and_then(|latest| serde_json::to_vec(latest).ok())
        {
            self.run.board.set_progress_text(&text);
        }
    }

    pub(crate) fn note_progress_when_due(&mut self, now: u64) {
        if self.progress.due_ms(self.run.board.started_ms.get()).is_some_and(|due| now >= due) {
            self.note_progress();
            // No hook runs for progress, so only processes that wait for events matter.
            if is_settling_due() {
                self.settle_beside();
            }
        }
    }

    /// Writes the latest to the journal, if it is not there yet.
    pub(crate) fn note_progress(&mut self) {
        if std::mem::take(&mut self.progress.is_news)
            && let Some(progress) = self.progress.latest.clone()
        {
            self.progress.noted_ms = Some(clock::monotonic_ms());
            let entry = JournalEntry::Progress { progress };
            self.journal(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent(found: Option<Progress>) -> Option<f64> {
        found.and_then(|progress| progress.percent)
    }

    #[test]
    fn the_last_valid_line_counts() {
        let mut lines = Lines::default();
        assert_eq!(percent(lines.take(b"{\"percent\":1}\n{\"percent\":2}\ngarbage\n{\"perc")), Some(2.0));
        assert_eq!(percent(lines.take(b"ent\":3}")), None);
        assert_eq!(percent(lines.take(b"\n")), Some(3.0));
        assert_eq!(percent(lines.take(b"\xff\x00\n\n{}\n[1,2]\n7\n")), None);
    }

    #[test]
    fn an_endless_line_uses_bounded_memory_and_is_skipped() {
        let mut lines = Lines::default();
        for _ in 0..100 {
            assert_eq!(lines.take(&[b'x'; 1000]), None);
            assert!(lines.partial.len() <= LONGEST_LINE);
        }
        assert_eq!(percent(lines.take(b"{\"percent\":4}\n")), None);
        assert_eq!(percent(lines.take(b"{\"percent\":5}\n")), Some(5.0));
    }

    #[test]
    fn the_longer_a_task_runs_the_less_often_progress_is_written() {
        let mut progress =
            ProgressReport { lines: Lines::default(), latest: None, is_news: false, noted_ms: None };
        assert_eq!(progress.due_ms(1000), None);
        progress.is_news = true;
        assert_eq!(progress.due_ms(1000), Some(0));
        progress.noted_ms = Some(3000);
        assert_eq!(progress.due_ms(1000), Some(4000));
        progress.noted_ms = Some(3_601_000);
        assert_eq!(progress.due_ms(1000), Some(3_601_000 + 72_000));
    }
}
