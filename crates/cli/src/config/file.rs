//! A settings file as a list of settings with their lines.

use std::ops::Range;
use std::path::PathBuf;

use toml::de::{DeTable, DeValue};

use super::source::{FileLine, shown};
use crate::error::CommandError;

/// A file and what is in it.
pub(super) struct SettingsFile {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// One setting of a file.
pub(super) struct FileSetting<'a> {
    /// `section.key`, or the key alone outside of any section.
    pub(super) name: String,
    pub(super) value: DeValue<'a>,
    /// The value as written in the file.
    pub(super) written: &'a str,
    pub(super) place: FileLine,
}

impl SettingsFile {
    pub(super) fn new(path: PathBuf, bytes: Vec<u8>) -> Result<Self, CommandError> {
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { path, text }),
            Err(error) => {
                let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
                Err(refused(&FileLine { file: path, line }, "this is not UTF-8"))
            }
        }
    }

    /// Returns every setting in the order of the file.
    pub(super) fn entries(&self) -> Result<Vec<FileSetting<'_>>, CommandError> {
        let table = DeTable::parse(&self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            refused(&self.line_at(at), &shown(error.message()))
        })?;
        let mut entries = Vec::new();
        for (key, value) in table.into_inner() {
            let span = value.span();
            match value.into_inner() {
                DeValue::Table(section) => {
                    for (inner, value) in section {
                        let name = format!("{}.{}", key.get_ref(), inner.get_ref());
                        let span = value.span();
                        entries.push(self.entry(name, inner.span().start, value.into_inner(), span));
                    }
                }
                value => entries.push(self.entry(key.get_ref().to_string(), key.span().start, value, span)),
            }
        }
        entries.sort_by_key(|entry| entry.place.line);
        Ok(entries)
    }

    fn entry<'a>(
        &'a self,
        name: String,
        at: usize,
        value: DeValue<'a>,
        span: Range<usize>,
    ) -> FileSetting<'a> {
        let written = self.text.get(span).unwrap_or_default();
        FileSetting { name, value, written, place: self.line_at(at) }
    }

    fn line_at(&self, at: usize) -> FileLine {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        FileLine { file: self.path.clone(), line }
    }
}

fn refused(place: &FileLine, why: &str) -> CommandError {
    CommandError::usage(format!("{place}: {why}"), "correct the file or remove it")
}
