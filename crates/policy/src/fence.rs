//! What may reach the grammar.
//!
//! The parser backtracks and recurses: some short texts would keep it busy for minutes or overflow the stack, and
//! a few numbers make it panic. Whatever could is refused here, and what is refused is asked about.

use brush_parser::Token;

/// Most bytes of a script.
pub(super) const MOST_BYTES: usize = 64 << 10;
/// Most scripts inside scripts.
pub(super) const MOST_DEPTH: usize = 12;
/// Most substitutions that a text may open.
const MOST_SUBSTITUTIONS: usize = 200;
/// Most compound commands; each could be inside the one before.
const MOST_COMPOUNDS: usize = 40;
/// Most `case` commands; the time to parse them doubles with each level.
const MOST_CASES: usize = 6;
/// Most parentheses inside each other; unclosed ones double the time too.
const MOST_PARENTHESES: usize = 8;
/// The length from which a number in front of a redirection does not fit.
const MOST_DIGITS: usize = 9;

/// A sign for a comment right behind an operator: the grammar takes it for one, and bash does not everywhere (`a=(b)#c`).
const DOUBTFUL_COMMENTS: [&str; 5] = [")#", "|#", "&#", "<#", ">#"];

/// Why a text does not reach the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    TooLong,
    TooDeep,
    Character(char),
    Number,
    Comment,
    Document,
}

/// Looks at a word that no shell takes apart.
pub(super) fn check_word(word: &str) -> Result<(), Refused> {
    if word.len() > MOST_BYTES {
        return Err(Refused::TooLong);
    }
    word.chars().find(|c| is_bad(*c)).map_or(Ok(()), |bad| Err(Refused::Character(bad)))
}

/// Looks at a text before it is taken apart.
pub(super) fn check_text(text: &str) -> Result<(), Refused> {
    check_word(text)?;
    let opened = text.matches("$(").count() + text.matches("${").count() + text.matches('`').count();
    let nested = text.matches("(").count();
    if opened > MOST_SUBSTITUTIONS || nested > MOST_SUBSTITUTIONS {
        return Err(Refused::TooDeep);
    }
    if DOUBTFUL_COMMENTS.iter().any(|sign| text.contains(sign)) || text.contains("=(") && text.contains("(#")
    {
        return Err(Refused::Comment);
    }
    if has_doubtful_document(text) {
        return Err(Refused::Document);
    }
    let mut digits = 0;
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'<' | b'>' if digits > MOST_DIGITS => return Err(Refused::Number),
            _ => digits = 0,
        }
    }
    Ok(())
}

/// Returns whether a here-document begins behind a substitution, or beside one on its line, or on a line that goes on in the
/// next one: the tokenizer panics on some of them, and where they end is nothing to rely on.
fn has_doubtful_document(text: &str) -> bool {
    let is_open = |part: &str| ["$(", "${", "$[", "`"].iter().any(|sign| part.contains(sign));
    let mut rest = text;
    let mut at = 0;
    while let Some(found) = rest.find("<<") {
        let begin = at + found;
        let signs = text[begin..].bytes().take_while(|byte| *byte == b'<').count();
        let line_end = text[begin..].find('\n').map_or(text.len(), |end| begin + end);
        // Three signs are a string, not a document.
        let line = &text[..line_end];
        if signs != 3 && (is_open(line) || goes_on(line)) {
            return true;
        }
        at = begin + signs;
        rest = &text[at..];
    }
    false
}

/// Returns whether the last line may go on in the next one: a quote is open, however one counts, or a backslash ends it.
fn goes_on(lines: &str) -> bool {
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
    // In a comment, or in the text of another document, a quote is none.
    let is_odd = |quote: char| lines.matches(quote).count() % 2 == 1;
    quote.is_some() || lines.ends_with('\\') || is_odd('"') || is_odd('\'')
}

/// Characters that no command needs and that shells, terminals and people see differently.
pub(super) fn is_bad(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        c if c.is_control() => true,
        // Hidden, direction-changing and joining characters, and blanks that are no blanks to a shell.
        '\u{00a0}'
        | '\u{00ad}'
        | '\u{034f}'
        | '\u{061c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{1680}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{2000}'..='\u{200f}'
        | '\u{2028}'..='\u{202f}'
        | '\u{205f}'..='\u{206f}'
        | '\u{3000}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffd}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// Looks at the tokens before they are parsed.
pub(super) fn check_tokens(tokens: &[Token]) -> Result<(), Refused> {
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
    // A pattern of `case` closes what was never opened, so that the depth says nothing there.
    let deepest = if cases > 0 { opened } else { deepest };
    if compounds > MOST_COMPOUNDS || cases > MOST_CASES || deepest > MOST_PARENTHESES {
        return Err(Refused::TooDeep);
    }
    Ok(())
}
