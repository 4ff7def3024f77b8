//! Progress that a task reports.

use serde::{Deserialize, Serialize};

/// The number of the descriptor on which a task may report progress. It has one digit, so that a plain shell can write to it.
pub const PROGRESS_FD: i32 = 3;

/// Maximum length of a text, in characters.
const LONGEST_TEXT: usize = 120;

/// The progress of a task. A line on the progress descriptor has the same fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Percentage from 0 to 100.
    #[serde(default)]
    pub percent: Option<f64>,
    /// Steps done.
    #[serde(default)]
    pub done: Option<u64>,
    /// Total number of steps.
    #[serde(default)]
    pub total: Option<u64>,
    /// A short text.
    #[serde(default)]
    pub text: Option<String>,
}

impl Progress {
    /// Describes the progress: `43% (3 of 7) linking`.
    #[must_use]
    pub fn to_words(&self) -> String {
        let percent = self.percent.map(|percent| format!("{percent:.0}%"));
        let steps = match (self.done, self.total) {
            (Some(done), Some(total)) => Some(format!("({done} of {total})")),
            (Some(done), None) => Some(format!("({done} done)")),
            (None, _) => None,
        };
        [percent, steps, self.text.clone()].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Returns the valid part of a report: percentages from 0 to 100, steps that do not exceed their total, and a
    /// short text without control characters. `None` if nothing is left.
    #[must_use]
    pub fn sensible(self) -> Option<Self> {
        let (done, total) = match (self.done, self.total) {
            (Some(done), Some(total)) if total == 0 || done > total => (None, None),
            steps => steps,
        };
        let counted = match (done, total) {
            (Some(done), Some(total)) => Some(done as f64 * 100.0 / total as f64),
            (Some(_), None) | (None, Some(_)) | (None, None) => None,
        };
        let percent = self.percent.filter(|percent| (0.0..=100.0).contains(percent)).or(counted);
        let text =
            self.text.map(|text| text.chars().filter(|c| !c.is_control()).take(LONGEST_TEXT).collect());
        let text = text.filter(|text: &String| !text.trim().is_empty());
        let progress = Self { percent, done, total, text };
        (progress != Self::default()).then_some(progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<Progress> {
        serde_json::from_str::<Progress>(line).ok()?.sensible()
    }

    #[test]
    fn progress_is_described_in_words() {
        let all =
            Progress { percent: Some(42.9), done: Some(3), total: Some(7), text: Some("linking".to_owned()) };
        assert_eq!(all.to_words(), "43% (3 of 7) linking");
        let counted = Progress { done: Some(3), ..Progress::default() };
        assert_eq!(counted.to_words(), "(3 done)");
    }

    #[test]
    fn valid_fields_of_a_progress_line_are_kept() {
        let all = read(r#"{"percent":50,"done":3,"total":7,"text":"linking","more":[1]}"#).unwrap();
        assert_eq!((all.percent, all.done, all.total), (Some(50.0), Some(3), Some(7)));
        assert_eq!(all.text.as_deref(), Some("linking"));
        assert_eq!(read(r#"{"done":1,"total":4}"#).unwrap().percent, Some(25.0));
        assert_eq!(read(r#"{"done":9,"total":4,"text":"x"}"#).unwrap().done, None);
        assert_eq!(read(r#"{"text":"a\u001b[31mb"}"#).unwrap().text.as_deref(), Some("a[31mb"));
        assert_eq!(read(r#"{"done":0,"total":0,"percent":0}"#).unwrap().percent, Some(0.0));
    }

    #[test]
    fn lines_without_valid_progress_are_ignored() {
        for line in ["", "{}", "[]", "7", r#"{"percent":101}"#, r#"{"percent":"x"}"#, r#"{"text":" \n"}"#] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
