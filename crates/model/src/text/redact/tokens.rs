//! Secrets that are recognised by their form.

use super::{Edge, Secret};

/// The characters of a token after its prefix.
#[derive(Clone, Copy)]
pub(super) enum Body {
    /// Capital letters and digits.
    Capitals,
    /// Letters and digits.
    Plain,
    /// Letters, digits, `_` and `-`.
    Url,
    /// Three or more such parts, separated by dots.
    Dotted,
}

/// A token that is recognised by its prefix.
pub(super) struct Token {
    pub(super) prefix: &'static str,
    kind: &'static str,
    body: Body,
    /// Minimum number of bytes after the prefix.
    least: usize,
}

const fn token(prefix: &'static str, kind: &'static str, body: Body, least: usize) -> Token {
    Token { prefix, kind, body, least }
}

/// A prefix comes before any shorter prefix that it starts with.
pub(super) static TOKENS: [Token; 36] = [
    token("AKIA", "aws-key", Body::Capitals, 16),
    token("ASIA", "aws-key", Body::Capitals, 16),
    token("AIza", "google-key", Body::Url, 30),
    token("ya29.", "google-token", Body::Url, 20),
    token("GOCSPX-", "google-secret", Body::Url, 20),
    token("github_pat_", "github-token", Body::Url, 22),
    token("ghp_", "github-token", Body::Plain, 30),
    token("gho_", "github-token", Body::Plain, 30),
    token("ghu_", "github-token", Body::Plain, 30),
    token("ghs_", "github-token", Body::Plain, 30),
    token("ghr_", "github-token", Body::Plain, 30),
    token("glpat-", "gitlab-token", Body::Url, 16),
    token("glrt-", "gitlab-token", Body::Url, 16),
    token("gldt-", "gitlab-token", Body::Url, 16),
    token("xoxa-", "slack-token", Body::Url, 10),
    token("xoxb-", "slack-token", Body::Url, 10),
    token("xoxe-", "slack-token", Body::Url, 10),
    token("xoxo-", "slack-token", Body::Url, 10),
    token("xoxp-", "slack-token", Body::Url, 10),
    token("xoxr-", "slack-token", Body::Url, 10),
    token("xoxs-", "slack-token", Body::Url, 10),
    token("xapp-", "slack-token", Body::Url, 10),
    token("sk-ant-", "anthropic-key", Body::Url, 16),
    token("sk-proj-", "openai-key", Body::Url, 16),
    token("sk-svcacct-", "openai-key", Body::Url, 16),
    token("sk-or-v1-", "openrouter-key", Body::Url, 16),
    token("sk-", "api-key", Body::Plain, 20),
    token("sk_live_", "stripe-key", Body::Plain, 10),
    token("sk_test_", "stripe-key", Body::Plain, 10),
    token("rk_live_", "stripe-key", Body::Plain, 10),
    token("whsec_", "stripe-key", Body::Plain, 16),
    token("npm_", "npm-token", Body::Plain, 36),
    token("pypi-AgE", "pypi-token", Body::Url, 30),
    token("hf_", "huggingface-token", Body::Plain, 30),
    token("dop_v1_", "digitalocean-token", Body::Plain, 32),
    token("eyJ", "jwt", Body::Dotted, 8),
];

/// A longer run counts as a token without further checks, so that no run is scanned repeatedly.
const LONG: usize = 512;
/// With a minimum length from here on, a match needs no digit: nothing else is that long after such a prefix.
const RARE: usize = 30;
/// Minimum number of bytes that identify a private key without its first line.
const LEAST_OF_KEY: usize = 16;
const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";

const fn is_url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Returns how many bytes from `from` on satisfy a condition.
fn run(text: &[u8], from: usize, of: impl Fn(u8) -> bool) -> usize {
    text.get(from..).map_or(0, |rest| rest.iter().take_while(|byte| of(**byte)).count())
}

