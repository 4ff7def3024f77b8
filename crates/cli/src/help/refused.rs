//! Refused arguments, in the form of every other error: what is wrong, and what to do.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::exit_code;
use crate::render;

/// Refused arguments.
pub(crate) struct Refused {
    pub(crate) message: String,
    pub(crate) hint: String,
    /// The forms of the command, if something is missing.
    usage: String,
}

/// Names of commands in other programs that are no names here.
const SYNONYMS: [(&str, &str); 7] = [
    ("add", "start"),
    ("exec", "run"),
    ("remove", "clear"),
    ("delete", "clear"),
    ("show", "status"),
    ("end", "kill"),
    ("terminate", "kill"),
];

impl Refused {
    /// Explains why a command line was refused.
    pub(crate) fn of(error: &clap::Error, words: &[OsString]) -> Self {
        let rendered = error.render().to_string();
        let mut message = first_paragraph(&rendered);
        let command = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
        let mut hint = format!("mw {command} --help shows its options, with examples");
        if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) {
            let parent = parent_of(word, words);
            message = format!("{parent} has no command {word:?}");
            hint = format!("{parent} --help lists the commands");
        } else if command.starts_with('-') || command.is_empty() {
            hint = "mw --help lists the commands and options".to_owned();
        }
        let similar = similar(error, words);
        if !similar.is_empty() {
            hint = format!("did you mean {}? {hint}", alternatives(&similar));
        }
        let shows_usage =
            matches!(error.kind(), ErrorKind::MissingRequiredArgument | ErrorKind::MissingSubcommand);
        let usage = rendered.find("Usage:").filter(|_| shows_usage).map_or("", |at| &rendered[at..]);
        let usage = usage.split("\n\n").next().unwrap_or_default().trim_end().to_owned();
        Self { message, hint, usage }
    }

    /// Prints it on stderr.
    pub(crate) fn show(&self) {
        render::failure(&self.message, &self.hint);
        if !self.usage.is_empty() {
            render::aside(&self.usage);
        }
    }

    /// Returns the exit code: for a host, 2 of a hook would block the user's prompt.
    pub(crate) fn code(words: &[OsString]) -> u8 {
        if words.get(1).is_some_and(|word| word == "hook") { exit_code::FAILURE } else { exit_code::USAGE }
    }
}

/// Returns the command to which an unknown command was given: `mw`, or one with commands of its own.
fn parent_of(word: &str, words: &[OsString]) -> String {
    let named = words.iter().skip(1).filter_map(|word| word.to_str()).find(|word| !word.starts_with('-'));
    named.filter(|named| *named != word).map_or_else(|| "mw".to_owned(), |named| format!("mw {named}"))
}

/// Returns what was probably meant.
fn similar(error: &clap::Error, words: &[OsString]) -> Vec<String> {
    let parent = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => parent_of(word, words),
        _ => "mw".to_owned(),
    };
    if parent == "mw"
        && let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && let Some((_, ours)) = SYNONYMS.iter().find(|(theirs, _)| theirs == word)
    {
        return vec![format!("mw {ours}")];
    }
    let kinds = [
        (ContextKind::SuggestedSubcommand, format!("{parent} ")),
        (ContextKind::SuggestedArg, String::new()),
        (ContextKind::SuggestedValue, String::new()),
    ];
    let found = kinds.into_iter().find_map(|(kind, prefix)| Some((error.get(kind)?, prefix)));
    match found {
        Some((ContextValue::String(one), prefix)) => vec![format!("{prefix}{one}")],
        Some((ContextValue::Strings(all), prefix)) => {
            // The most similar one is the last.
            all.iter().rev().take(3).map(|one| format!("{prefix}{one}")).collect()
        }
        _ => Vec::new(),
    }
}

/// Joins words with `or`.
pub(crate) fn alternatives(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Returns the error in one line, without suggestions and usage.
fn first_paragraph(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let lines: Vec<_> = paragraph.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ").trim_start_matches("error: ").to_owned()
}
