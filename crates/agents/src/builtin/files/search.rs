//! Finds files by name and lines by regular expression.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use grep_regex::RegexMatcherBuilder;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::WalkBuilder;
use mw_model::count;

/// The maximum size of a line in the result, in bytes.
const MAX_LINE: usize = 300;
/// The maximum number of files that are searched.
const MAX_FILES: usize = 200_000;

/// A search in files.
#[derive(Clone, Debug, Default)]
pub(in crate::builtin) struct GrepCall {
    pub(in crate::builtin) pattern: String,
    pub(in crate::builtin) glob: Option<String>,
    pub(in crate::builtin) ignore_case: bool,
    pub(in crate::builtin) context: usize,
    pub(in crate::builtin) files_only: bool,
}

/// Finds files by name. Names are relative to `base`.
pub(in crate::builtin) fn glob(
    base: &Path,
    pattern: &str,
    most_bytes: usize,
    stopped: &dyn Fn() -> bool,
) -> Result<String, String> {
    let matcher = matcher(pattern)?;
    let (files, cut) = files(base, Some(&matcher), stopped);
    if files.is_empty() {
        return Ok(format!("[no file matches {pattern:?}]"));
    }
    let mut lines = Lines::new(most_bytes);
    for file in &files {
        lines.add(&below(base, file));
    }
    Ok(lines.end("files") + &cut_note(cut))
}

/// Returns a note, if not all files were searched.
fn cut_note(cut: bool) -> String {
    let note = || format!("\n[only the first {MAX_FILES} files were searched: give a directory]");
    cut.then(note).unwrap_or_default()
}

/// Finds lines in files.
pub(in crate::builtin) fn grep(
    base: &Path,
    call: &GrepCall,
    most_bytes: usize,
    stopped: &dyn Fn() -> bool,
) -> Result<String, String> {
    let name = call.glob.as_deref().map(matcher).transpose()?;
    let regex = RegexMatcherBuilder::new()
        .case_insensitive(call.ignore_case)
        .line_terminator(Some(b'\n'))
        .build(&call.pattern)
        .map_err(|error| format!("invalid pattern: {error}"))?;
    let mut searcher = SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .before_context(call.context)
        .after_context(call.context)
        .line_number(true)
        .build();
    let (files, cut) =
        if base.is_file() { (vec![base.to_owned()], false) } else { files(base, name.as_ref(), stopped) };
    let mut found = SearchResult {
        lines: Lines::new(most_bytes),
        name: String::new(),
        hits: 0,
        files_only: call.files_only,
    };
    let mut unreadable = 0;
    for file in &files {
        if stopped() {
            break;
        }
        found.name = if base.is_file() {
            file.file_name().unwrap_or_default().to_string_lossy().into_owned()
        } else {
            below(base, file)
        };
        let before = found.hits;
        if searcher.search_path(&regex, file, &mut found).is_err() {
            unreadable += 1;
        }
        if call.files_only && found.hits > before {
            found.lines.add(&found.name);
        }
    }
    let mut text = match found.hits {
        0 => format!("[no match for {:?} in {}]", call.pattern, count(files.len(), "file", "files")),
        _ => found.lines.end(if call.files_only { "files" } else { "lines" }),
    };
    if unreadable > 0 {
        text.push_str(&format!("\n[{} could not be read]", count(unreadable, "file", "files")));
    }
    Ok(text + &cut_note(cut))
}

/// Compiles a pattern. Without a slash it matches names in any directory, as in `.gitignore`.
fn matcher(pattern: &str) -> Result<GlobMatcher, String> {
    let whole = if pattern.contains('/') {
        pattern.trim_start_matches("./").to_owned()
    } else {
        format!("**/{pattern}")
    };
    let glob = GlobBuilder::new(&whole).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| format!("invalid pattern: {error}"))
}

/// Lists files by name, and returns whether there are too many. Symbolic links are not followed.
fn files(base: &Path, wanted: Option<&GlobMatcher>, stopped: &dyn Fn() -> bool) -> (Vec<PathBuf>, bool) {
    let walk = WalkBuilder::new(base)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_name(Ord::cmp)
        .build();
    let mut files = Vec::new();
    for (seen, entry) in walk.filter_map(Result::ok).enumerate() {
        if seen >= MAX_FILES || stopped() {
            return (files, seen >= MAX_FILES);
        }
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let path = entry.path();
        let fits = wanted.is_none_or(|wanted| wanted.is_match(path.strip_prefix(base).unwrap_or(path)));
        if is_file && fits {
            files.push(entry.into_path());
        }
    }
    (files, false)
}

fn below(base: &Path, path: &Path) -> String {
    path.strip_prefix(base).unwrap_or(path).to_string_lossy().into_owned()
}

/// Collects lines up to a size, and counts the remaining ones.
struct Lines {
    text: String,
    most_bytes: usize,
    left: usize,
}

impl Lines {
    const fn new(most_bytes: usize) -> Self {
        Self { text: String::new(), most_bytes, left: 0 }
    }

