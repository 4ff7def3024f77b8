//! Finds secrets: one pass over the text, from one trigger byte to the next.

use super::{assigned, tokens};

/// A part of a text that must not be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secret {
    /// Where it begins.
    pub start: usize,
    /// The first byte after it.
    pub end: usize,
    /// The kind of secret, in lowercase letters and hyphens.
    pub kind: &'static str,
}

/// Whether a text may continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The text ends here.
    Closed,
    /// The text may continue: a possible beginning of a secret counts as a secret.
    Open,
}

/// Prefix of a mark.
pub(super) const MARK: &[u8] = b"[redacted:";
/// Maximum length of a kind.
const LONGEST_KIND: usize = 32;

/// Returns the mark that replaces a secret. It shows the kind, never the length.
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

/// Finds the secrets in a text, in order and without overlaps.
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
                // A redacted part does not belong to a name.
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
            // The form of a value is more specific than its name.
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

/// Adds a secret. A private key without its beginning may extend back over earlier secrets.
fn push(found: &mut Vec<Secret>, secret: Secret) {
    while found.last().is_some_and(|last| last.start >= secret.start) {
        found.pop();
    }
    match found.last_mut() {
        Some(last) if last.end > secret.start => last.end = last.end.max(secret.end),
        _ => found.push(secret),
    }
}

/// The first bytes of all rules.
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
