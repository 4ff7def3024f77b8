//! Where a substitution ends.
//!
//! This is deliberately incomplete. A here-document or a `case` inside a substitution would need a second parser; such a
//! substitution has no end here and needs approval.

/// Finds the parenthesis that closes what was opened before `from`.
pub(crate) fn parenthesis(chars: &[char], from: usize) -> Option<usize> {
    let (mut at, mut depth) = (from, 1);
    let mut word_starts = true;
    let mut word = String::new();
    while at < chars.len() {
        let c = chars[at];
        let started = word_starts;
        word_starts = matches!(c, ' ' | '\t' | '\n' | ';' | '|' | '&' | '(' | ')');
        if word_starts {
            if word == "case" {
                return None;
            }
            word.clear();
        } else {
            word.push(c);
        }
        match c {
            '\\' => at += 1,
            '\'' => at = quote(chars, at + 1)?,
            '"' => at = double(chars, at + 1)?,
            '`' => at = backquote(chars, at + 1)?,
            // Shells differ in where this ends.
            '$' if chars.get(at + 1) == Some(&'\'') => return None,
            '$' if chars.get(at + 1) == Some(&'{') => at = brace(chars, at + 2)?,
            '#' if started => {
                while at < chars.len() && chars[at] != '\n' {
                    at += 1;
                }
                word_starts = true;
            }
            '<' if chars.get(at + 1) == Some(&'<') && chars.get(at + 2) != Some(&'<') => return None,
            '<' if chars.get(at + 1) == Some(&'<') => at += 2,
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Finds the brace that closes `${`.
pub(crate) fn brace(chars: &[char], from: usize) -> Option<usize> {
    let mut at = from;
    while at < chars.len() {
        at = match chars[at] {
            '}' => return Some(at),
            '\'' => quote(chars, at + 1)?,
            '"' => double(chars, at + 1)?,
            _ => expansion(chars, at)?,
        } + 1;
    }
    None
}

/// Finds the quote that closes `"`.
pub(crate) fn double(chars: &[char], from: usize) -> Option<usize> {
    let mut at = from;
    while at < chars.len() {
        at = match chars[at] {
            '"' => return Some(at),
            _ => expansion(chars, at)?,
        } + 1;
    }
    None
}

/// Finds the last character of what begins here: an escaped character, a substitution, or one character.
fn expansion(chars: &[char], at: usize) -> Option<usize> {
    match (chars[at], chars.get(at + 1)) {
        ('\\', _) => Some(at + 1),
        ('`', _) => backquote(chars, at + 1),
        ('$', Some('(')) => parenthesis(chars, at + 2),
        ('$', Some('{')) => brace(chars, at + 2),
        _ => Some(at),
    }
}

/// Finds the quote that closes `'`.
pub(crate) fn quote(chars: &[char], from: usize) -> Option<usize> {
    chars.iter().skip(from).position(|c| *c == '\'').map(|at| from + at)
}

/// Finds the backquote that closes one.
pub(crate) fn backquote(chars: &[char], from: usize) -> Option<usize> {
    unescaped(chars, from, '`')
}

/// Finds the quote that closes `$'`.
pub(crate) fn ansi(chars: &[char], from: usize) -> Option<usize> {
    unescaped(chars, from, '\'')
}

fn unescaped(chars: &[char], from: usize, wanted: char) -> Option<usize> {
    let mut at = from;
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 1,
            c if c == wanted => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}
