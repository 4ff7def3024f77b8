//! Changes one setting in the user file. The rest of the file stays as it is.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::accepts::SettingValue;
use super::definition::Setting;
use super::file::SettingsFile;
use super::load::Config;
use super::settings::find;
use super::source::shown;
use super::suggest::nearest;
use crate::error::CommandError;

impl Config {
    /// Returns the setting with this name.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn setting(name: &str) -> Result<&'static Setting, CommandError> {
        find(name).ok_or_else(|| {
            let hint = nearest(name).map_or_else(
                || "mw config lists all settings".to_owned(),
                |suggestion| format!("did you mean {suggestion}? mw config lists all settings"),
            );
            CommandError::usage(format!("no setting {name:?}"), hint)
        })
    }

    /// Writes a value into the user file, or removes it from there. Returns the path of the file.
    ///
    /// # Errors
    /// When the value is not accepted, or the file cannot be changed. Nothing is changed then.
    pub(crate) fn write_setting(
        &self,
        setting: &Setting,
        value: Option<&str>,
    ) -> Result<PathBuf, CommandError> {
        let name = setting.name;
        let value = value.map(|text| {
            setting.accepts.read_text(text).ok_or_else(|| {
                let message = format!("{name} cannot be {}", shown(&format!("{text:?}")));
                CommandError::usage(message, format!("it accepts {}", setting.accepts))
            })
        });
        let value = value.transpose()?;
        let path = self.user_file.clone().ok_or_else(|| {
            CommandError::usage("there is no configuration directory", "set HOME or MEANWHILE_CONFIG")
        })?;
        let failed = |error: io::Error| {
            let message = format!("cannot write {}: {error}", shown(&path.to_string_lossy()));
            CommandError::usage(message, "check the file and its permissions")
        };
        let file = UserFile::open(&path).map_err(failed)?;
        let written = value.as_ref().map(|value| setting.accepts.toml(value));
        let refused = |why: &str| {
            let message = format!("cannot change {name} in {}: {why}", shown(&path.to_string_lossy()));
            CommandError::usage(message, "change the file by hand")
        };
        let after = with_setting(&file.text, name, written.as_deref());
        let after = after.ok_or_else(|| refused("the file is not valid, or has another form"))?;
        if others(&after, name) != others(&file.text, name) || !has_value(&after, setting, value.as_ref()) {
            return Err(refused("other settings are on the same line, or the file has another form"));
        }
        let problems = |text: &str| {
            let mut config = Self::neutral();
            config.take_user_file(&SettingsFile { path: path.clone(), text: text.to_owned() });
            config.problems
        };
        let before = problems(&file.text).len();
        if let Some(problem) = problems(&after).into_iter().nth(before) {
            return Err(refused(&problem.message));
        }
        if after != file.text {
            file.replace(&after).map_err(failed)?;
        }
        Ok(path)
    }
}

/// Returns all settings of a file but this one.
fn others(text: &str, name: &str) -> Option<Vec<(String, String)>> {
    let file = SettingsFile { path: PathBuf::new(), text: text.to_owned() };
    let entries = file.entries().ok()?.into_iter().filter(|entry| entry.name != name);
    let mut entries: Vec<_> = entries.map(|entry| (entry.name, entry.written.to_owned())).collect();
    entries.sort();
    Some(entries)
}

fn has_value(text: &str, setting: &Setting, value: Option<&SettingValue>) -> bool {
    let Ok(table) = DeTable::parse(text) else { return false };
    let found = find_value(table.get_ref(), setting.name).map(|(_, found)| setting.accepts.read_toml(found));
    match value {
        Some(_) => found.is_some_and(|found| found.as_ref() == value),
        None => found.is_none(),
    }
}

/// The user file while it is changed. Another process that changes it waits.
pub(super) struct UserFile {
    /// The real path.
    path: PathBuf,
    pub(super) text: String,
    mode: u32,
    _directory: File,
}

