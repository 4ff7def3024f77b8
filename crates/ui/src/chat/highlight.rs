//! Colours source code in answers and diffs. It knows what comments, strings, numbers and keywords look like in the common
//! languages, line by line, and needs no grammar files.

use meanwhile::model::Status;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use crate::screen::Theme;

/// A family of languages that look alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// Rust, C, Java, Go, JavaScript and their relatives: `//` and `/* */`.
    Braces,
    /// Python, Ruby, shell, YAML, TOML and their relatives: `#`.
    Hash,
    /// SQL, Lua and Haskell: `--`.
    Dashes,
}

const KEYWORDS: &str = " abstract and as assert async await begin bool break case catch char class const continue crate def \
    default defer del delete do done double elif else elsif end enum esac except export extends extern false fi final \
    finally float fn for from func function go if impl implements import in include int interface is lambda let local \
    long loop match mod module mut new nil none None not null or package pass private protected pub public raise ref \
    return select self Self short static str string struct super switch then this throw trait true True False try type \
    typeof undefined union unless unsafe until use using var void where while with yield \
    SELECT FROM WHERE INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE JOIN ON ORDER GROUP BY LIMIT AND OR NOT NULL ";

impl Language {
    /// Returns the family of a language by its name or the extension of a file; `None` for plain text.
    pub(super) fn named(name: &str) -> Option<Self> {
        let name = name.rsplit(['.', '/']).next().unwrap_or(name).to_ascii_lowercase();
        match name.as_str() {
            "rust" | "rs" | "c" | "h" | "cc" | "cpp" | "hpp" | "c++" | "java" | "kt" | "kotlin" | "go"
            | "js" | "jsx" | "javascript" | "ts" | "tsx" | "typescript" | "cs" | "csharp" | "swift"
            | "scala" | "dart" | "php" | "json" | "jsonc" | "json5" | "css" | "scss" | "zig" | "proto" => {
                Some(Self::Braces)
            }
            "python" | "py" | "ruby" | "rb" | "sh" | "bash" | "zsh" | "fish" | "shell" | "console"
            | "yaml" | "yml" | "toml" | "ini" | "conf" | "dockerfile" | "makefile" | "make" | "perl"
            | "pl" | "r" | "nix" | "elixir" | "ex" | "cmake" => Some(Self::Hash),
            "sql" | "lua" | "haskell" | "hs" | "elm" => Some(Self::Dashes),
            _ => None,
        }
    }

    /// Returns whether the rest of a line is a comment.
    fn is_comment(self, rest: &str, before: Option<char>) -> bool {
        match self {
            Self::Braces => {
                rest.starts_with("//")
                    || rest.starts_with("/*")
                    || (before.is_none() && rest.starts_with("* "))
            }
            // In a shell, a `#` within a word is no comment.
            Self::Hash => rest.starts_with('#') && before.is_none_or(char::is_whitespace),
            Self::Dashes => rest.starts_with("--"),
        }
    }
}

/// Splits a line of code into spans. `base` is the style of everything that has no meaning of its own.
pub(super) fn spans(
    line: &str,
    language: Option<Language>,
    base: Style,
    theme: &Theme,
) -> Vec<Span<'static>> {
    let Some(language) = language else { return vec![Span::styled(line.to_owned(), base)] };
    let of = |style: Style| base.patch(style);
    let comment = of(theme.dim).add_modifier(Modifier::ITALIC);
    let string = of(theme.status(Status::Completed));
    let number = of(theme.status(Status::Lost)).remove_modifier(Modifier::BOLD);
    let keyword = of(theme.accent);
    let mut found: Vec<Span<'static>> = Vec::new();
    let mut add = |text: &str, style: Style| match found.last_mut() {
        Some(last) if last.style == style => last.content.to_mut().push_str(text),
        Some(_) | None => found.push(Span::styled(text.to_owned(), style)),
    };
    let mut rest = line;
    let mut before: Option<char> = None;
    while let Some(first) = rest.chars().next() {
        let (length, style) = if language.is_comment(rest, before) {
            (rest.len(), comment)
        } else if matches!(first, '"' | '`') || (first == '\'' && is_quoted(rest)) {
            (quoted(rest, first), string)
        } else if first.is_ascii_digit() {
            (
                rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_').unwrap_or(rest.len()),
                number,
            )
        } else if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let is_keyword = KEYWORDS.split_whitespace().any(|word| word == &rest[..end]);
            (end, if is_keyword { keyword } else { base })
        } else {
            (first.len_utf8(), base)
        };
        add(&rest[..length], style);
        // Leading spaces do not count as text before a comment.
        let last = rest[..length].chars().next_back();
        before = last.filter(|c| before.is_some() || !c.is_whitespace());
        rest = &rest[length..];
    }
    found
}

/// Returns whether an apostrophe begins a text, and is not a lifetime or part of a word.
fn is_quoted(text: &str) -> bool {
    let inner = &text[1..];
    match inner.find('\'') {
        Some(end) => end <= 4 || !inner[..end].contains([',', ')', '>', ';']),
        None => false,
    }
}

/// Returns the length of a quoted text, or of the rest if it does not end in this line.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::ThemeChoice;

    fn parts(line: &str, language: &str) -> Vec<String> {
        let theme = Theme::of(ThemeChoice::Dark);
        let spans = spans(line, Language::named(language), Style::new(), &theme);
        let whole: String = spans.iter().map(|span| span.content.as_ref()).collect();
        assert_eq!(whole, line, "no text is lost");
        spans
            .into_iter()
            .filter(|span| span.style != Style::new())
            .map(|span| span.content.into_owned())
            .collect()
    }

    #[test]
    fn keywords_strings_numbers_and_comments_are_coloured() {
        assert_eq!(
            parts("let x = \"a \\\" b\" + 12.5; // so", "rust"),
            ["let", "\"a \\\" b\"", "12.5", "// so"]
        );
        assert_eq!(parts("def f(a): return 'x' # why", "python"), ["def", "return", "'x'", "# why"]);
        assert_eq!(parts("echo $# \"$a\"", "sh"), ["\"$a\""]);
        assert_eq!(parts("SELECT a FROM b -- all", "src/query.sql"), ["SELECT", "FROM", "-- all"]);
        assert_eq!(parts("fn f<'a>(x: &'a str)", "rs"), ["fn", "str"]);
        assert!(parts("plain text, if any", "text").is_empty());
    }
}
