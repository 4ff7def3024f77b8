//! Splits a raw word into units.

use super::finish::finish;
use super::{Unit, Word, ansi, braces, extent};

/// The context in which a word is expanded.
pub(crate) struct Context<'a> {
    /// The home directory of the user.
    pub(crate) home: &'a str,
    /// The current directory, if only one is possible.
    pub(crate) cwd: Option<&'a str>,
    /// Returns the possible values of a variable.
    pub(crate) variable: &'a dyn Fn(&str) -> Variable,
}

/// The possible values of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    /// One of these.
    Known(Vec<String>),
    /// The name of a file in the project.
    ProjectFile,
    /// Anything.
    Unknown,
}

/// The result of reading a raw word.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// The words it becomes.
    pub(crate) words: Vec<Word>,
    /// Scripts of its substitutions.
    pub(crate) scripts: Vec<String>,
    /// Variables that it expands.
    pub(crate) used: Vec<String>,
    /// Variables that it assigns.
    pub(crate) assigned: Vec<String>,
    /// Whether an arithmetic expression in it evaluates the content of variables.
    pub(crate) evaluates: bool,
    /// Why it cannot be analysed.
    pub(crate) problem: Option<&'static str>,
}

/// Reads a word of a command.
pub(crate) fn read_word(raw: &str, context: &Context<'_>) -> Read {
    let mut scan = Scan::new(context);
    scan.plain(&raw.chars().collect::<Vec<_>>());
    match braces::expand(&scan.units) {
        Some(words) => {
            for units in &words {
                let word = finish(raw, units, context);
                // bash drops empty results of braces.
                if words.len() == 1 || word.known.as_deref() != Some(&[String::new()]) {
                    scan.read.words.push(word);
                }
            }
            // Shells without brace expansion take it as one word.
            if words.len() > 1 {
                scan.read.words.iter_mut().for_each(|word| word.glob = true);
            }
        }
        None => scan.read.words.push(Word::unknown(raw)),
    }
    if scan.ambiguous {
        scan.read.words.iter_mut().for_each(|word| word.ambiguous = true);
    }
    scan.read
}

/// Reads the value of an assignment or the target of a redirection, which are neither split nor expanded by braces.
pub(crate) fn read_value(raw: &str, context: &Context<'_>) -> Read {
    let mut scan = Scan::new(context);
    scan.plain(&raw.chars().collect::<Vec<_>>());
    let mut word = finish(raw, &scan.units, context);
    word.ambiguous |= scan.ambiguous;
    // bash expands braces in the target of a redirection, and other shells do not.
    if braces::expand(&scan.units).is_none_or(|words| words.len() != 1) {
        word.known = None;
    }
    scan.read.words.push(word);
    scan.read
}

/// Reads a here-document, in which quotes have no meaning.
pub(crate) fn read_here(raw: &str, context: &Context<'_>) -> Read {
    let mut scan = Scan::new(context);
    scan.double(&raw.chars().collect::<Vec<_>>());
    scan.read.words.push(finish(raw, &scan.units, context));
    scan.read
}

pub(crate) struct Scan<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) units: Vec<Unit>,
    pub(crate) read: Read,
    pub(crate) ambiguous: bool,
}

