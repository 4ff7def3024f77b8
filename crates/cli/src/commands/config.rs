//! `mw config`: shows every setting, its value and its source, and changes the user file.

use std::path::Path;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::approval;
use crate::config::{Config, default_file, settings, shown};
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Print a documented configuration file with all defaults
    #[arg(long)]
    default: bool,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Subcommand)]
enum What {
    /// Print the value of a setting
    Get {
        /// The setting, such as queue.max_running
        name: String,
    },
    /// Write a value of a setting into the user file
    Set {
        /// The setting, such as queue.max_running
        name: String,
        /// The value; a list has one item per line
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a setting from the user file, so that its default applies again
    Unset {
        /// The setting
        name: String,
    },
}

impl Arguments {
    /// Shows the current settings.
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let config = &context.config;
        let (name, value) = match self.what {
            None => return context.show(&as_json(config), || as_text(config)),
            Some(What::Get { name }) => {
                let setting = Config::setting(&name)?;
                let value = setting.value(config);
                let reply =
                    json!({"name": name, "value": value, "source": config.source(setting).to_string()});
                return context.show(&reply, || format!("{}\n", shown(&value)));
            }
            Some(What::Set { name, value }) => (name, Some(value)),
            Some(What::Unset { name }) => (name, None),
        };
        let setting = Config::setting(&name)?;
        refuse_inside(context)?;
        let path = config.write_setting(setting, value.as_deref())?;
        let path = shown(&path.to_string_lossy());
        let now = Config::load_tolerantly()?;
        let source = now.source(setting);
        let reply =
            json!({"name": name, "value": setting.value(&now), "source": source.to_string(), "file": path});
        context.show(&reply, || {
            let changed = if value.is_some() { "set in" } else { "not set in" };
            format!("{name} is {changed} {path}; its value is {} ({source})\n", shown(&setting.value(&now)))
        })
    }

    /// Returns whether the default file is wanted. It is printed even if the user's settings are refused.
    pub(crate) const fn wants_default(&self) -> bool {
        self.default
    }

    /// Prints the default file.
    pub(crate) fn print_default(self, json: bool) -> CommandResult {
        let text = default_file();
        render::out(&if json { format!("{}\n", json!({"default_file": text})) } else { text })?;
        Ok(0)
    }
}

/// Only the user changes settings: they decide what sessions and tasks may do. They apply to all homes, so a task of any home
/// counts.
fn refuse_inside(context: &Context) -> Result<(), CommandError> {
    if context.gated_session().is_none() && !approval::is_below_any_task() {
        return Ok(());
    }
    Err(CommandError::usage(
        "only the user can change settings",
        "run it in a terminal without MEANWHILE_SESSION, outside of every task",
    ))
}

fn as_json(config: &Config) -> Value {
    let settings: Vec<_> = settings()
        .map(|setting| {
            let source = config.source(setting);
            let (file, line) = source.file_line().unzip();
            let file = file.map(Path::to_string_lossy);
            json!({"name": setting.name, "value": setting.value(config), "source": source.to_string(),
                   "origin": source.word(), "file": file, "line": line, "variable": setting.variable(),
                   "accepts": setting.accepts.to_string(), "help": setting.help})
        })
        .collect();
    let not_taken: Vec<_> = config
        .not_taken
        .iter()
        .map(|asked| {
            let file = asked.place.file.to_string_lossy();
            json!({"name": asked.name, "value": asked.value, "file": file, "line": asked.place.line})
        })
        .collect();
    let path = |path: Option<&Path>| path.map(|path| path.to_string_lossy().into_owned());
    let problems: Vec<_> = config
        .problems
        .iter()
        .map(|problem| json!({"message": problem.message, "hint": problem.hint}))
        .collect();
    json!({"home": path(Some(&config.settings.home)), "file": path(config.user_file.as_deref()),
           "project_file": path(config.project_file.as_deref()), "settings": settings, "not_taken": not_taken,
           "unknown_variables": Config::unknown_variables(), "problems": problems})
}

fn as_text(config: &Config) -> String {
    let path =
        |path: Option<&Path>| path.map_or_else(|| "none".to_owned(), |path| shown(&path.to_string_lossy()));
    let mut text = format!(
        "home     {}\nfile     {}\nproject  {}\n\n",
        path(Some(&config.settings.home)),
        path(config.user_file.as_deref()),
        path(config.project_file.as_deref())
    );
    for setting in settings() {
        let value = shown(&setting.value(config).replace('\n', " "));
        let value = mw_desk::text::shortened(&value, 40);
        let (source, variable) = (config.source(setting), setting.variable());
        text.push_str(&format!("{:<24} {value:<12} ({source}; {variable})\n", setting.name));
    }
    for asked in &config.not_taken {
        let (name, value, place) = (asked.name, &asked.value, &asked.place);
        text.push_str(&format!("\n{place}: {name} = {value} ignored, because it is less strict\n"));
    }
    for variable in Config::unknown_variables() {
        text.push_str(&format!("\n{} is set, but no such setting exists\n", shown(&variable)));
    }
    text
}
