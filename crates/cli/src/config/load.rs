//! Combines the layers of settings: default, profile, user file, project file, environment.

use std::env;
use std::path::{Path, PathBuf};

use meanwhile::engine::ApprovalPatience;
use meanwhile::model::Lifetime;
use meanwhile::policy::{Dialect, Mode, RuleOrigin};
use meanwhile::{Programs, Settings};
use mw_agents::Tells;
use mw_tools::USUAL_WAIT_MS;
use mw_tools::call::SessionEnd;

use super::accepts::{Accepts, Value};
use super::file::{Entry, SettingsFile};
use super::places;
use super::profile::{self, Profile};
use super::setting::{InProject, Setting};
use super::settings::{find, settings};
use super::source::{Place, Source, shown};
use super::suggest::nearest;
use crate::error::CommandError;
use crate::{otel, programs, render};

/// The setting that selects the profile; it is read before all others.
const PROFILE: &str = "profile";
/// The list of policy rules, which is not a setting.
const RULES: &str = "rules";
/// A table of an agent, which is not a setting.
const AGENTS: &str = "agents.";
const HINT: &str = "mw config --default prints every setting and what it accepts";

/// Settings of tool calls.
pub(crate) struct ToolSettings {
    pub(crate) reply_bytes: u64,
    pub(crate) stream_bytes: u64,
    pub(crate) longest_call_ms: u64,
    pub(crate) wait_ms: u64,
    pub(crate) no_background: bool,
    pub(crate) notices: bool,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            reply_bytes: 8 << 10,
            stream_bytes: 1 << 20,
            longest_call_ms: 240_000,
            wait_ms: USUAL_WAIT_MS,
            no_background: false,
            notices: true,
        }
    }
}

impl ToolSettings {
    /// Returns which process delivers the notifications of a session.
    pub(crate) const fn tells(&self) -> Tells {
        if self.notices { Tells::Replies } else { Tells::Host }
    }
}

/// Settings of chats.
pub(crate) struct ChatSettings {
    pub(crate) auto_wake: bool,
    pub(crate) layout: String,
}

impl Default for ChatSettings {
    fn default() -> Self {
        Self { auto_wake: true, layout: "auto".to_owned() }
    }
}

/// Settings of subagents.
pub(crate) struct SubagentSettings {
    pub(crate) max_depth: u32,
    pub(crate) cancel_ms: u64,
    pub(crate) silence_ms: u64,
    pub(crate) linger_ms: u64,
    pub(crate) default: String,
}

impl Default for SubagentSettings {
    fn default() -> Self {
        Self {
            max_depth: 2,
            cancel_ms: 2000,
            silence_ms: 300_000,
            linger_ms: 600_000,
            default: String::new(),
        }
    }
}

/// Settings of the built-in agent.
pub(crate) struct AgentSettings {
    pub(crate) model: Option<String>,
    pub(crate) base_url: Option<String>,
    pub(crate) key_file: Option<String>,
    pub(crate) context_tokens: u64,
    pub(crate) max_requests: u64,
    pub(crate) max_calls: u64,
    pub(crate) silence_ms: u64,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            model: None,
            base_url: None,
            key_file: None,
            context_tokens: 128_000,
            max_requests: 100,
            max_calls: 500,
            silence_ms: 180_000,
        }
    }
}

/// Settings of the policy.
#[derive(Default)]
pub(crate) struct PolicySettings {
    pub(crate) mode: Mode,
    pub(crate) ci_reads: bool,
    pub(crate) writable: Vec<String>,
    pub(crate) patience: ApprovalPatience,
}

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
    pub(crate) agent: AgentSettings,
    /// `keep` or `kill`: what happens to a session when its MCP client exits.
    pub(crate) session_end: String,
    /// Whether tasks end with their session.
    pub(super) kill_tasks: bool,
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
    sources: Vec<(&'static str, Source)>,
}

/// A value of a project file that was ignored.
pub(crate) struct NotTaken {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    pub(crate) place: Place,
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

    /// Refuses settings with problems.
    ///
    /// # Errors
    /// The first problem.
    pub(crate) fn without_problems(mut self) -> Result<Self, CommandError> {
        if self.problems.is_empty() { Ok(self) } else { Err(self.problems.swap_remove(0)) }
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
        let home = places::home_directory(None);
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
        let programs = Programs { supervisor: PathBuf::new(), settle: Vec::new(), starter_exits: false };
        Self::new(Settings::new(PathBuf::new(), programs))
    }

