//! The common forms of frequent commands, parsed without clap.
//!
//! Building clap's description of `mw start` takes longer than writing the task to disk. A command line that is not of a
//! common form, or not valid, is left to clap, which also makes every error message. A property test compares both parsers.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// The options that a common form may have, without their dashes.
pub(crate) struct CommonForm {
    pub(crate) flags: &'static [&'static str],
    /// Options with a value that may be given once.
    pub(crate) values: &'static [&'static str],
    /// Options with a value that may be repeated.
    pub(crate) lists: &'static [&'static str],
    pub(crate) words: Words,
}

/// What the words after the options are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Words {
    /// There are none.
    None,
    /// Names of tasks, and options between them.
    Tasks,
    /// The command to start: everything from the first word.
    Command,
}

/// The arguments of a command line of a common form.
pub(crate) struct QuickArguments<'a> {
    options: Vec<(&'a str, &'a OsStr)>,
    pub(crate) words: Vec<&'a OsString>,
    /// Whether `--` came before the command.
    pub(crate) is_escaped: bool,
}

/// An option of every command.
const JSON: &str = "json";
/// The short form of a flag, and its name.
const SHORT: (&[u8], &str) = (b"-q", "quiet");

impl<'a> QuickArguments<'a> {
    /// Parses the words after the name of the command. Returns `None` for everything that clap must decide.
    pub(crate) fn parse(words: &'a [OsString], form: &CommonForm) -> Option<Self> {
        let mut parsed = Self { options: Vec::new(), words: Vec::new(), is_escaped: false };
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let bytes = word.as_bytes();
            if bytes == b"--" && form.words == Words::Command && parsed.words.is_empty() {
                parsed.is_escaped = true;
                parsed.words.extend(rest.by_ref());
            } else if bytes == SHORT.0 {
                let (name, value) = parsed.option(SHORT.1, &mut rest, form)?;
                parsed.options.push((name, value));
            } else if let Some(option) = bytes.strip_prefix(b"--") {
                let (name, value) = parsed.option(std::str::from_utf8(option).ok()?, &mut rest, form)?;
                parsed.options.push((name, value));
            } else if bytes.is_empty() || bytes.starts_with(b"-") {
                return None;
            } else {
                parsed.words.push(word);
                if form.words == Words::Command {
                    parsed.words.extend(rest.by_ref());
                }
            }
        }
        (parsed.words.is_empty() == (form.words == Words::None)).then_some(parsed)
    }

    fn option(
        &self,
        text: &'a str,
        rest: &mut impl Iterator<Item = &'a OsString>,
        form: &CommonForm,
    ) -> Option<(&'a str, &'a OsStr)> {
        let (name, attached) = match text.split_once('=') {
            Some((name, value)) => (name, Some(OsStr::new(value))),
            None => (text, None),
        };
        let is_repeated = self.options.iter().any(|(earlier, _)| *earlier == name);
        if form.lists.contains(&name) || (form.values.contains(&name) && !is_repeated) {
            let value = match attached {
                Some(value) => value,
                // A value with a dash may be an option.
                None => rest.next().filter(|value| !value.as_bytes().starts_with(b"-"))?,
            };
            return (!value.is_empty()).then_some((name, value));
        }
        let is_flag = name == JSON || form.flags.contains(&name);
        (is_flag && attached.is_none() && !is_repeated).then_some((name, OsStr::new("")))
    }

    pub(crate) fn json(&self) -> bool {
        self.flag(JSON)
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.all(name).next().is_some()
    }

    /// Returns the values of an option.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &'a OsStr> {
        self.options.iter().filter(move |(option, _)| *option == name).map(|(_, value)| *value)
    }

    /// Returns the value of an option, if it was given. The outer `None` means that it is not accepted.
    pub(crate) fn value<T>(&self, name: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<Option<T>> {
        match self.all(name).next() {
            None => Some(None),
            Some(value) => parse(value.to_str()?).map(Some),
        }
    }

    /// Returns the words, if all of them are text.
    pub(crate) fn texts(&self) -> Option<Vec<String>> {
        self.words.iter().map(|word| word.to_str().map(str::to_owned)).collect()
    }

    pub(crate) fn text(&self, name: &str) -> Option<Option<String>> {
        self.value(name, |text| Some(text.to_owned()))
    }
}
