//! The progress of a task: what it reported on its progress descriptor, or else what its output shows.

use mw_model::Progress;
use mw_model::wire::{ControlReply, PROGRESS_FIFO};

use super::Reader;
use super::output::{ReadFrom, ReadRequest, clean_text};
use crate::read::Tasks;
use crate::redact::Redaction;
use crate::task::Task;

/// How many bytes at the end of a log are searched.
const TAIL: u64 = 1024;

impl Tasks<'_> {
    /// Returns the progress of a running task, if it reports any.
    #[must_use]
    pub fn progress(&self, task: &Task) -> Option<Progress> {
        self.told_progress(task).or_else(|| {
            let request =
                ReadRequest { from: ReadFrom::TailBytes(TAIL), max_bytes: TAIL, ..ReadRequest::default() };
            in_tail(&Reader::on(self.base).read_task(task, &request).ok()?.bytes())
        })
    }

    /// Returns what the task reported on its progress descriptor. Most tasks have none, and then the supervisor is not
    /// asked.
    fn told_progress(&self, task: &Task) -> Option<Progress> {
        let has_means =
            task.state.process().is_some() && self.base.home.task(&task.id).join(PROGRESS_FIFO).exists();
        match has_means.then(|| self.supervisor_status(&task.id)).flatten() {
            Some(ControlReply::Status { progress, .. }) => progress.map(|mut progress| {
                let text = progress.text.take();
                progress.text =
                    text.map(|text| Redaction::on(self.base).redactor(&task.id).text(&text).into_owned());
                progress
            }),
            Some(_) | None => None,
        }
    }
}

/// Finds the newest sign of progress at the end of a log: the terminal's progress sequence (`OSC 9;4`), a percentage,
/// or `n/m`.
fn in_tail(tail: &[u8]) -> Option<Progress> {
    let text = String::from_utf8_lossy(tail);
    let from_sequence = text.rfind("\x1b]9;4;").and_then(|at| {
        let mut fields = text[at + 6..].split(|c: char| !c.is_ascii_digit());
        let state: u8 = fields.next()?.parse().ok()?;
        let percent: f64 = fields.next()?.parse().ok()?;
        (state == 1 || state == 2)
            .then_some(Progress { percent: Some(percent.min(100.0)), ..Progress::default() })
    });
    from_sequence.or_else(|| {
        let clean = clean_text(&text);
        clean.lines().rev().filter(|line| !line.trim().is_empty()).take(3).find_map(in_line)
    })
}

fn in_line(line: &str) -> Option<Progress> {
    let text = Some(line.trim().chars().take(120).collect::<String>());
    let words =
        || line.split(|c: char| c.is_whitespace() || "[]()|,".contains(c)).filter(|word| !word.is_empty());
    let fraction = words().find_map(|word| {
        let (done, total) = word.split_once('/')?;
        let (done, total): (u64, u64) = (done.parse().ok()?, total.parse().ok()?);
        (total > 0 && done <= total).then_some((done, total))
    });
    let percent = words()
        .find_map(|word| word.strip_suffix('%')?.parse::<f64>().ok())
        .filter(|percent| (0.0..=100.0).contains(percent));
    match (fraction, percent) {
        (Some((done, total)), percent) => {
            let percent = percent.unwrap_or(done as f64 * 100.0 / total as f64);
            Some(Progress { percent: Some(percent), done: Some(done), total: Some(total), text })
        }
        (None, Some(percent)) => Some(Progress { percent: Some(percent), done: None, total: None, text }),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_recognised_in_sequences_fractions_and_percentages() {
        let percent = |tail: &str| in_tail(tail.as_bytes()).and_then(|found| found.percent);
        assert_eq!(percent("\x1b]9;4;1;42\x07"), Some(42.0));
        assert_eq!(percent("Compiling [3/4] x\n"), Some(75.0));
        assert_eq!(percent("10%\r37.5% done"), Some(37.5));
        assert_eq!(percent("see a/b or 12/3 for 300%"), None);
        assert_eq!(percent(""), None);
    }
}
