//! Scans Rust code for the checks. It separates code from comments and strings, and test code from other code.
//!
//! This is a scanner, not a parser. It recognises comments, strings, character literals and braces, which is enough to
//! find the lines on which a word occurs as code.

use std::ops::Range;

use crate::mask::blank_comments_and_strings;
use crate::workspace::TextFile;

/// A Rust file and its text with comments and string contents replaced by spaces.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    /// The path relative to the workspace root.
    pub(crate) path: &'a str,
    raw: &'a str,
    code: String,
    tests: Vec<Range<usize>>,
    whole_is_test: bool,
}

/// One line of a [`Source`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// The number of the line, from 1.
    pub(crate) number: usize,
    /// The line as written.
    pub(crate) raw: &'a str,
    /// The line with comments and string contents replaced by spaces. Byte positions are those of `raw`.
    pub(crate) code: &'a str,
    /// Whether the line belongs to a test file or a test module.
    pub(crate) test: bool,
}

impl<'a> Source<'a> {
    /// Scans `file`. Returns nothing if it is not Rust.
    pub(crate) fn of(file: &'a TextFile) -> Option<Self> {
        file.path.ends_with(".rs").then(|| Self::new(&file.path, &file.text))
    }

    /// Scans `raw` as the content of the Rust file at `path`.
    pub(crate) fn new(path: &'a str, raw: &'a str) -> Self {
        let code = blank_comments_and_strings(raw);
        let tests = test_modules(&code);
        Self { path, raw, code, tests, whole_is_test: is_test_path(path) }
    }

    /// Returns the lines in order.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let mut start = 0;
        self.raw.split('\n').zip(self.code.split('\n')).enumerate().map(move |(index, (raw, code))| {
            let at = start;
            start += code.len() + 1;
            let test = self.whole_is_test || self.tests.iter().any(|range| range.contains(&at));
            Line { number: index + 1, raw, code, test }
        })
    }

    /// Returns the whole text as written.
    pub(crate) fn raw(&self) -> &'a str {
        self.raw
    }

    /// Returns the whole text with comments and string contents replaced by spaces.
    pub(crate) fn code(&self) -> &str {
        &self.code
    }
}

/// Returns whether a file contains only tests or benchmarks.
pub(crate) fn is_test_path(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.split('/').any(|part| part == "tests" || part == "benches")
        || name == "tests.rs"
        || name.ends_with("_tests.rs")
        || name.ends_with(".test.js")
}

/// Returns whether `word` occurs as a whole word.
pub(crate) fn has_word(code: &str, word: &str) -> bool {
    positions(code, word).any(|at| code[at + word.len()..].chars().next().is_none_or(|c| !is_name(c)))
}

/// Returns whether a name or path begins with `start`, such as `env::var` in `std::env::var_os`.
pub(crate) fn has_start(code: &str, start: &str) -> bool {
    positions(code, start).next().is_some()
}

/// Returns the byte range of the first block in braces at or after `from`, including the braces.
pub(crate) fn block_after(code: &str, from: usize) -> Option<Range<usize>> {
    let open = from + code[from..].find('{')?;
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return Some(open..at + 1);
        }
    }
    Some(open..code.len())
}

fn positions<'c>(code: &'c str, start: &'c str) -> impl Iterator<Item = usize> + 'c {
    code.match_indices(start)
        .map(|(at, _)| at)
        .filter(|&at| code[..at].chars().next_back().is_none_or(|c| !is_name(c)))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Finds the blocks after `#[cfg(test)]` and similar attributes.
fn test_modules(code: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, opening) in code.match_indices("#[cfg(") {
        let rest = &code[at + opening.len()..];
        let condition = &rest[..rest.find(']').unwrap_or(rest.len())];
        if !has_word(condition, "test") || condition.contains("not(test") {
            continue;
        }
        let item = at + opening.len() + condition.len();
        let semicolon = code[item..].find(';').map(|offset| item + offset);
        if let Some(block) = block_after(code, item)
            && semicolon.is_none_or(|end| block.start < end)
        {
            found.push(at..block.end);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_test_module_are_marked_as_test() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n";
        let source = Source::new("crates/x/src/lib.rs", text);
        let test: Vec<bool> = source.lines().map(|line| line.test).collect();
        assert_eq!(test, [false, true, true, true, true, false, false]);
    }

    #[test]
    fn a_test_module_in_a_separate_file_marks_no_lines() {
        let text = "#[cfg(test)]\nmod tests;\nfn a() {}\n";
        let source = Source::new("crates/x/src/lib.rs", text);
        assert!(source.lines().all(|line| !line.test));
    }

    #[test]
    fn code_under_cfg_not_test_is_not_test_code() {
        let source = Source::new("crates/x/src/lib.rs", "#[cfg(not(test))]\nfn a() {\n}\n");
        assert!(source.lines().all(|line| !line.test));
    }

    #[test]
    fn test_files_are_recognised_by_directory_and_name() {
        assert!(is_test_path("crates/x/tests/it.rs"));
        assert!(is_test_path("crates/x/src/store/tests.rs"));
        assert!(!is_test_path("crates/x/src/attests.rs"));
    }

    #[test]
    fn a_word_matches_whole_and_a_start_matches_as_a_prefix() {
        assert!(has_word("unsafe {", "unsafe"));
        assert!(!has_word("forbid(unsafe_code)", "unsafe"));
        assert!(has_start("std::env::var_os(x)", "env::var"));
        assert!(!has_start("my_env::var(x)", "env::var"));
    }
}
