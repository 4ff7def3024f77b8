//! Combines the layers of settings: default, profile, user file, project file, environment.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use meanwhile::Settings;
use meanwhile::engine::model::{DEFAULT_SHELL, Lifetime};
use meanwhile::policy::{Dialect, RuleOrigin};
use meanwhile::settings::Executables;
use mw_tools::USUAL_WAIT_MS;
use mw_tools::call::{LONGEST_CALL_MS, REPLY_BYTES, STREAM_BYTES, SessionEnd};

use super::accepts::SettingValue;
use super::definition::{PREFIX, Setting};
use super::places;
use super::profile::{self, Profile};
use super::settings::{find, settings};
use super::source::{FileLine, Source};
use super::suggest::nearest;
use super::values::{BuiltinAgentSettings, ChatSettings, PolicySettings, SubagentSettings, ToolSettings};
use crate::error::CommandError;
use crate::{otel, programs, render};

/// All settings of the command line.
pub(crate) struct Config {
    pub(crate) settings: Settings,
    pub(crate) shell: String,
    pub(crate) theme: String,
    pub(crate) tools: ToolSettings,
    pub(crate) chat: ChatSettings,
    pub(crate) agents: SubagentSettings,
    /// The user file, if it sets agents; read on demand.
    pub(super) agents_file: Option<(PathBuf, String)>,
    pub(crate) agent: BuiltinAgentSettings,
    /// `keep` or `kill`: what happens to a session when its MCP client exits.
    pub(crate) session_end: SessionEnd,
    /// After which wait in a terminal a notification is shown; 0 = none.
    pub(crate) notify_after_ms: u64,
    /// Whether tasks end with their session.
    pub(super) kill_tasks: bool,
    /// What the user's own tasks may change.
    pub(crate) confine_user: String,
    /// Whether the commands of models are confined.
    pub(crate) confine_models: bool,
    pub(crate) policy: PolicySettings,
    /// The files with rules and their owners; read on demand.
    pub(super) rule_files: Vec<(RuleOrigin, PathBuf, String)>,
    pub(super) profile: &'static Profile,
    /// The directory of this process, if it has one.
    pub(crate) directory: Option<PathBuf>,
    /// Where the user file is looked for.
    pub(crate) user_file: Option<PathBuf>,
    /// Where a project file was found.
    pub(crate) project_file: Option<PathBuf>,
    /// Values of the project file that were ignored, because a stricter value applies.
    pub(crate) not_taken: Vec<NotTaken>,
    /// Values that were refused and are ignored.
    pub(crate) problems: Vec<CommandError>,
    /// Everything that was set, in order.
    pub(super) sources: Vec<(&'static str, Source)>,
}

/// A value of a project file that was ignored.
pub(crate) struct NotTaken {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) place: FileLine,
}

impl Config {
    /// Reads everything. A value that is unknown, of the wrong type or out of its range is ignored and listed in the problems, with
    /// its name, the file and line or the variable, and the accepted values.
    ///
    /// # Errors
    /// When the programs next to this one cannot be found.
    pub(crate) fn load_tolerantly() -> Result<Self, CommandError> {
        Self::load_from(Dialect::Canonical, env::current_dir().ok())
    }

    /// Reads everything; `None` if there is anything that the user must be told.
    pub(crate) fn load_quietly() -> Option<Self> {
        let config = Self::load_tolerantly().ok()?;
        (config.problems.is_empty() && Self::misspelt_variables().is_empty()).then_some(config)
    }

    /// Refuses settings with problems.
    ///
    /// # Errors
    /// The first problem.
    pub(crate) fn without_problems(mut self) -> Result<Self, CommandError> {
        if self.problems.is_empty() { Ok(self) } else { Err(self.problems.swap_remove(0)) }
    }

    /// Refuses settings with problems, as [`Config::without_problems`] does.
    ///
    /// # Errors
    /// The first problem.
    pub(crate) fn check(&self) -> Result<(), CommandError> {
        self.problems
            .first()
            .map_or(Ok(()), |problem| Err(CommandError::usage(&problem.message, &problem.hint)))
    }

    /// Reads everything as it applies in another directory, with the values of a dialect's profile.
    ///
    /// # Errors
    /// The first problem.
    pub(crate) fn load_in(directory: &Path, dialect: Dialect) -> Result<Self, CommandError> {
        Self::load_from(dialect, Some(directory.to_owned()))?.without_problems()
    }

    /// Reads everything, with the values of a dialect's profile unless the user chose another.
    ///
    /// # Errors
    /// The first problem.
    pub(crate) fn load_for(dialect: Dialect) -> Result<Self, CommandError> {
        Self::load_from(dialect, env::current_dir().ok())?.without_problems()
    }

