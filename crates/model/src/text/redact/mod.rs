//! Finding what must not be shown: tokens, keys and passwords in a text.
//!
//! ```text
//! text ▸ by its own look    tokens    (ghp_…, AKIA…, eyJ….….…, private key blocks)
//!      ▸ by what is before  assigned  (password=…, --token …, Authorization: …, user:…@host)
//!      ▸ names              which names say that a value is secret
//! ```
//!
//! The scanners are written by hand: a command that lists tasks lives for a few milliseconds, and compiling the
//! same rules as regular expressions would take as long. Each byte is looked at a bounded number of times,
//! whatever the text.

mod assigned;
mod names;
#[cfg(test)]
mod tests;
mod tokens;

pub use names::{is_secret_name, is_secret_value};

/// A stretch of a text that must not be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secret {
    /// Where it begins.
    pub start: usize,
    /// The first byte after it.
    pub end: usize,
    /// What sort of secret it is; a word of lower-case letters and hyphens.
    pub kind: &'static str,
}

/// What comes after a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The text ends here.
    Closed,
    /// Perhaps more: what may be the beginning of a secret counts as one.
    Open,
}

/// What a mark begins with.
const MARK: &[u8] = b"[redacted:";
/// A kind is never longer.
const LONGEST_KIND: usize = 32;

/// Returns what is shown instead of a secret. It tells the sort, never the length.
#[must_use]
pub fn redaction_mark(kind: &str) -> String {
    format!("[redacted:{kind}]")
}

/// Returns the length of the mark that a text begins with.
#[must_use]
pub fn mark_len(text: &[u8]) -> Option<usize> {
    let kind = text.strip_prefix(MARK)?;
    let len = kind.iter().take(LONGEST_KIND).take_while(|b| b.is_ascii_lowercase() || **b == b'-').count();
    (len > 0 && kind.get(len) == Some(&b']')).then_some(MARK.len() + len + 1)
}

/// Finds secrets in a text, in order and apart from each other.
#[must_use]
pub fn find_secrets(text: &[u8], edge: Edge) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].iter().position(|byte| TRIGGERS[usize::from(*byte)]) {
        let here = at + next;
        at = here + 1;
        let secret = match text[here] {
            b'[' => {
                at = here + mark_len(&text[here..]).unwrap_or(1);
                None
            }
            b'=' | b':' => {
                // What is hidden already is no part of a name.
                let from = found.last().map_or(0, |last: &Secret| last.end).min(here);
                let secret = assigned::at_separator(&text[from..], here - from, edge);
                secret.map(|secret| Secret { start: secret.start + from, end: secret.end + from, ..secret })
            }
            b'-' => tokens::private_key(text, here, edge)
                .or_else(|| assigned::after_flag(text, here, edge))
                .or_else(|| assigned::after_letter(text, here)),
            _ => tokens::at(text, here, edge),
        };
        if let Some(mut secret) = secret {
            // Its own look says more than its name.
            let own = tokens::at(text, secret.start, edge).filter(|own| own.end == secret.end);
            secret.kind = own.map_or(secret.kind, |own| own.kind);
            // The user in an address may be a token.
            let user = if text[here..].starts_with(b"://") { tokens::at(text, here + 3, edge) } else { None };
            if let Some(user) = user.filter(|user| user.end < secret.start) {
                found.push(user);
            }
            at = secret.end.max(at);
            push(&mut found, secret);
        }
    }
    found
}

/// Adds a secret; a private key that lost its beginning may reach back over others.
fn push(found: &mut Vec<Secret>, secret: Secret) {
    while found.last().is_some_and(|last| last.start >= secret.start) {
        found.pop();
    }
    match found.last_mut() {
        Some(last) if last.end > secret.start => last.end = last.end.max(secret.end),
        _ => found.push(secret),
    }
}

/// The bytes at which a rule begins.
static TRIGGERS: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b"[=:-";
    let mut at = 0;
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    let mut at = 0;
    while at < tokens::TOKENS.len() {
        table[tokens::TOKENS[at].prefix.as_bytes()[0] as usize] = true;
        at += 1;
    }
    table
};
