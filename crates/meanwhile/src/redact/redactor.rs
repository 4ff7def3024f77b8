//! Hides the secrets of one task.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;
use mw_model::{
    Edge, EnvVar, Secret, find_secrets, is_secret_name, is_secret_value, mark_len, redaction_mark,
};

use super::sequences::Sequences;
use crate::settings::{RedactSettings, SecretPattern};

/// The fewest bytes of a variable's value that are recognised at the end of a text that may continue.
const LEAST_BEGINNING: usize = 4;

/// The mark that replaces a text that may contain values of unreadable variables.
const UNREADABLE: &str = "unreadable-environment";
/// The note in output that may contain such values.
pub(crate) const UNREADABLE_NOTE: &str =
    "[spec.json of this task cannot be read: the values of its secret variables are not redacted here]\n";

/// Hides the secrets of one task.
#[derive(Clone, Debug)]
pub struct Redactor {
    is_on: bool,
    patterns: Vec<SecretPattern>,
    /// Whether the task's secret variables are unknown.
    is_blind: bool,
    /// Values of the task's secret variables.
    values: Vec<Vec<u8>>,
}

impl Redactor {
    /// Returns a redactor for a task with this environment.
    #[must_use]
    pub fn new(settings: &RedactSettings, environment: &[EnvVar]) -> Self {
        let is_on = settings.enabled;
        let values = environment.iter().filter(|var| is_on && is_secret(var));
        let values = values.map(|var| var.value.as_bytes().to_vec()).collect();
        let patterns = if is_on { settings.patterns.clone() } else { Vec::new() };
        Self { is_on, patterns, is_blind: false, values }
    }

    /// Returns a redactor for a task whose environment cannot be read.
    pub(crate) fn blind(settings: &RedactSettings) -> Self {
        Self { is_blind: settings.enabled, ..Self::new(settings, &[]) }
    }

    /// Returns whether the task's secret variables are unknown.
    pub(crate) const fn is_blind(&self) -> bool {
        self.is_blind
    }

    /// Returns a redactor for these texts only, because a start has no time to check the name of every variable.
    pub(crate) fn for_texts(settings: &RedactSettings, environment: &[EnvVar], texts: &[&str]) -> Self {
        Self::new(settings, &occurring(environment, texts))
    }

    /// Returns a text with every secret replaced by a mark, or a mark alone if the task's secret variables are
    /// unknown.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_blind && !text.is_empty() {
            return Cow::Owned(redaction_mark(UNREADABLE));
        }
        let found = self.find(text.as_bytes(), Edge::Closed);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let all = 0..text.len();
        let shown = emit(text.as_bytes(), &found, &Sequences::default(), all);
        Cow::Owned(String::from_utf8_lossy(&shown).into_owned())
    }

    /// Returns the words of a command with secrets replaced. A flag and its value are two words.
    #[must_use]
    pub fn words(&self, words: &[String]) -> Vec<String> {
        let mut shown: Vec<String> = words.iter().map(|word| self.text(word).into_owned()).collect();
        for at in 1..words.len() {
            let pair = format!("{} {}", words[at - 1], words[at]);
            let start = words[at - 1].len() + 1;
            let found = self.find(pair.as_bytes(), Edge::Closed);
            // A word is one value, even with blanks in it.
            if let Some(secret) =
                found.iter().find(|secret| secret.start == start && words[at - 1].starts_with('-'))
            {
                shown[at] = redaction_mark(secret.kind);
            }
        }
        shown
    }

    /// Returns parts of a text as they may be shown: secrets are hidden, and of control sequences only colours
    /// remain.
    ///
    /// Secrets are searched in the whole text, so a secret that a part has only a piece of is hidden too.
    pub(crate) fn stretches(&self, text: &[u8], edge: Edge, wanted: &[Range<usize>]) -> Vec<Vec<u8>> {
        let sequences = Sequences::of(text);
        let found = if sequences.is_empty() {
            self.find(text, edge)
        } else {
            let mut found = self.find(&sequences.visible(text), edge);
            for secret in &mut found {
                secret.start = sequences.position(secret.start);
                secret.end = sequences.position(secret.end - 1) + 1;
            }
            found
        };
        wanted.iter().map(|range| emit(text, &found, &sequences, range.clone())).collect()
    }

    /// Returns whether a text ends inside a private key.
    pub(crate) fn goes_on_in_key(&self, text: &[u8]) -> bool {
        let last = self.is_on.then(|| find_secrets(text, Edge::Open).pop()).flatten();
        last.is_some_and(|secret| {
            let reaches_end = secret.kind == "private-key" && secret.end == text.len();
            reaches_end && memmem::find(&text[secret.start..], b"-----END").is_none()
        })
    }

    /// Finds all secrets, in order and without overlaps.
    pub(super) fn find(&self, text: &[u8], edge: Edge) -> Vec<Secret> {
        if !self.is_on {
            return Vec::new();
        }
        let mut found = find_secrets(text, edge);
        let known = found.len();
        for value in &self.values {
            let secret = |start| Secret { start, end: start + value.len(), kind: "environment" };
            found.extend(memmem::find_iter(text, value).map(secret));
            if edge == Edge::Open
                && let Some(start) = beginning(text, value)
            {
                found.push(Secret { start, end: text.len(), kind: "environment" });
            }
        }
        for SecretPattern(pattern) in &self.patterns {
            let fits = pattern.find_iter(text).filter(|fit| !fit.is_empty());
            found.extend(fits.map(|fit| Secret { start: fit.start(), end: fit.end(), kind: "pattern" }));
        }
        if found.len() == known {
            return found;
        }
        let marks = marks(text);
        found.retain(|secret| {
            let next = marks.partition_point(|mark| mark.end < secret.end);
            marks.get(next).is_none_or(|mark| secret.start < mark.start)
        });
        merged(found)
    }
}