/// Checks for a token that begins here.
pub(super) fn at(text: &[u8], here: usize, edge: Edge) -> Option<Secret> {
    let before = here.checked_sub(1).map_or(b' ', |before| text[before]);
    // The letter belongs to an escape sequence, as in `"\nghp_…"` of JSON.
    let escaped = here >= 2 && text[here - 2] == b'\\' && matches!(before, b'n' | b't' | b'r');
    if (before.is_ascii_alphanumeric() && !escaped) || before == b'_' {
        return None;
    }
    let rest = &text[here..];
    let rule = TOKENS.iter().find(|rule| rest.starts_with(rule.prefix.as_bytes()))?;
    let body = here + rule.prefix.len();
    let len = match rule.body {
        Body::Capitals => run(text, body, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()),
        Body::Plain => run(text, body, |byte| byte.is_ascii_alphanumeric()),
        Body::Url => run(text, body, is_url),
        // A token does not start after one of its own characters.
        Body::Dotted if before == b'-' => return None,
        Body::Dotted => return dotted(text, here, edge, rule),
    };
    let end = body + len;
    let is_open = edge == Edge::Open && end == text.len() && len > 0;
    // Short texts without a digit are words: `sk-fading-circle`.
    let has_digit = || text[body..end].iter().any(u8::is_ascii_digit);
    let is_rare = matches!(rule.body, Body::Capitals) || rule.least >= RARE;
    let is_whole = len >= rule.least && (len > LONG || is_rare || has_digit());
    (is_open || is_whole).then_some(Secret { start: here, end, kind: rule.kind })
}

fn dotted(text: &[u8], here: usize, edge: Edge, rule: &Token) -> Option<Secret> {
    let mut end = here;
    let mut parts = 0;
    loop {
        let len = run(text, end, is_url);
        end += len;
        if edge == Edge::Open && end == text.len() {
            return Some(Secret { start: here, end, kind: rule.kind });
        }
        // The last part, the signature, may be empty.
        if len < rule.least && parts < 2 {
            return None;
        }
        parts += 1;
        if text.get(end) != Some(&b'.')
            || parts == 5
            || (parts >= 3 && run(text, end + 1, is_url) < rule.least)
        {
            break;
        }
        end += 1;
    }
    (parts >= 3).then_some(Secret { start: here, end, kind: rule.kind })
}

/// Checks for a private key whose first or last line begins here.
pub(super) fn private_key(text: &[u8], here: usize, edge: Edge) -> Option<Secret> {
    const KIND: &str = "private-key";
    let rest = &text[here..];
    if !rest.starts_with(DASHES) {
        return None;
    }
    if let Some(line) = key_line(rest, END) {
        // The beginning of the key is not in the text.
        let start = here - text[..here].iter().rev().take_while(|byte| is_key_body(**byte)).count();
        return (here - start >= LEAST_OF_KEY).then_some(Secret { start, end: here + line, kind: KIND });
    }
    let body = here + key_line(rest, BEGIN)?;
    let next = text[body..].windows(DASHES.len()).position(|window| window == DASHES);
    let last = next.map(|next| body + next);
    if let Some((last, line)) = last.and_then(|last| Some((last, key_line(&text[last..], END)?))) {
        return Some(Secret { start: here, end: last + line, kind: KIND });
    }
    // The end of the key is not in the text, or has not been printed yet.
    let end = body + key_lines(&text[body..last.unwrap_or(text.len())]);
    let end = if edge == Edge::Open && last.is_none() { text.len() } else { end };
    Some(Secret { start: here, end, kind: KIND })
}

/// Returns the length of a line such as `-----BEGIN RSA PRIVATE KEY-----`.
fn key_line(text: &[u8], begins: &[u8]) -> Option<usize> {
    let name = text.strip_prefix(begins)?;
    let len = run(name, 0, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' ').min(60);
    let label = &name[..len];
    let is_key = label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK");
    (is_key && name[len..].starts_with(DASHES)).then_some(begins.len() + len + DASHES.len())
}

const fn is_key_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\n' | b'\r' | b'\\')
}

/// Returns the length of the lines that may belong to a key.
fn key_lines(text: &[u8]) -> usize {
    let mut len = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let body = line.trim_ascii();
        let is_header = body.starts_with(b"Proc-Type:") || body.starts_with(b"DEK-Info:");
        let ours = body.iter().take_while(|byte| is_key_body(**byte)).count();
        if !is_header && ours < body.len() {
            return len + if ours >= LEAST_OF_KEY { ours } else { 0 };
        }
        len += line.len();
    }
    len
}
