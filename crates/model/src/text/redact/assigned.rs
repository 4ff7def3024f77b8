//! Secrets that are recognised by what precedes them: a name, a flag, a header, or a user in an address.

use super::find::MARK;
use super::names;
use super::names::{Name, is_ordinary, is_path};
use super::{Edge, Secret, mark_len};

/// A longer value counts as secret without further checks, so that no value is scanned repeatedly.
const LONG: usize = 512;
const LONGEST_NAME: usize = 64;
/// Maximum number of blanks between a name, its separator and its value.
const BLANKS: usize = 8;
const SCHEMES: [&str; 6] = ["bearer", "basic", "token", "digest", "apikey", "negotiate"];

/// How a value is joined to its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    /// `name=value`, as in a shell, or `--name value`.
    Tight,
    /// `name: value` or `name = value`, as in files, headers, code and prose.
    Loose,
}

/// The position of a value.
struct Value {
    start: usize,
    end: usize,
    is_quoted: bool,
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Checks the name and value around a `=` or a `:`.
pub(super) fn at_separator(text: &[u8], here: usize, edge: Edge) -> Option<Secret> {
    if text[here..].starts_with(b"://") {
        return in_address(text, here + 3, edge);
    }
    let blanks = text[..here].iter().rev().take(BLANKS).take_while(|byte| is_blank(**byte)).count();
    let mut end = here - blanks;
    // The name may be in quotes, including escaped quotes of JSON inside a string.
    let quoted = end > 0 && matches!(text[end - 1], b'"' | b'\'');
    if quoted {
        end -= 1;
        end -= usize::from(end > 0 && text[end - 1] == b'\\');
    }
    let len = text[..end].iter().rev().take(LONGEST_NAME + 1).take_while(|byte| is_name(**byte)).count();
    let name = names::look(&text[end - len..end])?;
    let after = here + 1;
    let skipped = text[after..].iter().take(BLANKS).take_while(|byte| is_blank(**byte)).count();
    let join = if text[here] == b'=' && blanks == 0 && !quoted { Join::Tight } else { Join::Loose };
    if join == Join::Tight && skipped > 0 {
        return None;
    }
    let found = secret(text, after + skipped, name, join, edge)?;
    let begins_line = |at: usize| at == 0 || text[at - 1] == b'\n';
    let name_start = end - len;
    let is_variable = begins_line(name_start)
        || text[..name_start].ends_with(b"export ") && begins_line(name_start - b"export ".len());
    // A variable as printed by a shell or in an environment file: whatever the value contains, only white space ends
    // it.
    if join != Join::Tight || !is_variable || found.start != after {
        return Some(found);
    }
    let rest = &text[found.end..];
    let rest = &rest[..rest.iter().take_while(|byte| !byte.is_ascii_whitespace()).count()];
    let goes_on = rest.iter().any(u8::is_ascii_alphanumeric);
    Some(if goes_on { Secret { end: found.end + rest.len(), ..found } } else { found })
}

/// Flags with a password, the program they belong to, and the separator before the password.
const LETTERS: [(&[u8], &[u8], &[u8]); 3] =
    [(b"-u", b"curl", b":"), (b"--user", b"curl", b":"), (b"-p", b"mysql", b"")];
/// How many bytes before the flag the program is searched for.
const REACH: usize = 200;

/// Checks for a password after a short flag, as in `curl -u user:password`.
pub(super) fn after_letter(text: &[u8], here: usize) -> Option<Secret> {
    let (flag, program, mark) =
        LETTERS.iter().find(|(flag, _, _)| text[here..].starts_with(flag) && text[..here].ends_with(b" "))?;
    let line = &text[here.saturating_sub(REACH)..here];
    let line = line.rsplit(|byte| *byte == b'\n').next().unwrap_or(line);
    if !line.windows(program.len()).any(|window| window == *program) {
        return None;
    }
    let after = here + flag.len();
    let skips = if mark.is_empty() { 0 } else { usize::from(matches!(text.get(after), Some(b' ' | b'='))) };
    let value = value_at(text, after + skips)?;
    let body = &text[value.start..value.end];
    let user = if mark.is_empty() { 0 } else { body.iter().position(|byte| *byte == mark[0])? + 1 };
    if begins_like_a_placeholder(&body[user..]) {
        return None;
    }
    Some(Secret { start: value.start + user, end: value.end, kind: "password" })
}

/// Checks the value after a flag such as `--password`.
pub(super) fn after_flag(text: &[u8], here: usize, edge: Edge) -> Option<Secret> {
    let name = text[here..].strip_prefix(b"--")?;
    if !name.first()?.is_ascii_alphabetic() {
        return None;
    }
    let len = name.iter().take(LONGEST_NAME).take_while(|byte| is_name(**byte)).count();
    let name = names::look(&name[..len])?;
    let after = here + 2 + len;
    let blanks = text[after..].iter().take(BLANKS).take_while(|byte| is_blank(**byte)).count();
    if blanks == 0 || text.get(after + blanks) == Some(&b'-') {
        return None;
    }
    let found = secret(text, after + blanks, name, Join::Tight, edge)?;
    // Prose, not a value: `the --token option`, `--password to be asked`.
    (found.end - found.start >= 3 || (edge == Edge::Open && found.end == text.len())).then_some(found)
}

fn secret(text: &[u8], from: usize, name: Name, join: Join, edge: Edge) -> Option<Secret> {
    // Check this before the end of the value is searched, because the value may be long.
    if begins_like_a_placeholder(&text[from..]) {
        return None;
    }
    let mut value = value_at(text, from)?;
    if name == Name::Authorization {
        value = after_scheme(text, value)?;
    }
    let body = &text[value.start..value.end];
    let unfinished = edge == Edge::Open && value.end == text.len();
    let hides = unfinished || body.len() > LONG || is_secret(body, value.is_quoted, name, join);
    let is_shown = begins_like_a_placeholder(body);
    (hides && !is_shown).then_some(Secret { start: value.start, end: value.end, kind: name.kind() })
}

fn value_at(text: &[u8], from: usize) -> Option<Value> {
    let mut start = from;
    start += usize::from(text[start..].starts_with(b"\\\"") || text[start..].starts_with(b"\\'"));
    let quote = *text.get(start)?;
    if matches!(quote, b'"' | b'\'') {
        let body = &text[start + 1..];
        let len = if start > from { escaped_end(body, quote) } else { quoted_end(body, quote) };
        return Some(Value { start: start + 1, end: start + 1 + len, is_quoted: true });
    }
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || byte.is_ascii_control()
            || matches!(
                byte,
                b'"' | b'\'' | b'`' | b',' | b';' | b'&' | b'|' | b')' | b'<' | b'>' | b'}' | b'\\'
            )
    };
    let len = text[from..].iter().take_while(|byte| !ends(byte)).count();
    Some(Value { start: from, end: from + len, is_quoted: false })
}

