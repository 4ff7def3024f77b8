//! Limits on the texts that are parsed.
//!
//! The parser backtracks and recurses: some short texts take minutes or overflow the stack, and a few numbers make it
//! panic. Such texts are refused here and need approval.

use brush_parser::Token;
use mw_model::is_hidden;

/// Maximum length of a script in bytes.
pub(crate) const MAX_BYTES: usize = 64 << 10;
/// How deep scripts may be nested.
pub(crate) const MAX_DEPTH: usize = 12;
/// Maximum number of substitutions in a text.
const MAX_SUBSTITUTIONS: usize = 200;
/// Maximum number of compound commands, because each may be nested in the one before.
const MAX_COMPOUNDS: usize = 40;
/// Most `case` commands; the time to parse them doubles with each level.
const MAX_CASES: usize = 6;
/// How deep parentheses may be nested; unclosed ones also double the time.
const MAX_PARENTHESES: usize = 8;
/// Maximum number of digits of a number before a redirection.
const MAX_DIGITS: usize = 9;

/// A `#` directly after an operator. The parser always begins a comment there; bash does not always (`a=(b)#c`).
const AMBIGUOUS_COMMENTS: [&str; 5] = [")#", "|#", "&#", "<#", ">#"];

/// Why a text is not parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    TooLong,
    TooDeep,
    Character(char),
    Number,
    Comment,
    Document,
}

/// Checks a word of a command without a shell.
pub(crate) fn check_word(word: &str) -> Result<(), Refused> {
    if word.len() > MAX_BYTES {
        return Err(Refused::TooLong);
    }
    let mut before = None;
    for c in word.chars() {
        if is_deceptive(c) && !is_emoji(before, c) {
            return Err(Refused::Character(c));
        }
        before = Some(c);
    }
    Ok(())
}

/// Checks a script before it is split into tokens.
pub(crate) fn check_text(text: &str) -> Result<(), Refused> {
    check_word(text)?;
    let opened = text.matches("$(").count() + text.matches("${").count() + text.matches('`').count();
    let nested = text.matches("(").count();
    if opened > MAX_SUBSTITUTIONS || nested > MAX_SUBSTITUTIONS {
        return Err(Refused::TooDeep);
    }
    if AMBIGUOUS_COMMENTS.iter().any(|sign| text.contains(sign)) || text.contains("=(") && text.contains("(#")
    {
        return Err(Refused::Comment);
    }
    if has_ambiguous_document(text) {
        return Err(Refused::Document);
    }
    let mut digits = 0;
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'<' | b'>' if digits > MAX_DIGITS => return Err(Refused::Number),
            _ => digits = 0,
        }
    }
    Ok(())
}

/// Returns whether a here-document begins after a substitution, on the same line as one, or on a line that continues on
/// the next one. The tokenizer panics on some of these, and their end is not reliable.
fn has_ambiguous_document(text: &str) -> bool {
    let is_open = |part: &str| ["$(", "${", "$[", "`"].iter().any(|sign| part.contains(sign));
    let mut rest = text;
    let mut at = 0;
    while let Some(found) = rest.find("<<") {
        let begin = at + found;
        let signs = text[begin..].bytes().take_while(|byte| *byte == b'<').count();
        let line_end = text[begin..].find('\n').map_or(text.len(), |end| begin + end);
        // `<<<` is a here-string, not a here-document.
        let line = &text[..line_end];
        if signs != 3 && (is_open(line) || continues(line)) {
            return true;
        }
        at = begin + signs;
        rest = &text[at..];
    }
    false
}

/// Returns whether the last line may continue on the next one: a quote may be open, or a backslash ends it.
fn continues(lines: &str) -> bool {
    let (mut quote, mut escaped) = (None, false);
    for c in lines.chars() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    // A quote in a comment or in another here-document has no meaning.
    let is_odd = |quote: char| lines.matches(quote).count() % 2 == 1;
    quote.is_some() || lines.ends_with('\\') || is_odd('"') || is_odd('\'')
}

/// Returns whether a character is one that no command needs and that shells, terminals and people read differently.
/// U+FFFD is among them, because it stands for bytes that are not known.
pub(crate) fn is_deceptive(c: char) -> bool {
    !matches!(c, '\n' | '\t') && (is_hidden(c) || c == char::REPLACEMENT_CHARACTER)
}

/// Returns whether two characters are a symbol and the selector that shows it as an emoji.
fn is_emoji(symbol: Option<char>, selector: char) -> bool {
    selector == '\u{fe0f}' && matches!(symbol, Some('\u{2100}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}'))
}

/// Checks the tokens before they are parsed.
pub(crate) fn check_tokens(tokens: &[Token]) -> Result<(), Refused> {
    let (mut compounds, mut cases, mut opened, mut depth, mut deepest) = (0, 0, 0_usize, 0_usize, 0_usize);
    for token in tokens {
        match token {
            Token::Word(word, _) => match word.as_str() {
                "case" => {
                    cases += 1;
                    compounds += 1;
                }
                "{" | "if" | "while" | "until" | "for" | "coproc" | "[[" | "function" | "select" => {
                    compounds += 1;
                }
                _ => {}
            },
            Token::Operator(operator, _) => match operator.as_str() {
                "(" => {
                    opened += 1;
                    depth += 1;
                    deepest = deepest.max(depth);
                }
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            },
        }
    }
    // A pattern of `case` has a closing parenthesis without an opening one, so the depth is not reliable.
    let deepest = if cases > 0 { opened } else { deepest };
    if compounds > MAX_COMPOUNDS || cases > MAX_CASES || deepest > MAX_PARENTHESES {
        return Err(Refused::TooDeep);
    }
    Ok(())
}