    fn new(settings: Settings) -> Self {
        Self {
            settings,
            shell: "/bin/sh".to_owned(),
            theme: "auto".to_owned(),
            session_end: "keep".to_owned(),
            tools: ToolSettings::default(),
            chat: ChatSettings::default(),
            agents: SubagentSettings::default(),
            agents_file: None,
            agent: AgentSettings::default(),
            kill_tasks: true,
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
    pub(crate) fn lifetime(&self) -> Lifetime {
        match (self.kill_tasks, self.session_end()) {
            (false, _) => Lifetime::Detached,
            (true, SessionEnd::Kill) => Lifetime::Client,
            (true, SessionEnd::Keep) => Lifetime::Session,
        }
    }

    /// Returns what happens to a session when its client exits.
    pub(crate) fn session_end(&self) -> SessionEnd {
        if self.session_end == "kill" { SessionEnd::Kill } else { SessionEnd::Keep }
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

    /// Returns variables that are named like settings but are not, such as misspelt ones.
    ///
    /// They are not an error: a task may pass on the variables of another version.
    pub(crate) fn unknown_variables() -> Vec<String> {
        let names = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let mut unknown: Vec<_> = names.filter(|name| is_unknown_variable(name)).collect();
        unknown.sort();
        unknown
    }

    /// Returns those that resemble the variable of a setting, with that variable.
    pub(crate) fn misspelt_variables() -> Vec<(String, &'static str)> {
        let meant = |name: String| {
            let (section, key) = name.strip_prefix("MEANWHILE_")?.split_once('_')?;
            let setting = nearest(&format!("{section}.{key}").to_ascii_lowercase())?;
            Some((name, find(setting)?.variable))
        };
        Self::unknown_variables().into_iter().filter_map(meant).collect()
    }

    /// Returns the value, or records what is wrong with it.
    fn noted<T>(&mut self, read: Result<T, CommandError>) -> Option<T> {
        read.map_err(|problem| self.problems.push(problem)).ok()
    }

    fn set(&mut self, setting: &'static Setting, value: &Value, source: Source) {
        (setting.set)(self, value);
        self.sources.push((setting.name, source));
    }

    /// Selects the profile and applies its values.
    fn take_profile(&mut self, user: &[Entry<'_>]) {
        let Some(setting) = find(PROFILE) else { return };
        if let Some(entry) = user.iter().find(|entry| entry.name == PROFILE)
            && let Some(value) = self.noted(read_entry(entry, &setting.accepts))
        {
            self.set(setting, &value, Source::User(entry.place.clone()));
        }
        self.take_variable(setting, setting.variable, &setting.accepts);
        for (name, text) in self.profile.values {
            let Some(setting) = find(name) else { continue };
            if let Some(value) = setting.accepts.read_text(text) {
                self.set(setting, &value, Source::Profile(self.profile.name()));
            }
        }
    }

    /// Uses the home of the profile if the user chose the profile. A host that only uses a dialect must not hide its tasks from
    /// other clients.
    fn take_root(&mut self) -> Result<(), CommandError> {
        let is_chosen = self.sources.iter().any(|(name, _)| *name == PROFILE);
        if is_chosen && self.profile.root.is_some() {
            let home = places::home_directory(self.profile.root);
            self.settings.programs = programs::of_home(&home)?;
            self.settings.home = home;
        }
        Ok(())
    }

    fn take_user_file(&mut self, file: &SettingsFile) {
        let entries = self.noted(file.entries()).unwrap_or_default();
        self.take_profile(&entries);
        for entry in entries.iter().filter(|entry| entry.name != PROFILE) {
            let taken = self.take_user_entry(file, entry);
            self.noted(taken);
        }
    }

    fn take_user_entry(&mut self, file: &SettingsFile, entry: &Entry<'_>) -> Result<(), CommandError> {
        if entry.name == RULES {
            self.rule_files.push((RuleOrigin::User, file.path.clone(), file.text.clone()));
            return Ok(());
        }
        if entry.name.starts_with(AGENTS) {
            self.agents_file = Some((file.path.clone(), file.text.clone()));
            return Ok(());
        }
        let (setting, accepts) = match find(&entry.name) {
            Some(setting) => (setting, &setting.accepts),
            None => self.by_alias(entry)?,
        };
        let value = read_entry(entry, accepts)?;
        if let Source::User(earlier) = self.source(setting) {
            let (name, line) = (setting.name, earlier.line);
            return Err(refused(entry, &format!("{name} is already set in line {line}")));
        }
        self.set(setting, &value, Source::User(entry.place.clone()));
        Ok(())
    }

    /// Finds the setting that has this name in the profile.
    fn by_alias(&self, entry: &Entry<'_>) -> Result<(&'static Setting, &'static Accepts), CommandError> {
        let ours = self.profile.alias(&entry.name);
        if let Some((alias, setting)) = ours.and_then(|alias| Some((alias, find(alias.setting)?))) {
            return Ok((setting, &alias.accepts));
        }
        Err(unknown(entry))
    }

    fn take_project_file(&mut self, file: &SettingsFile) {
        for entry in self.noted(file.entries()).unwrap_or_default() {
            let taken = self.take_project_entry(file, entry);
            self.noted(taken);
        }
    }

    fn take_project_entry(&mut self, file: &SettingsFile, entry: Entry<'_>) -> Result<(), CommandError> {
        if entry.name == RULES {
            self.rule_files.push((RuleOrigin::Project, file.path.clone(), file.text.clone()));
            return Ok(());
        }
        if entry.name.starts_with(AGENTS) {
            let why =
                "a project file may not set agents, because they are programs that run with your rights";
            return Err(refused(&entry, why));
        }
        let setting = find(&entry.name).ok_or_else(|| unknown(&entry))?;
        if setting.in_project == InProject::Nothing {
            return Err(refused(&entry, "a project file may not set it"));
        }
        let value = read_entry(&entry, &setting.accepts)?;
        let present = (setting.get)(self);
        if setting.in_project.is_stricter(&value, &present) {
            self.set(setting, &value, Source::Project(entry.place));
        } else if value != present {
            let value = setting.accepts.text(&value);
            self.not_taken.push(NotTaken { name: setting.name, value, place: entry.place });
        }
        Ok(())
    }

    /// Applies the variables; a setting's own variable takes precedence over the profile's.
    fn take_environment(&mut self) {
        for alias in self.profile.aliases {
            if let Some((variable, setting)) = alias.variable.zip(find(alias.setting)) {
                self.take_variable(setting, variable, &alias.accepts);
            }
        }
        for setting in settings().filter(|setting| setting.name != PROFILE) {
            self.take_variable(setting, setting.variable, &setting.accepts);
        }
    }

    fn take_variable(&mut self, setting: &'static Setting, variable: &'static str, accepts: &Accepts) {
        let Some(given) = env::var_os(variable) else { return };
        let value = given.to_str().and_then(|text| accepts.read_text(text)).ok_or_else(|| {
            let (name, given) = (setting.name, shown(&given.to_string_lossy()));
            let message = format!("{variable} ({name}): \"{given}\" is not accepted; it takes {accepts}");
            CommandError::usage(message, HINT)
        });
        if let Some(value) = self.noted(value) {
            self.set(setting, &value, Source::Environment(variable));
        }
    }
}

fn is_unknown_variable(name: &str) -> bool {
    let Some((section, _)) = name.strip_prefix("MEANWHILE_").and_then(|rest| rest.split_once('_')) else {
        return false;
    };
    let is_section = |setting: &Setting| setting.section_and_key().0.eq_ignore_ascii_case(section);
    settings().any(is_section) && !settings().any(|setting| setting.variable == name)
}

fn read_entry(entry: &Entry<'_>, accepts: &Accepts) -> Result<Value, CommandError> {
    accepts.read_toml(&entry.value).ok_or_else(|| {
        let given = shown(entry.written);
        refused(entry, &format!("{given} is not accepted; it takes {accepts}"))
    })
}

fn unknown(entry: &Entry<'_>) -> CommandError {
    let mut error = refused(entry, "no such setting");
    if let Some((profile, alias)) = profile::knows(&entry.name) {
        let name = profile.name();
        error.hint = format!(
            "this is the name of {} in the profile {name}; use it in the user file with that profile",
            alias.setting
        );
    } else if let Some(meant) = nearest(&entry.name) {
        error.hint = format!("did you mean {meant}? {HINT}");
    }
    error
}

fn refused(entry: &Entry<'_>, why: &str) -> CommandError {
    CommandError::usage(format!("{}: {}: {why}", entry.place, shown(&entry.name)), HINT)
}