/// Whether a position is inside double quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quotes {
    None,
    Double,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(context: &'a Context<'a>) -> Self {
        Self { context, units: Vec::new(), read: Read::default(), ambiguous: false }
    }

    pub(crate) fn problem(&mut self, what: &'static str) {
        self.read.problem.get_or_insert(what);
        self.units.push(Unit::Unknown { splits: true, in_project: false });
    }

    pub(crate) fn push(&mut self, c: char, quoted: bool) {
        self.units.push(Unit::Char { c, quoted });
    }

    pub(crate) fn plain(&mut self, chars: &[char]) {
        let mut at = 0;
        while at < chars.len() {
            at = match chars[at] {
                '\\' => {
                    match chars.get(at + 1) {
                        Some('\n') => {}
                        Some(c) => self.push(*c, true),
                        None => self.push('\\', true),
                    }
                    at + 2
                }
                '\'' => {
                    let Some(end) = extent::quote(chars, at + 1) else {
                        return self.problem("an unclosed quote");
                    };
                    chars[at + 1..end].iter().for_each(|c| self.push(*c, true));
                    // An empty word is a word.
                    self.units.push(Unit::Choice(Vec::new()));
                    end + 1
                }
                '"' => {
                    let Some(end) = extent::double(chars, at + 1) else {
                        return self.problem("an unclosed quote");
                    };
                    self.double(&chars[at + 1..end]);
                    self.units.push(Unit::Choice(Vec::new()));
                    end + 1
                }
                '$' if chars.get(at + 1) == Some(&'\'') => {
                    let Some(end) = extent::ansi(chars, at + 2) else {
                        return self.problem("an unclosed quote");
                    };
                    if chars[at + 2..end].contains(&'\'') {
                        // In shells other than bash the quotes end there.
                        return self.problem("quotes that shells read differently");
                    }
                    match ansi::decode(&chars[at + 2..end]) {
                        Some(text) => text.chars().for_each(|c| self.push(c, true)),
                        None => self.units.push(Unit::Unknown { splits: false, in_project: false }),
                    }
                    self.ambiguous = true;
                    end + 1
                }
                '$' if chars.get(at + 1) == Some(&'"') => {
                    return self.problem("text that the shell translates");
                }
                '$' => match self.dollar(chars, at, Quotes::None) {
                    Some(next) => next,
                    None => return,
                },
                '`' => match self.backquoted(chars, at, Quotes::None) {
                    Some(next) => next,
                    None => return,
                },
                '(' | ')' | '<' | '>' | '|' | '&' | ';' => {
                    return self.problem("a pattern or operator inside a word");
                }
                c => {
                    self.push(c, false);
                    at + 1
                }
            };
        }
    }

    pub(crate) fn double(&mut self, chars: &[char]) {
        let mut at = 0;
        while at < chars.len() {
            at = match chars[at] {
                '\\' => match chars.get(at + 1) {
                    Some('\n') => at + 2,
                    Some(c @ ('$' | '`' | '"' | '\\')) => {
                        self.push(*c, true);
                        at + 2
                    }
                    _ => {
                        self.push('\\', true);
                        at + 1
                    }
                },
                '$' => match self.dollar(chars, at, Quotes::Double) {
                    Some(next) => next,
                    None => return,
                },
                '`' => match self.backquoted(chars, at, Quotes::Double) {
                    Some(next) => next,
                    None => return,
                },
                c => {
                    self.push(c, true);
                    at + 1
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> Context<'static> {
        Context {
            home: "/home/me",
            cwd: Some("/p"),
            variable: &|name| match name {
                "two" => Variable::Known(vec!["a".to_owned(), "b".to_owned()]),
                _ => Variable::Unknown,
            },
        }
    }

    fn words(raw: &str) -> Vec<Option<String>> {
        let read = read_word(raw, &context());
        assert_eq!(read.problem, None, "{raw}");
        read.words.iter().map(|word| word.known.as_ref().map(|known| known.join("|"))).collect()
    }

    fn one(raw: &str) -> Option<String> {
        let words = words(raw);
        assert_eq!(words.len(), 1, "{raw}");
        words[0].clone()
    }

    #[test]
    fn quotes_and_backslashes_are_removed_from_a_word() {
        for raw in ["rm", r"r\m", "'r'm", "\"rm\"", "r''m", "$'\\x72m'", "r\\\nm"] {
            assert_eq!(one(raw).as_deref(), Some("rm"), "{raw}");
        }
        assert_eq!(one("\"a\\$b\\c\"").as_deref(), Some("a$b\\c"));
        assert_eq!(one("''").as_deref(), Some(""));
    }

    #[test]
    fn tildes_and_known_variables_are_expanded() {
        assert_eq!(one("~/x").as_deref(), Some("/home/me/x"));
        assert_eq!(one("'~'/x").as_deref(), Some("~/x"));
        assert_eq!(one("~root/x"), None);
        assert_eq!(one("$two.txt").as_deref(), Some("a.txt|b.txt"));
        assert_eq!(one("\"${two}\"").as_deref(), Some("a|b"));
        assert_eq!(one("$other"), None);
        assert_eq!(one("a$").as_deref(), Some("a$"));
    }

    #[test]
    fn braces_are_expanded_into_words() {
        let some = |texts: &[&str]| texts.iter().map(|text| Some((*text).to_owned())).collect::<Vec<_>>();
        assert_eq!(words("{rm,-rf,x}"), some(&["rm", "-rf", "x"]));
        assert_eq!(words("a{b,c{d,e}}f"), some(&["abf", "acdf", "acef"]));
        assert_eq!(words("{1..3}"), some(&["1", "2", "3"]));
        assert_eq!(words("{a}"), some(&["{a}"]));
        assert_eq!(words("'{a,b}'"), some(&["{a,b}"]));
        assert_eq!(words("{1..100000}"), [None]);
        assert_eq!(words("{}"), some(&["{}"]));
    }

    #[test]
    fn scripts_in_command_substitutions_are_returned() {
        let read = read_word("a$(rm -rf \")\" $(b))`c \\`d\\``", &context());
        assert_eq!(read.scripts, ["rm -rf \")\" $(b)", "c `d`"]);
        assert_eq!(read.words[0].known, None);
    }

    #[test]
    fn words_that_may_run_commands_or_cannot_be_read_have_a_problem() {
        let raws = [
            "$((a[$(x)]))",
            "${x@P}",
            "${x:-$(y)}",
            "${a[$(x)]}",
            "$[1]",
            "$(case x in x) y;; esac)",
            "$(cat <<E\nE\n)",
            "\"open",
            "@(a|b)",
        ];
        for raw in raws {
            assert!(read_word(raw, &context()).problem.is_some(), "{raw}");
        }
    }
}