/// Returns the variables whose values occur in these texts.
fn occurring(environment: &[EnvVar], texts: &[&str]) -> Vec<EnvVar> {
    let occurs = |var: &&EnvVar| {
        let value = var.value.as_bytes();
        !value.is_empty() && texts.iter().any(|text| memmem::find(text.as_bytes(), value).is_some())
    };
    environment.iter().filter(occurs).cloned().collect()
}

/// Returns the secret variables whose values occur in these texts.
pub(crate) fn secrets_in(environment: &[EnvVar], texts: &[&str]) -> Vec<EnvVar> {
    let mut found = occurring(environment, texts);
    found.retain(is_secret);
    found
}

fn is_secret(var: &EnvVar) -> bool {
    is_secret_name(var.name.as_bytes()) && is_secret_value(var.value.as_bytes())
}

/// Returns where a value begins that the end of the text cuts off.
fn beginning(text: &[u8], value: &[u8]) -> Option<usize> {
    let most = value.len().saturating_sub(1).min(text.len());
    (LEAST_BEGINNING..=most).rev().find(|len| text.ends_with(&value[..*len])).map(|len| text.len() - len)
}

/// Returns the ranges that are already hidden.
fn marks(text: &[u8]) -> Vec<Range<usize>> {
    let starts = memmem::find_iter(text, "[redacted:");
    starts.filter_map(|start| Some(start..start + mark_len(&text[start..])?)).collect()
}

/// Merges overlapping secrets. The kind is that of the first.
fn merged(mut found: Vec<Secret>) -> Vec<Secret> {
    found.sort_by_key(|secret| (secret.start, std::cmp::Reverse(secret.end)));
    let mut apart: Vec<Secret> = Vec::with_capacity(found.len());
    for secret in found {
        match apart.last_mut() {
            Some(last) if secret.start < last.end => last.end = last.end.max(secret.end),
            _ => apart.push(secret),
        }
    }
    apart
}

/// Writes a part of a text with marks instead of secrets and without control sequences other than colours.
fn emit(text: &[u8], found: &[Secret], sequences: &Sequences, range: Range<usize>) -> Vec<u8> {
    let mut out = Vec::with_capacity(range.len());
    let mut at = range.start;
    let first = found.partition_point(|secret| secret.end <= range.start);
    for secret in found[first..].iter().take_while(|secret| secret.start < range.end) {
        sequences.copy(text, at..secret.start.max(at), &mut out);
        out.extend_from_slice(redaction_mark(secret.kind).as_bytes());
        // A colour change inside the secret still takes effect.
        let end = secret.end.min(range.end);
        sequences.copy_colours(text, at.max(secret.start)..end, &mut out);
        at = end;
    }
    sequences.copy(text, at..range.end, &mut out);
    out
}
