//! Plans the changes to a host's files, so that they can be shown before they are made.

use std::path::{Path, PathBuf};

use super::error::{Flaw, SetupError};
use super::files;
use super::json;
use super::json::Spot;
use super::toml;
use super::value::Value;
use crate::hosts::host::{Entry, Format, Host, HostFile, Scope, Surroundings};

/// The byte order mark that some editors write. It is kept.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The wanted change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Add our entries.
    SetUp,
    /// Remove them.
    Remove,
}

/// The content of a file before and after; `None` if it does not exist.
#[derive(Debug)]
pub struct FileChange {
    /// The path of the file.
    pub path: PathBuf,
    /// Its current content.
    pub before: Option<String>,
    /// Its new content.
    pub after: Option<String>,
    scope: Scope,
}

impl FileChange {
    /// Returns whether the content changes.
    #[must_use]
    pub fn is_needed(&self) -> bool {
        self.before != self.after
    }

    /// Writes the file atomically.
    ///
    /// # Errors
    /// When the file has changed meanwhile, is read-only, or cannot be written.
    pub fn apply(&self) -> Result<(), SetupError> {
        if !self.is_needed() {
            return Ok(());
        }
        files::replace(&self.path, self.before.as_deref(), self.after.as_deref(), self.scope)
    }
}

/// One of our command lines in a host's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The file.
    pub path: PathBuf,
    /// The current command, if there is one.
    pub command: Option<Vec<String>>,
    /// The command that the setup would write.
    pub wanted: Vec<String>,
}

impl Host {
    /// Returns the changes of its files. Nothing is written.
    ///
    /// # Errors
    /// When a file is invalid, or a change could not be undone.
    pub fn plan(
        &self,
        wish: Wish,
        scope: Scope,
        around: &Surroundings<'_>,
    ) -> Result<Vec<FileChange>, SetupError> {
        let change = |file: &HostFile| {
            let path = around.resolve(file.place(scope))?;
            let before = files::read(&path)?;
            let after = self
                .changed(wish, file, before.as_deref(), around.program)
                .map_err(|flaw| flaw.in_file(&path))?;
            Ok(FileChange { path, before, after, scope })
        };
        self.files.iter().map(change).collect()
    }

    /// Returns our current entries in its files, one for each that the setup would write.
    ///
    /// # Errors
    /// When a file is invalid or cannot be read.
    pub fn installed(&self, scope: Scope, around: &Surroundings<'_>) -> Result<Vec<Installed>, SetupError> {
        let mut found = Vec::new();
        for file in self.files {
            let path = around.resolve(file.place(scope))?;
            let text = files::read(&path)?;
            for entry in file.entries {
                let work = Work::new(self, file.format, entry, around.program);
                let text = text.as_deref().map(|text| text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text));
                let command = text.map(|text| work.command_line(text)).transpose();
                let command = command.map_err(|flaw| flaw.in_file(&path))?.flatten();
                found.push(Installed { path: path.clone(), command, wanted: work.wanted() });
            }
        }
        Ok(found)
    }

    /// Returns the contents that the setup writes to new files.
    ///
    /// # Errors
    /// When there is no home directory.
    pub fn snippets(
        &self,
        scope: Scope,
        around: &Surroundings<'_>,
    ) -> Result<Vec<(PathBuf, String)>, SetupError> {
        let snippet = |file: &HostFile| {
            let path = around.resolve(file.place(scope))?;
            let text =
                self.changed(Wish::SetUp, file, None, around.program).map_err(|flaw| flaw.in_file(&path))?;
            Ok((path, text.unwrap_or_default()))
        };
        self.files.iter().map(snippet).collect()
    }

    fn changed(
        &self,
        wish: Wish,
        file: &HostFile,
        text: Option<&str>,
        program: &str,
    ) -> Result<Option<String>, Flaw> {
        let mut works = file.entries.iter().map(|entry| Work::new(self, file.format, entry, program));
        let mark =
            if text.is_some_and(|text| text.starts_with(BYTE_ORDER_MARK)) { BYTE_ORDER_MARK } else { "" };
        let text = text.map(|text| text[mark.len()..].to_owned());
        let after = match wish {
            Wish::SetUp => works.try_fold(text, |text, work| work.ensure(text)),
            // In reverse order, so that each finds the file as it left it.
            Wish::Remove => works.rev().try_fold(text, |text, work| work.take_out(text)),
        }?;
        Ok(if mark.is_empty() { after } else { Some(format!("{mark}{}", after.unwrap_or_default())) })
    }
}

/// One entry of one file, ready to be written.
struct Work<'a> {
    format: Format,
    path: &'static [&'static str],
    /// Where its command is in the file.
    value: Value,
    /// The value to add if there is none.
    whole: Value,
    is_ours: Box<dyn Fn(&str) -> bool + 'a>,
    is_element: bool,
}

