//! Templates: the options and the command of a start, saved under a name. A file each, beside the user's settings.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use meanwhile::engine::Redactor;
use meanwhile::engine::model::{EnvVar, one_line};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::commands::StartArguments;
use crate::config::Config;
use crate::entry::read_start;
use crate::error::CommandError;
use crate::help::Refused;

/// The format of a file.
const VERSION: u32 = 1;
/// How the names of the files end.
const ENDING: &str = ".json";
const LONGEST_NAME: usize = 100;
/// How to write a template.
const USAGE: &str =
    "write mw template save NAME -- and then what follows mw start, options before the command";

/// A saved start.
#[derive(Deserialize, Serialize)]
pub(crate) struct Template {
    version: u32,
    /// The options of `mw start`.
    options: Vec<String>,
    /// The command, as it follows the options; `--` may come first.
    command: Vec<String>,
}

impl Template {
    /// Reads the words that would follow `mw start`.
    ///
    /// # Errors
    /// When `mw start` would refuse them.
    pub(crate) fn new(words: &[String]) -> Result<Self, CommandError> {
        let read = read_words(words)?;
        let texts =
            |words: Vec<OsString>| words.into_iter().map(|word| word.into_string().unwrap_or_default());
        let options = texts(read.options).collect();
        Ok(Self { version: VERSION, options, command: texts(read.command).collect() })
    }

    /// Returns the start with more options, which replace those of the template, and whether JSON is wanted.
    ///
    /// # Errors
    /// When the options do not fit the template.
    pub(crate) fn start(&self, more: &[String]) -> Result<(bool, StartArguments), CommandError> {
        let words: Vec<_> = self.options.iter().chain(more).chain(&self.command).cloned().collect();
        let read = read_words(&words)?;
        // Another word would change which program runs.
        if !read.command.iter().eq(self.command.iter().map(String::as_str)) {
            let message = "the template has a command; only options can be added";
            return Err(CommandError::usage(message, "save another template for another command"));
        }
        Ok((read.json, read.start))
    }

    /// Returns the template without secrets.
    pub(crate) fn in_json(&self, name: &str, config: &Config) -> Value {
        let (options, command) = self.without_secrets(config);
        json!({"name": name, "options": options, "command": command})
    }

    /// Returns the command line that the template stands for, in one line and without secrets.
    pub(crate) fn line(&self, config: &Config) -> String {
        let (options, command) = self.without_secrets(config);
        let quoted = |word: &String| {
            shlex::try_quote(word).map_or_else(|_| format!("{word:?}"), std::borrow::Cow::into_owned)
        };
        let words: Vec<_> = options.iter().chain(&command).map(quoted).collect();
        one_line(&format!("mw start {}", words.join(" ")))
    }

    fn without_secrets(&self, config: &Config) -> (Vec<String>, Vec<String>) {
        let variable = |word: &String| {
            let (name, value) = word.strip_prefix("--env=").unwrap_or(word).split_once('=')?;
            Some(EnvVar { name: name.into(), value: value.into() })
        };
        let variables: Vec<_> = self.options.iter().filter_map(variable).collect();
        let redactor = Redactor::new(&config.settings.redact, &variables);
        (redactor.words(&self.options), redactor.words(&self.command))
    }
}

fn read_words(words: &[String]) -> Result<crate::entry::StartWords, CommandError> {
    let all: Vec<OsString> =
        ["mw", "start"].into_iter().chain(words.iter().map(String::as_str)).map(Into::into).collect();
    read_start(&all).map_err(|error| {
        if error.use_stderr() {
            let refused = Refused::of(&error, &all);
            CommandError::usage(refused.message, refused.hint)
        } else {
            CommandError::usage("a template has a command", USAGE)
        }
    })
}

/// The directory of the templates.
pub(crate) struct Templates {
    directory: PathBuf,
}

impl Templates {
    /// Returns the templates of the user.
    ///
    /// # Errors
    /// When there is no place for settings.
    pub(crate) fn of(config: &Config) -> Result<Self, CommandError> {
        let settings = config.user_file.as_deref().and_then(Path::parent);
        let settings = settings.ok_or_else(|| {
            CommandError::usage("there is no configuration directory", "set HOME or MEANWHILE_CONFIG")
        })?;
        Ok(Self { directory: settings.join("templates") })
    }

    /// Returns the sorted names of all templates.
    pub(crate) fn names(&self) -> Result<Vec<String>, CommandError> {
        let found = match fs::read_dir(&self.directory) {
            Ok(found) => found.collect::<io::Result<Vec<_>>>(),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        };
        let found = found.map_err(|error| cannot("read", &self.directory, &error))?;
        let name = |entry: fs::DirEntry| {
            let name = entry.file_name().to_str()?.strip_suffix(ENDING)?.to_owned();
            is_name(&name).then_some(name)
        };
        let mut names: Vec<_> = found.into_iter().filter_map(name).collect();
        names.sort();
        Ok(names)
    }

    pub(crate) fn read(&self, name: &str) -> Result<Template, CommandError> {
        let path = self.path(name)?;
        let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => not_found(name),
            _ => cannot("read", &path, &error),
        })?;
        let broken = |why: &str| {
            let message = format!("{} is not a template: {why}", path.display());
            CommandError::usage(
                message,
                "mw template remove removes it; mw template save --replace saves it again",
            )
        };
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let versioned: Versioned = serde_json::from_str(&text).map_err(|error| broken(&error.to_string()))?;
        if versioned.version > VERSION {
            return Err(broken("it was written by a newer mw"));
        }
        serde_json::from_str(&text).map_err(|error| broken(&error.to_string()))
    }

    /// Writes a template in one step.
    pub(crate) fn save(&self, name: &str, template: &Template, replace: bool) -> Result<(), CommandError> {
        let path = self.path(name)?;
        self.write(&path, template, replace).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => CommandError::conflict(
                format!("there is a template {name:?}"),
                "add --replace to replace it, or choose another name",
            ),
            _ => cannot("write", &path, &error),
        })
    }

    fn write(&self, path: &Path, template: &Template, replace: bool) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        let new = self.directory.join(format!(".new.{}", std::process::id()));
        let text = serde_json::to_string_pretty(template)? + "\n";
        // What a killed process has left under this name is nobody's now.
        let _ = fs::remove_file(&new);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        let placed = written.and_then(|()| match replace {
            true => fs::rename(&new, path),
            // Unlike a rename, this fails if the name is taken.
            false => fs::hard_link(&new, path),
        });
        let _ = fs::remove_file(&new);
        placed
    }

    pub(crate) fn remove(&self, name: &str) -> Result<(), CommandError> {
        let path = self.path(name)?;
        fs::remove_file(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => not_found(name),
            _ => cannot("remove", &path, &error),
        })
    }

    fn path(&self, name: &str) -> Result<PathBuf, CommandError> {
        if is_name(name) {
            return Ok(self.directory.join(format!("{name}{ENDING}")));
        }
        let hint = "use up to 100 letters, digits, -, _ and ., and begin with a letter or a digit";
        Err(CommandError::usage(format!("{name:?} cannot be the name of a template"), hint))
    }
}

fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(is_plain)
}

fn not_found(name: &str) -> CommandError {
    CommandError::not_found(format!("no template {name:?}"), "mw template list shows all of them")
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> CommandError {
    let message = format!("cannot {what} {}: {error}", path.display());
    CommandError::usage(message, "check the path and its permissions")
}