    fn add(&mut self, line: &str) {
        let line = line.trim_end_matches(['\n', '\r']);
        if self.left > 0 || self.text.len() + line.len() + 1 > self.most_bytes {
            self.left += 1;
            return;
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn end(mut self, what: &str) -> String {
        if self.left > 0 {
            self.text.push_str(&format!("[{} more {what} omitted: narrow the search]", self.left));
        }
        self.text.truncate(self.text.trim_end().len());
        self.text
    }
}

struct SearchResult {
    lines: Lines,
    name: String,
    hits: usize,
    files_only: bool,
}

impl SearchResult {
    fn add(&mut self, number: Option<u64>, mark: char, bytes: &[u8]) {
        let line = String::from_utf8_lossy(bytes);
        let line = line.trim_end();
        let end = line.floor_char_boundary(MAX_LINE);
        let more =
            if end < line.len() { format!(" [… {} more bytes]", line.len() - end) } else { String::new() };
        self.lines.add(&format!("{}{mark}{}{mark}{}{more}", self.name, number.unwrap_or(0), &line[..end]));
    }
}

impl Sink for SearchResult {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        self.hits += 1;
        if !self.files_only {
            self.add(found.line_number(), ':', found.bytes());
        }
        Ok(!self.files_only)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, Self::Error> {
        if !self.files_only {
            self.add(context.line_number(), '-', context.bytes());
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn project() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("src/deep")).unwrap();
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::create_dir_all(root.join(".github")).unwrap();
        fs::write(root.join(".gitignore"), "target\n").unwrap();
        fs::write(root.join(".git/config.rs"), "needle").unwrap();
        fs::write(root.join(".github/ci.yml"), "needle: yes\n").unwrap();
        fs::write(root.join("target"), "needle").unwrap();
        fs::write(root.join("src/a.rs"), "fn a() {}\nlet needle = 1;\nend\n").unwrap();
        fs::write(root.join("src/deep/b.rs"), "NEEDLE\n").unwrap();
        fs::write(root.join("bin"), b"\0needle").unwrap();
        dir
    }

    fn found(dir: &Path, call: &GrepCall, most: usize) -> String {
        grep(dir, call, most, &|| false).unwrap()
    }

    #[test]
    fn a_glob_matches_names_in_any_directory_unless_it_has_a_path() {
        let dir = project();
        let all = |pattern: &str| glob(dir.path(), pattern, 999, &|| false).unwrap();
        assert_eq!(all("*.rs"), "src/a.rs\nsrc/deep/b.rs");
        assert_eq!(all("src/*.rs"), "src/a.rs");
        assert_eq!(all("src/**/*.rs"), "src/a.rs\nsrc/deep/b.rs");
        assert_eq!(all("*.yml"), ".github/ci.yml");
        assert_eq!(all("target"), "[no file matches \"target\"]");
        assert!(glob(dir.path(), "a[", 9, &|| false).is_err());
        assert_eq!(
            glob(dir.path(), "*.rs", 9, &|| false).unwrap(),
            "src/a.rs\n[1 more files omitted: narrow the search]"
        );
    }

    #[test]
    fn grep_searches_text_files_that_are_not_ignored() {
        let dir = project();
        let call = GrepCall { pattern: "needle".to_owned(), ..GrepCall::default() };
        assert_eq!(found(dir.path(), &call, 999), ".github/ci.yml:1:needle: yes\nsrc/a.rs:2:let needle = 1;");
        let with = GrepCall { ignore_case: true, files_only: true, ..call.clone() };
        assert_eq!(found(dir.path(), &with, 999), ".github/ci.yml\nsrc/a.rs\nsrc/deep/b.rs");
        let with = GrepCall { context: 1, glob: Some("*.rs".to_owned()), ..call.clone() };
        assert_eq!(
            found(dir.path(), &with, 999),
            "src/a.rs-1-fn a() {}\nsrc/a.rs:2:let needle = 1;\nsrc/a.rs-3-end"
        );
        assert_eq!(found(&dir.path().join("src/a.rs"), &call, 999), "a.rs:2:let needle = 1;");
        let cut = found(dir.path(), &call, 30);
        assert!(cut.ends_with("[1 more lines omitted: narrow the search]"), "{cut}");
        let none = GrepCall { pattern: "haystack".to_owned(), ..GrepCall::default() };
        assert!(found(dir.path(), &none, 99).starts_with("[no match for"));
        let broken = GrepCall { pattern: "(".to_owned(), ..GrepCall::default() };
        assert!(grep(dir.path(), &broken, 9, &|| false).is_err());
    }

    #[test]
    fn a_long_line_is_cut_and_a_search_can_be_stopped() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("f"), format!("x{}\n", "ä".repeat(400))).unwrap();
        let call = GrepCall { pattern: "x".to_owned(), ..GrepCall::default() };
        let text = found(dir.path(), &call, 9999);
        assert!(text.ends_with("[… 502 more bytes]"), "{text}");
        assert!(grep(dir.path(), &call, 99, &|| true).unwrap().starts_with("[no match for"));
    }
}
