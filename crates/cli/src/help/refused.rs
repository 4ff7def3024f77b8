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
            message = format!("mw has no command {word:?}");
            hint = "mw --help lists the commands".to_owned();
        } else if command.starts_with('-') || command.is_empty() {
            hint = "mw --help lists the commands and options".to_owned();
        }
        let similar = similar(error);
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

/// Returns what was probably meant.
fn similar(error: &clap::Error) -> Vec<String> {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && let Some((_, ours)) = SYNONYMS.iter().find(|(theirs, _)| theirs == word)
    {
        return vec![format!("mw {ours}")];
    }
    let kinds = [
        (ContextKind::SuggestedSubcommand, "mw "),
        (ContextKind::SuggestedArg, ""),
        (ContextKind::SuggestedValue, ""),
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