impl UserFile {
    /// Reads the file, or prepares a new one.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let is_link = path.is_symlink();
        let path = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_link => path.to_owned(),
            Err(error) => return Err(error),
        };
        let parent = path.parent().ok_or(io::ErrorKind::NotFound)?;
        DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        let directory = File::open(parent)?;
        directory.lock()?;
        let (text, mode) = match fs::metadata(&path) {
            Ok(meta) if !meta.is_file() => return Err(io::Error::other("it is not a regular file")),
            Ok(meta) if meta.permissions().mode() & 0o222 == 0 => {
                return Err(io::Error::other("it is read-only"));
            }
            Ok(meta) => (fs::read_to_string(&path)?, meta.permissions().mode() & 0o777),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (String::new(), 0o600),
            Err(error) => return Err(error),
        };
        Ok(Self { path, text, mode, _directory: directory })
    }

    /// Replaces the file in one step.
    pub(super) fn replace(&self, text: &str) -> io::Result<()> {
        let new = self.path.with_extension(format!("toml.{}", std::process::id()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(self.mode).open(&new)?;
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        let replaced = written.and_then(|()| fs::rename(&new, &self.path));
        replaced.inspect_err(|_| drop(fs::remove_file(&new)))
    }
}

/// Returns the bytes of a setting's value in the text that was parsed, and the value.
fn find_value<'a>(table: &'a DeTable<'a>, name: &str) -> Option<(std::ops::Range<usize>, &'a DeValue<'a>)> {
    let value = match name.split_once('.') {
        None => table.get(name)?,
        Some((section, key)) => table.get(section)?.get_ref().get(key)?,
    };
    Some((value.span(), value.get_ref()))
}

/// Returns the text with this value of a setting, or without the setting; `None` if the file has another form.
fn with_setting(text: &str, name: &str, value: Option<&str>) -> Option<String> {
    let parsed = DeTable::parse(text).ok()?;
    let (section, key) = name.split_once('.').map_or((None, name), |(section, key)| (Some(section), key));
    let found = find_value(parsed.get_ref(), name).map(|(span, _)| span);
    Some(match (found, value) {
        (Some(span), Some(value)) => format!("{}{value}{}", &text[..span.start], &text[span.end..]),
        (Some(span), None) => {
            let begin = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
            let end = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at + 1);
            format!("{}{}", &text[..begin], &text[end..])
        }
        (None, None) => text.to_owned(),
        (None, Some(value)) => {
            let line = format!("{key} = {value}\n");
            match section {
                None => format!("{line}{text}"),
                Some(section) => match end_of_header(text, section) {
                    Some(at) => format!("{}{line}{}", &text[..at], &text[at..]),
                    None if parsed.get_ref().get(section).is_some() => return None,
                    None => {
                        let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
                        let gap = if text.is_empty() { "" } else { "\n" };
                        format!("{text}{newline}{gap}[{section}]\n{line}")
                    }
                },
            }
        }
    })
}

/// Returns where the line after `[section]` begins.
fn end_of_header(text: &str, section: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let code = line.split('#').next().unwrap_or_default().trim();
        let inner = code.strip_prefix('[').and_then(|code| code.strip_suffix(']')).map(str::trim);
        if inner == Some(section) {
            return line.ends_with('\n').then_some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_replaced_added_or_removed_and_the_rest_stays() {
        let file = "# mine\nprofile = \"mycode\"\n\n[queue] # limits\nmax_running = 4 # cores\n\n[kill]\n";
        for (name, value, expected) in [
            ("queue.max_running", Some("8"), file.replace("4 #", "8 #")),
            ("queue.max_running", None, file.replace("max_running = 4 # cores\n", "")),
            ("queue.max_agents", Some("2"), file.replace("limits\n", "limits\nmax_agents = 2\n")),
            ("kill.grace_ms", Some("1"), format!("{file}grace_ms = 1\n")),
            ("theme", Some("\"dark\""), format!("theme = \"dark\"\n{file}")),
            ("redact.mode", Some("\"x\""), format!("{file}\n[redact]\nmode = \"x\"\n")),
            ("queue.at_capacity", None, file.to_owned()),
        ] {
            assert_eq!(with_setting(file, name, value).as_deref(), Some(&*expected), "{name}");
        }
        assert_eq!(with_setting("", "a.b", Some("1")).unwrap(), "[a]\nb = 1\n");
    }

    #[test]
    fn a_file_of_another_form_is_not_changed() {
        assert_eq!(with_setting("queue.max_running = 4\n", "queue.max_agents", Some("2")), None);
        assert_eq!(with_setting("[queue", "queue.max_agents", Some("2")), None);
    }
}
