//! Counts and a last line for the record of a run that is over.

use mw_model::wire::EntryKind;

use super::read::{From, ReadRequest, StreamChoice};
use crate::runtime::Runtime;
use crate::task::Task;

/// Logs beyond this are not read through for a count.
const LARGEST: u64 = 64 << 20;

/// What the output of a run adds up to.
pub(crate) struct LineCounts {
    pub(crate) stdout: u64,
    pub(crate) stderr: u64,
    pub(crate) last_line: Option<String>,
}

impl Runtime {
    /// Counts lines per stream; nothing for a log that is too large or gone.
    pub(crate) fn count_lines(&self, task: &Task) -> Option<LineCounts> {
        let view = self.view(task, task.state.run(), StreamChoice::Stdout).ok()?;
        if view.size().0 > LARGEST {
            return None;
        }
        let mut counts = LineCounts {
            stdout: 0,
            stderr: 0,
            last_line: self.last_line(task),
        };
        for part in view.parts() {
            let counter = match part.kind {
                EntryKind::Stdout(_) => &mut counts.stdout,
                EntryKind::Stderr(_) => &mut counts.stderr,
                EntryKind::Drop(_) => continue,
            };
            *counter +=
                memchr::memchr_iter(b'\n', &view.bytes(part, part.logical, usize::MAX).ok()?).count() as u64;
        }
        Some(counts)
    }

    fn last_line(&self, task: &Task) -> Option<String> {
        let request = ReadRequest {
            from: From::TailBytes(4096),
            max_bytes: 4096,
            ..ReadRequest::default()
        };
        let text = super::clean_text(&self.read_task(task, &request).ok()?.text());
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        Some(line.chars().take(200).collect())
    }
}