impl<'a> Work<'a> {
    fn new(host: &'a Host, format: Format, entry: &Entry, program: &str) -> Self {
        let is_ours = Box::new(|command: &str| host.is_hook_command(command));
        match *entry {
            Entry::Server { path, value } => {
                let value = value(program);
                Self { format, path, whole: value.clone(), value, is_ours, is_element: false }
            }
            Entry::Waker { path, timeout } => {
                let value = Value::Table(vec![
                    ("type", Value::Text("command".to_owned())),
                    ("command", Value::Text(host.waker_command(program))),
                    ("timeout", Value::Number(timeout)),
                    ("asyncRewake", Value::Flag(true)),
                ]);
                let whole = Value::Table(vec![("hooks", Value::List(vec![value.clone()]))]);
                let is_ours = Box::new(|command: &str| host.is_waker_command(command));
                Self { format, path, value, whole, is_ours, is_element: true }
            }
            Entry::Hook { path, matcher, timeout } => {
                let value = Value::Table(vec![
                    ("type", Value::Text("command".to_owned())),
                    ("command", Value::Text(host.hook_command(program))),
                    ("timeout", Value::Number(timeout)),
                ]);
                let matcher = matcher.map(|matcher| ("matcher", Value::Text(matcher.to_owned())));
                let hooks = ("hooks", Value::List(vec![value.clone()]));
                let whole = Value::Table(matcher.into_iter().chain([hooks]).collect());
                Self { format, path, value, whole, is_ours, is_element: true }
            }
        }
    }

    fn spot(&self) -> Spot<'_> {
        if self.is_element { Spot::Element { is_ours: &*self.is_ours } } else { Spot::Member }
    }

    fn wanted(&self) -> Vec<String> {
        let Value::Table(fields) = &self.value else {
            return Vec::new();
        };
        let mut words = Vec::new();
        for name in ["command", "args"] {
            match fields.iter().find(|(field, _)| *field == name) {
                Some((_, Value::Text(text))) => words.push(text.clone()),
                Some((_, Value::List(items))) => words.extend(items.iter().filter_map(|item| match item {
                    Value::Text(text) => Some(text.clone()),
                    Value::Number(_) | Value::Flag(_) | Value::List(_) | Value::Table(_) => None,
                })),
                Some(_) | None => {}
            }
        }
        words
    }

    /// Returns whether a command is one of ours, with any path of `mw`. Hooks are recognised by it.
    fn starts_us(&self, words: &[String]) -> bool {
        let name = |words: &[String]| {
            words.first().and_then(|word| Path::new(word).file_name().map(ToOwned::to_owned))
        };
        self.is_element || name(words).is_some_and(|own| own == "mw" || Some(own) == name(&self.wanted()))
    }

    fn command_line(&self, text: &str) -> Result<Option<Vec<String>>, Flaw> {
        match self.format {
            Format::Json(syntax) => json::command_line(text, syntax, self.path, self.spot()),
            Format::Toml => toml::command_line(text, self.path),
        }
    }

    fn ensure(&self, text: Option<String>) -> Result<Option<String>, Flaw> {
        let present = text.as_deref().map(|text| self.command_line(text)).transpose()?.flatten();
        match (&text, present) {
            (Some(_), Some(words)) if words == self.wanted() => Ok(text),
            (Some(text), Some(words)) if !self.starts_us(&words) => {
                let name = self.path.last().unwrap_or(&"");
                Err(Flaw::unfit(
                    text,
                    0,
                    format!("its entry {name:?} starts something else; rename or remove it"),
                ))
            }
            (Some(text), Some(_)) => self.with_our_command(text).map(Some),
            (_, None) | (None, Some(_)) => {
                let added = self.add(text.as_deref())?;
                // Only changes that can be undone byte for byte are written.
                if self.take_out(Some(added.clone()))? != text {
                    return Err(Flaw::unfit(text.as_deref().unwrap_or_default(), 0, "unsupported layout"));
                }
                Ok(Some(added))
            }
        }
    }

    fn add(&self, text: Option<&str>) -> Result<String, Flaw> {
        match self.format {
            Format::Json(syntax) => json::add(text, syntax, self.path, self.spot(), &self.whole),
            Format::Toml => toml::add(text, self.path, &self.whole),
        }
    }

    fn with_our_command(&self, text: &str) -> Result<String, Flaw> {
        match self.format {
            Format::Json(syntax) => json::change_command(text, syntax, self.path, self.spot(), &self.value),
            Format::Toml => toml::change_command(text, self.path, &self.value),
        }
    }

    fn take_out(&self, text: Option<String>) -> Result<Option<String>, Flaw> {
        let Some(text) = text else {
            return Ok(None);
        };
        // What somebody else named so stays.
        if self.command_line(&text)?.is_some_and(|words| !self.starts_us(&words)) {
            return Ok(Some(text));
        }
        match self.format {
            Format::Json(syntax) => json::take_out(&text, syntax, self.path, self.spot()),
            Format::Toml => toml::take_out(&text, self.path),
        }
    }
}

/// Returns a stable path of `mw`: the one that a shell would find, if that is this program.
#[must_use]
pub fn lasting_path(program: &Path, path: &std::ffi::OsStr) -> PathBuf {
    let same = |found: &PathBuf| std::fs::canonicalize(found).is_ok_and(|found| found == program);
    std::env::split_paths(path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join("mw"))
        .find(same)
        .unwrap_or_else(|| program.to_owned())
}
