//! One of our entries in a file of a host: finds, adds and removes it.

use std::cmp::Reverse;
use std::ops::Range;
use std::path::Path;
use std::slice;

use mw_model::shell_word;
use serde_json::{Value, json};

use super::error::Flaw;
use super::json::Spot;
use super::value::{COMMAND_FIELDS, on_one_line};
use super::{json, toml};
use crate::hosts::host::{AgentHost, FileFormat, HostEntry};

/// A field of an entry that says what it starts.
pub(super) struct CommandField {
    pub(super) name: &'static str,
    /// The position of its value.
    pub(super) range: Range<usize>,
    pub(super) words: Vec<String>,
}

/// One entry of one file, ready to be written.
pub(super) struct PlannedEntry {
    format: FileFormat,
    path: &'static [&'static str],
    /// The arguments by which a hook is recognised; `None` for the server.
    hook_arguments: Option<String>,
    /// The object with the command.
    value: Value,
    /// The value to add if there is none.
    whole: Value,
}

impl PlannedEntry {
    pub(super) fn new(host: &AgentHost, format: FileFormat, entry: &HostEntry, program: &str) -> Self {
        let (path, matcher, timeout, waking_field) = match *entry {
            HostEntry::Server { path, value } => {
                let value = value(program);
                return Self { format, path, hook_arguments: None, whole: value.clone(), value };
            }
            HostEntry::Hook { path, matcher, timeout } => (path, matcher, timeout, None),
            HostEntry::Waker { path, field, timeout } => (path, None, timeout, Some(field)),
        };
        let arguments = format!("hook {}{}", host.id, if waking_field.is_some() { " --wake" } else { "" });
        let command = format!("{} {arguments}", shell_word(program));
        let mut value = json!({"type": "command", "command": command, "timeout": timeout});
        if let Some(field) = waking_field {
            value[field] = true.into();
        }
        let whole = match matcher {
            Some(matcher) => json!({"matcher": matcher, "hooks": [value]}),
            None => json!({"hooks": [value]}),
        };
        Self { format, path, hook_arguments: Some(arguments), value, whole }
    }

    fn spot(&self) -> Spot<'_> {
        self.hook_arguments.as_deref().map_or(Spot::Member, |arguments| Spot::Element { arguments })
    }

    pub(super) fn wanted(&self) -> Vec<String> {
        let fields = COMMAND_FIELDS.iter().filter_map(|name| self.value.get(name));
        let texts = fields.flat_map(|field| field.as_array().map_or(slice::from_ref(field), Vec::as_slice));
        texts.filter_map(|text| text.as_str().map(str::to_owned)).collect()
    }

    /// Returns whether a command is one of ours, with any path of `mw`. Hooks are recognised by it.
    fn starts_us(&self, words: &[String]) -> bool {
        let name = |words: &[String]| {
            words.first().and_then(|word| Path::new(word).file_name().map(ToOwned::to_owned))
        };
        let is_ours = |own| own == "mw" || Some(own) == name(&self.wanted());
        self.hook_arguments.is_some() || name(words).is_some_and(is_ours)
    }

    fn command(&self, text: &str) -> Result<Option<Vec<CommandField>>, Flaw> {
        match self.format {
            FileFormat::Json(syntax) => json::command(text, syntax, self.path, self.spot()),
            FileFormat::Toml => toml::command(text, self.path),
        }
    }

    pub(super) fn command_line(&self, text: &str) -> Result<Option<Vec<String>>, Flaw> {
        let words = |fields: Vec<CommandField>| fields.into_iter().flat_map(|field| field.words).collect();
        Ok(self.command(text)?.map(words))
    }

    pub(super) fn ensure(&self, text: Option<String>) -> Result<Option<String>, Flaw> {
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
            FileFormat::Json(syntax) => json::add(text, syntax, self.path, self.spot(), &self.whole),
            FileFormat::Toml => toml::add(text, self.path, &self.whole),
        }
    }

    /// Replaces the command and nothing else.
    fn with_our_command(&self, text: &str) -> Result<String, Flaw> {
        let present = self.command(text)?.unwrap_or_default();
        let mut cuts = Vec::new();
        for name in COMMAND_FIELDS {
            let Some(value) = self.value.get(name) else { continue };
            let Some(field) = present.iter().find(|field| field.name == name) else {
                // An entry of another form is rewritten.
                return self.add(self.take_out(Some(text.to_owned()))?.as_deref());
            };
            cuts.push((field.range.clone(), on_one_line(value)));
        }
        cuts.sort_by_key(|(range, _)| Reverse(range.start));
        let mut changed = text.to_owned();
        for (range, new) in cuts {
            changed.replace_range(range, &new);
        }
        Ok(changed)
    }

    pub(super) fn take_out(&self, text: Option<String>) -> Result<Option<String>, Flaw> {
        let Some(text) = text else {
            return Ok(None);
        };
        // Keep an entry of the same name that another program added.
        if self.command_line(&text)?.is_some_and(|words| !self.starts_us(&words)) {
            return Ok(Some(text));
        }
        match self.format {
            FileFormat::Json(syntax) => json::take_out(&text, syntax, self.path, self.spot()),
            FileFormat::Toml => toml::take_out(&text, self.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::setup::json::Syntax;

    #[test]
    fn replacing_the_command_keeps_other_fields_and_comments() {
        let old = "{\"mcpServers\": {\"meanwhile\": {\"command\": \"old\", /* keep */ \"args\": [], \"timeout\": 7}}}";
        let new = "{\"mcpServers\": {\"meanwhile\": {\"command\": \"/opt/mw\", /* keep */ \"args\": [\"mcp\"], \"timeout\": 7}}}";
        let old_table =
            "[mcp_servers.meanwhile]\ncommand = \"old\" # here\nargs = []\ntool_timeout_sec = 7\n";
        let new_table =
            "[mcp_servers.meanwhile]\ncommand = \"/opt/mw\" # here\nargs = [\"mcp\"]\ntool_timeout_sec = 7\n";
        let value = json!({"command": "/opt/mw", "args": ["mcp"]});
        for (format, path, old, new) in [
            (FileFormat::Json(Syntax::Comments), &["mcpServers", "meanwhile"], old, new),
            (FileFormat::Toml, &["mcp_servers", "meanwhile"], old_table, new_table),
        ] {
            let (value, whole) = (value.clone(), value.clone());
            let planned = PlannedEntry { format, path, hook_arguments: None, value, whole };
            assert_eq!(planned.with_our_command(old).unwrap(), new);
        }
    }
}