/// Finds the end of a value in escaped quotes.
fn escaped_end(body: &[u8], quote: u8) -> usize {
    let len = body.iter().take_while(|byte| **byte != quote && **byte != b'\n').count();
    len - usize::from(len > 0 && body[len - 1] == b'\\')
}

/// Finds the quote that ends a value, skipping escaped quotes. In a shell's single quotes a backslash has no meaning,
/// so there it counts as an escape only if the value clearly continues.
fn quoted_end(body: &[u8], quote: u8) -> usize {
    let mut at = 0;
    while at < body.len() && body[at] != quote && body[at] != b'\n' {
        let escapes = body[at] == b'\\' && body.get(at + 1).is_some_and(|next| *next != b'\n');
        let goes_on = quote == b'"' || body.get(at + 2).is_some_and(u8::is_ascii_alphanumeric);
        at += if escapes && goes_on { 2 } else { 1 };
    }
    at.min(body.len())
}

/// Skips the scheme of an authorization header; `None` if this is not one, as in prose.
fn after_scheme(text: &[u8], value: Value) -> Option<Value> {
    let word = text[value.start..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let scheme = &text[value.start..value.start + word];
    if !SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known.as_bytes())) {
        return (value.end - value.start >= 16).then_some(value);
    }
    let after = value.start + word;
    let blanks = text[after..].iter().take(BLANKS).take_while(|byte| is_blank(**byte)).count();
    if blanks == 0 {
        return None;
    }
    value_at(text, after + blanks)
}

/// Returns whether a value is empty or begins like a placeholder, such as `$TOKEN` or `<token>`.
fn begins_like_a_placeholder(body: &[u8]) -> bool {
    matches!(body.first(), None | Some(b'$' | b'<' | b'{' | b'%' | b'(' | b'*')) || body.starts_with(MARK)
}

fn is_secret(body: &[u8], is_quoted: bool, name: Name, join: Join) -> bool {
    let least = match (name, join) {
        (Name::Password, Join::Tight) => 1,
        (Name::Password, Join::Loose) => 4,
        (Name::Token | Name::Authorization, _) => 6,
    };
    if body.len() < least || is_ordinary(body) || is_path(body) || body.iter().all(|byte| *byte == body[0]) {
        return false;
    }
    let words = body.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).count();
    let has_mark = body.windows(MARK.len()).any(|window| window == MARK);
    if words > 3 && join == Join::Loose
        || has_mark
        || (!is_quoted && name != Name::Authorization && is_code(body))
    {
        return false;
    }
    is_quoted || join == Join::Tight || name == Name::Authorization || looks_random(body)
}

/// Recognises code such as `self.token`, `next_token(` or `Vec::new`.
fn is_code(body: &[u8]) -> bool {
    let is_path =
        body.contains(&b'.') && body.iter().all(|b| b.is_ascii_alphabetic() || matches!(b, b'.' | b'_'));
    is_path || body.contains(&b'(') || body.windows(2).any(|pair| pair == b"::")
}

/// Returns whether a value has both letters and digits or symbols, unlike a word of prose.
fn looks_random(body: &[u8]) -> bool {
    let letters = body.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let digits = body.iter().filter(|byte| byte.is_ascii_digit()).count();
    letters > 0 && (digits > 0 || body.iter().any(|byte| b"!@#$%^*+/=?".contains(byte)))
}

/// Checks for `user:password@` in the address that begins here.
fn in_address(text: &[u8], from: usize, edge: Edge) -> Option<Secret> {
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || byte.is_ascii_control()
            || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>' | b'`')
    };
    let len = text[from..].iter().take_while(|byte| !ends(byte)).count();
    let place = &text[from..from + len];
    // The user may already be redacted.
    let user = mark_len(place).unwrap_or(0);
    let colon = user + place[user..].iter().position(|byte| *byte == b':')?;
    if place[..=colon].ends_with(MARK) {
        return None;
    }
    let start = from + colon + 1;
    let end = match place.iter().rposition(|byte| *byte == b'@') {
        Some(at) => from + at,
        // A number is a port, not a password.
        None if edge == Edge::Open && from + len == text.len() => {
            let is_port = text[start..].iter().all(u8::is_ascii_digit);
            (!is_port).then_some(text.len())?
        }
        None => return None,
    };
    if start >= end || begins_like_a_placeholder(&text[start..end]) {
        return None;
    }
    Some(Secret { start, end, kind: "password" })
}
