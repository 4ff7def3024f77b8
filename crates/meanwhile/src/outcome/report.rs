//! The form of all summaries: `3 failed, 120 passed: first name, second name +1 more (runner)`.

use mw_model::first_chars;

/// Maximum length of a summary in characters.
pub(super) const MAX_CHARS: usize = 200;
/// Maximum number of names that are listed.
const MAX_NAMES: usize = 3;

/// Counts, then names, then the runner.
#[derive(Debug)]
pub(super) struct Report {
    runner: &'static str,
    counts: Vec<String>,
    names: Vec<String>,
}

impl Report {
    pub(super) fn new(runner: &'static str) -> Self {
        Self { runner, counts: Vec::new(), names: Vec::new() }
    }

    /// Adds a count such as `12 passed`, unless it is zero.
    pub(super) fn count(&mut self, number: u64, word: &str) {
        if number > 0 {
            self.counts.push(format!("{number} {word}"));
        }
    }

    /// Adds a count such as `1 error` or `2 errors`, unless it is zero.
    pub(super) fn count_things(&mut self, number: u64, thing: &str) {
        self.count(number, &plural(number, thing));
    }

    /// Adds text that is not a count.
    pub(super) fn say(&mut self, words: impl Into<String>) {
        self.counts.push(words.into());
    }

    /// Adds the name of a failure, once.
    pub(super) fn name(&mut self, name: impl Into<String>) {
        let name = name.into();
        if !name.is_empty() && !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    /// Adds the names of failures.
    pub(super) fn names<T: Into<String>>(&mut self, names: impl IntoIterator<Item = T>) {
        names.into_iter().for_each(|name| self.name(name));
    }

    /// Returns the summary line. Names are cut before counts and runner are.
    pub(super) fn line(&self) -> String {
        let counts = self.counts.join(", ");
        let runner = format!(" ({})", self.runner);
        let mut names = self.names.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
        if self.names.len() > MAX_NAMES {
            names.push_str(&format!(" +{} more", self.names.len() - MAX_NAMES));
        }
        let between = if counts.is_empty() || names.is_empty() { "" } else { ": " };
        let used = [&counts, between, &runner].map(|part| part.chars().count()).iter().sum();
        format!("{counts}{between}{}{runner}", shorten(&names, MAX_CHARS.saturating_sub(used)))
    }
}

/// Returns the singular or plural of a word.
pub(super) fn plural(number: u64, thing: &str) -> String {
    if number == 1 { thing.to_owned() } else { format!("{thing}s") }
}

/// Cuts a text to a number of characters. The last one shows that it was cut.
pub(super) fn shorten(text: &str, most: usize) -> String {
    if first_chars(text, most) == text {
        return text.to_owned();
    }
    format!("{}…", first_chars(text, most.saturating_sub(1)).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_come_first_and_the_tool_last() {
        let mut report = Report::new("pytest");
        report.count(4, "failed");
        report.count(0, "skipped");
        report.count_things(1, "error");
        for name in ["a", "b", "b", "c", "d"] {
            report.name(name);
        }
        assert_eq!(report.line(), "4 failed, 1 error: a, b, c +1 more (pytest)");
    }

    #[test]
    fn long_names_are_cut_and_the_tool_name_is_kept() {
        let mut report = Report::new("jest");
        report.count(1, "failed");
        report.name("ü".repeat(500));
        let line = report.line();
        assert_eq!(line.chars().count(), MAX_CHARS);
        assert!(line.ends_with("ü… (jest)"), "{line}");
    }

    #[test]
    fn a_line_is_shortened_with_an_ellipsis() {
        assert_eq!(shorten("ééééé", 4), "ééé…");
        assert_eq!(shorten("ab   cd", 5), "ab…");
        assert_eq!(shorten("abc", 3), "abc");
    }
}
