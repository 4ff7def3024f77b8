//! Plans the changes to a host's files, so that they can be shown before they are made.

use std::path::{Path, PathBuf};

use super::error::{Flaw, SetupError};
use super::files;
use super::planned_entry::PlannedEntry;
use crate::hosts::host::{AgentHost, HostFile, SetupScope, Surroundings};

/// The byte order mark that some editors write. It is kept.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The wanted change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestedChange {
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
    scope: SetupScope,
}

impl FileChange {
    /// Plans the new content of a file of the user; `None` removes it.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of(path: PathBuf, after: Option<String>) -> Result<Self, SetupError> {
        Ok(Self { before: files::read(&path)?, path, after, scope: SetupScope::User })
    }

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

impl AgentHost {
    /// Returns the changes of its files. Nothing is written.
    ///
    /// # Errors
    /// When a file is invalid, or a change could not be undone.
    pub fn plan(
        &self,
        change: RequestedChange,
        scope: SetupScope,
        around: &Surroundings<'_>,
    ) -> Result<Vec<FileChange>, SetupError> {
        let change = |file: &HostFile| {
            let path = around.resolve(file.path(scope))?;
            let before = files::read(&path)?;
            let after = self
                .changed(change, file, before.as_deref(), around.program)
                .map_err(|flaw| flaw.in_file(&path))?;
            Ok(FileChange { path, before, after, scope })
        };
        self.files.iter().map(change).collect()
    }

    /// Returns our current entries in its files, one for each that the setup would write.
    ///
    /// # Errors
    /// When a file is invalid or cannot be read.
    pub fn installed(
        &self,
        scope: SetupScope,
        around: &Surroundings<'_>,
    ) -> Result<Vec<Installed>, SetupError> {
        let mut found = Vec::new();
        for file in self.files {
            let path = around.resolve(file.path(scope))?;
            let text = files::read(&path)?;
            for entry in file.entries {
                let planned = PlannedEntry::new(self, file.format, entry, around.program);
                let text = text.as_deref().map(|text| text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text));
                let command = text.map(|text| planned.command_line(text)).transpose();
                let command = command.map_err(|flaw| flaw.in_file(&path))?.flatten();
                found.push(Installed { path: path.clone(), command, wanted: planned.wanted() });
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
        scope: SetupScope,
        around: &Surroundings<'_>,
    ) -> Result<Vec<(PathBuf, String)>, SetupError> {
        let snippet = |file: &HostFile| {
            let path = around.resolve(file.path(scope))?;
            let text = self
                .changed(RequestedChange::SetUp, file, None, around.program)
                .map_err(|flaw| flaw.in_file(&path))?;
            Ok((path, text.unwrap_or_default()))
        };
        self.files.iter().map(snippet).collect()
    }

    fn changed(
        &self,
        change: RequestedChange,
        file: &HostFile,
        text: Option<&str>,
        program: &str,
    ) -> Result<Option<String>, Flaw> {
        let mut entries =
            file.entries.iter().map(|entry| PlannedEntry::new(self, file.format, entry, program));
        let mark =
            if text.is_some_and(|text| text.starts_with(BYTE_ORDER_MARK)) { BYTE_ORDER_MARK } else { "" };
        let text = text.map(|text| text[mark.len()..].to_owned());
        let after = match change {
            RequestedChange::SetUp => entries.try_fold(text, |text, entry| entry.ensure(text)),
            // In reverse order, so that each finds the file as it left it.
            RequestedChange::Remove => entries.rev().try_fold(text, |text, entry| entry.take_out(text)),
        }?;
        Ok(if mark.is_empty() { after } else { Some(format!("{mark}{}", after.unwrap_or_default())) })
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
