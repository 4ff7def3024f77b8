//! Converts the bytes of a tail to plain lines, with helpers that all recognisers use.

use std::borrow::Cow;

use crate::read::output::clean_text;

/// Maximum number of bytes of the tail that are read. Recognisers need the end, and a task may print one endless line.
const MAX_BYTES: usize = 256 << 10;

/// Returns the tail as text, without control sequences and overwritten parts.
pub(super) fn clean(tail: &[u8]) -> String {
    let end = &tail[tail.len().saturating_sub(MAX_BYTES)..];
    let text: Cow<'_, str> = String::from_utf8_lossy(end);
    clean_text(&text)
}

/// Splits `12 passed` into number and word.
pub(super) fn counted(text: &str) -> Option<(u64, &str)> {
    let (number, word) = text.trim().split_once(' ')?;
    Some((number.parse().ok()?, word.trim()))
}

/// Returns the numbers and words of a list such as `2 failed, 5 passed`; `None` if any part has another form.
pub(super) fn counts<'a>(list: &'a str, separator: &str) -> Option<Vec<(u64, &'a str)>> {
    list.split(separator).map(counted).collect()
}

/// Returns the number in front of a word.
pub(super) fn number_of(counts: &[(u64, &str)], word: &str) -> u64 {
    counts.iter().find(|(_, found)| *found == word).map_or(0, |(number, _)| *number)
}

/// Returns whether a line begins with one of these texts.
pub(super) fn begins(line: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| line.starts_with(start))
}

/// Finds the last line that `take` accepts, with its index.
pub(super) fn last_that<'a, T>(lines: &[&'a str], take: impl Fn(&'a str) -> Option<T>) -> Option<(usize, T)> {
    lines.iter().enumerate().rev().find_map(|(index, line)| Some((index, take(line)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_counts_is_parsed_completely_or_not_at_all() {
        assert_eq!(counts("2 failed, 5 passed", ", "), Some(vec![(2, "failed"), (5, "passed")]));
        assert_eq!(counts("2 failed, and more", ", "), None);
        assert_eq!(number_of(&[(2, "failed")], "failed"), 2);
        assert_eq!(number_of(&[(2, "failed")], "passed"), 0);
    }

    #[test]
    fn only_the_end_of_an_endless_line_is_read() {
        let endless = [vec![b'x'; 2 * MAX_BYTES], vec![b'y'; MAX_BYTES - 3], b"end".to_vec()].concat();
        assert!(clean(&endless) == format!("{}end", "y".repeat(MAX_BYTES - 3)));
    }
}