    fn load_from(dialect: Dialect, directory: Option<PathBuf>) -> Result<Self, CommandError> {
        let home = meanwhile::engine::home_directory(None).unwrap_or_default();
        let programs = programs::of_home(&home)?;
        let mut config = Self { profile: profile::of(dialect), ..Self::new(Settings::new(home, programs)) };
        let (path, file) = places::user_file();
        config.user_file = path;
        match config.noted(file).flatten() {
            Some(file) => config.take_user_file(&file),
            None => config.take_profile(&[]),
        }
        config.take_root()?;
        config.directory = directory;
        let directory = config.directory.as_deref();
        let file =
            directory.map(|directory| places::project_file(directory, &config.settings.home)).transpose();
        if let Some(file) = config.noted(file).flatten().flatten() {
            config.take_project_file(&file);
            config.project_file = Some(file.path);
        }
        config.take_environment();
        config.settings.traces = otel::trace_settings();
        config.settings.tell = render::note;
        Ok(config)
    }

    /// Returns the built-in defaults, without a home and programs.
    pub(super) fn neutral() -> Self {
        let programs = Executables { supervisor: PathBuf::new(), settle: Vec::new(), starter_exits: false };
        Self::new(Settings::new(PathBuf::new(), programs))
    }

    fn new(settings: Settings) -> Self {
        Self {
            settings,
            shell: DEFAULT_SHELL.to_owned(),
            theme: "auto".to_owned(),
            session_end: SessionEnd::Keep,
            tools: ToolSettings {
                reply_bytes: REPLY_BYTES,
                stream_bytes: STREAM_BYTES,
                longest_call_ms: LONGEST_CALL_MS,
                wait_ms: USUAL_WAIT_MS,
                no_background: false,
                notices: true,
            },
            chat: ChatSettings { auto_wake: true, layout: "auto".to_owned() },
            agents: SubagentSettings {
                max_depth: 2,
                cancel_ms: 2000,
                silence_ms: 300_000,
                linger_ms: 600_000,
                default: String::new(),
            },
            agents_file: None,
            agent: BuiltinAgentSettings {
                model: None,
                base_url: None,
                key_file: None,
                context_tokens: 128_000,
                max_requests: 100,
                max_calls: 500,
                silence_ms: 180_000,
            },
            notify_after_ms: 0,
            kill_tasks: true,
            confine_user: "none".to_owned(),
            confine_models: true,
            policy: PolicySettings::default(),
            rule_files: Vec::new(),
            profile: profile::of(Dialect::Canonical),
            directory: None,
            user_file: None,
            project_file: None,
            not_taken: Vec::new(),
            problems: Vec::new(),
            sources: Vec::new(),
        }
    }

    /// Returns the default lifetime of a task.
    pub(crate) const fn lifetime(&self) -> Lifetime {
        if self.kill_tasks { self.session_end.lifetime() } else { Lifetime::Detached }
    }

    /// Returns the home directory of the user.
    #[expect(clippy::unused_self, reason = "it belongs to the surroundings of a command")]
    pub(crate) fn user_home(&self) -> Option<PathBuf> {
        env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
    }

    /// Returns the dialect of the current profile.
    pub(crate) const fn dialect(&self) -> Dialect {
        self.profile.dialect
    }

    /// Returns the source of a setting's value: the last layer that set it.
    pub(crate) fn source(&self, setting: &Setting) -> Source {
        let found = self.sources.iter().rev().find(|(name, _)| *name == setting.name);
        found.map_or(Source::Default, |(_, source)| source.clone())
    }

    /// Returns the variables of the environment that are named like settings.
    pub(super) fn variables() -> Vec<(String, OsString)> {
        let text = env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
        text.filter(|(name, _)| name.starts_with(PREFIX)).collect()
    }

    /// Returns variables that have the prefix of a section but belong to no setting, such as misspelt ones.
    ///
    /// They are not an error: a task may pass on the variables of another version.
    pub(crate) fn unknown_variables() -> Vec<String> {
        let names = Self::variables().into_iter().map(|(name, _)| name);
        let mut unknown: Vec<_> = names.filter(|name| is_unknown_variable(name)).collect();
        unknown.sort();
        unknown
    }

    /// Returns those that resemble the variable of a setting, with that variable.
    pub(crate) fn misspelt_variables() -> Vec<(String, String)> {
        let suggestion = |name: String| {
            let (section, key) = name.strip_prefix(PREFIX)?.split_once('_')?;
            let setting = nearest(&format!("{section}.{key}").to_ascii_lowercase())?;
            Some((name, find(setting)?.variable()))
        };
        Self::unknown_variables().into_iter().filter_map(suggestion).collect()
    }

    /// Returns the value, or records what is wrong with it.
    pub(super) fn noted<T>(&mut self, read: Result<T, CommandError>) -> Option<T> {
        read.map_err(|problem| self.problems.push(problem)).ok()
    }

    pub(super) fn set(&mut self, setting: &'static Setting, value: &SettingValue, source: Source) {
        (setting.set)(self, value);
        self.sources.push((setting.name, source));
    }
}

fn is_unknown_variable(name: &str) -> bool {
    let Some((section, _)) = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_')) else {
        return false;
    };
    let is_section = |setting: &Setting| setting.section_and_key().0.eq_ignore_ascii_case(section);
    settings().any(is_section) && !settings().any(|setting| setting.has_variable(name))
}
