//! Settings: defaults, then the configuration file, then the environment; each knows its source.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use meanwhile::model::{PromptPatterns, RawText, parse_duration_ms, parse_size};
use meanwhile::{AtCapacity, Programs, Settings};

use crate::error::CommandError;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Default,
    File(PathBuf),
    Environment(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
        }
    }
}

/// What the command line is configured with.
pub(crate) struct Config {
    pub(crate) settings: Settings,
    pub(crate) shell: String,
    sources: Vec<(&'static str, Source)>,
}

/// One setting.
pub(crate) struct Knob {
    /// `section.key` in the file; `MEANWHILE_SECTION_KEY` in the environment.
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    get: fn(&Config) -> String,
    set: fn(&mut Config, &str) -> Result<(), String>,
}

/// Every setting.
pub(crate) const KNOBS: [Knob; 12] = [
    Knob {
        name: "queue.max_running",
        help: "tasks a session may run at a time (1 to 10000)",
        get: |c| c.settings.queue.max_running.to_string(),
        set: |c, text| within(text, 1, 10_000).map(|value| c.settings.queue.max_running = value),
    },
    Knob {
        name: "queue.max_running_total",
        help: "tasks that may run at a time in all sessions together; 0 = no limit",
        get: |c| c.settings.queue.max_running_total.to_string(),
        set: |c, text| within(text, 0, 100_000).map(|value| c.settings.queue.max_running_total = value),
    },
    Knob {
        name: "queue.at_capacity",
        help: "what a start does when no slot is free: queue or reject",
        get: |c| {
            if c.settings.queue.at_capacity == AtCapacity::Queue { "queue" } else { "reject" }.to_owned()
        },
        set: |c, text| at_capacity(text).map(|value| c.settings.queue.at_capacity = value),
    },
    Knob {
        name: "output.cap",
        help: "most bytes a task's log may hold, at least 512; 0 = no cap",
        get: |c| c.settings.limits.output_cap.to_string(),
        set: |c, text| match parse_size(text).map_err(|error| error.to_string())? {
            small @ 1..512 => Err(format!("{small} is under 512 bytes")),
            bytes => {
                c.settings.limits.output_cap = bytes;
                Ok(())
            }
        },
    },
    Knob {
        name: "output.log_header",
        help: "whether logs begin with lines that name the task: true or false",
        get: |c| c.settings.log_header.to_string(),
        set: |c, text| {
            text.parse()
                .map(|value| c.settings.log_header = value)
                .map_err(|_| "write true or false".to_owned())
        },
    },
    Knob {
        name: "stall.ms",
        help: "silence behind a prompt that counts as a stall, in milliseconds; 0 = off",
        get: |c| c.settings.limits.stall_ms.to_string(),
        set: |c, text| number(text).map(|value| c.settings.limits.stall_ms = value),
    },
    Knob {
        name: "stall.patterns",
        help: "what a prompt looks like: patterns with *, one per line",
        get: |c| c.settings.limits.prompts.0.join("\n"),
        set: |c, text| {
            c.settings.limits.prompts = PromptPatterns(text.lines().map(str::to_owned).collect());
            Ok(())
        },
    },
    Knob {
        name: "kill.grace_ms",
        help: "time between the asked-for signal and SIGKILL, in milliseconds",
        get: |c| c.settings.limits.kill_grace_ms.to_string(),
        set: |c, text| number(text).map(|value| c.settings.limits.kill_grace_ms = value),
    },
    Knob {
        name: "kill.timeout_grace_ms",
        help: "the same after a time limit",
        get: |c| c.settings.limits.timeout_grace_ms.to_string(),
        set: |c, text| number(text).map(|value| c.settings.limits.timeout_grace_ms = value),
    },
    Knob {
        name: "run.timeout",
        help: "time limit of tasks that are given none, such as 30m; 0 = none",
        get: |c| c.settings.limits.run_timeout_ms.map_or_else(|| "0".to_owned(), |ms| format!("{ms}ms")),
        set: |c, text| {
            let ms = parse_duration_ms(text).map_err(|error| error.to_string())?;
            c.settings.limits.run_timeout_ms = (ms > 0).then_some(ms);
            Ok(())
        },
    },
    Knob {
        name: "run.shell",
        help: "shell for scripts",
        get: |c| c.shell.clone(),
        set: |c, text| {
            text.clone_into(&mut c.shell);
            Ok(())
        },
    },
    Knob {
        name: "wait.fallback_ms",
        help: "longest time between two looks of a waiter that heard nothing, in milliseconds (10 to 60000)",
        get: |c| c.settings.fallback_ms.to_string(),
        set: |c, text| within(text, 10, 60_000).map(|value| c.settings.fallback_ms = value.into()),
    },
];

fn number(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is not a whole number"))
}

fn within(text: &str, least: u32, most: u32) -> Result<u32, String> {
    let value = number(text)?;
    u32::try_from(value)
        .ok()
        .filter(|value| (least..=most).contains(value))
        .ok_or_else(|| format!("{value} is not between {least} and {most}"))
}

pub(crate) fn at_capacity(text: &str) -> Result<AtCapacity, String> {
    match text {
        "queue" => Ok(AtCapacity::Queue),
        "reject" => Ok(AtCapacity::Reject),
        _ => Err(format!("{text:?} is neither queue nor reject")),
    }
}

impl Knob {
    /// Returns the variable that overrides it.
    pub(crate) fn variable(&self) -> String {
        format!("MEANWHILE_{}", self.name.to_uppercase().replace('.', "_"))
    }

    pub(crate) fn value(&self, config: &Config) -> String {
        (self.get)(config)
    }
}

impl Config {
    /// Reads everything. Nothing is read from a task's own home before this.
    pub(crate) fn load() -> Result<Self, CommandError> {
        let home = home_directory();
        let programs = programs(&home)?;
        let mut config = Self {
            settings: Settings::new(home, programs),
            shell: "/bin/sh".to_owned(),
            sources: Vec::new(),
        };
        if let Some(path) = config_file() {
            config.read_file(&path)?;
        }
        for knob in &KNOBS {
            let variable = knob.variable();
            if let Some(value) = env::var_os(&variable) {
                let text = value.to_str().ok_or_else(|| bad_value(&variable, "it is not UTF-8"))?;
                (knob.set)(&mut config, text).map_err(|why| bad_value(&variable, &why))?;
                config.sources.push((knob.name, Source::Environment(variable)));
            }
        }
        Ok(config)
    }

    fn read_file(&mut self, path: &Path) -> Result<(), CommandError> {
        let Ok(text) = fs::read_to_string(path) else {
            return Ok(());
        };
        let shown = path.display();
        let table: toml::Table = text.parse().map_err(|error| {
            CommandError::usage(format!("{shown} is not valid: {error}"), "correct the file or remove it")
        })?;
        for (section, values) in &table {
            let values = values.as_table().ok_or_else(|| {
                CommandError::usage(
                    format!("{shown}: {section} is not a section"),
                    "write it as [section] and key = value",
                )
            })?;
            for (key, value) in values {
                let name = format!("{section}.{key}");
                let knob = KNOBS.iter().find(|knob| knob.name == name).ok_or_else(|| {
                    CommandError::usage(
                        format!("{shown}: there is no setting {name}"),
                        "mw config lists all settings",
                    )
                })?;
                (knob.set)(self, &plain(value))
                    .map_err(|why| bad_value(&format!("{name} in {shown}"), &why))?;
                self.sources.push((knob.name, Source::File(path.to_owned())));
            }
        }
        Ok(())
    }

    /// Returns where a setting's value came from: the last that set it.
    pub(crate) fn source(&self, knob: &Knob) -> Source {
        self.sources
            .iter()
            .rev()
            .find(|(name, _)| *name == knob.name)
            .map_or(Source::Default, |(_, source)| source.clone())
    }
}

fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join("\n"),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        toml::Value::Boolean(flag) => flag.to_string(),
        toml::Value::Datetime(_) | toml::Value::Table(_) => String::new(),
    }
}

fn bad_value(what: &str, why: &str) -> CommandError {
    CommandError::usage(format!("{what}: {why}"), "mw config lists all settings and what they accept")
}

/// The home, or an empty path where nothing names one: only `mw settle` can do without.
fn home_directory() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("MEANWHILE_HOME")
        .or_else(|| Some(set("XDG_STATE_HOME")?.join("meanwhile")))
        .or_else(|| Some(set("HOME")?.join(".local/state/meanwhile")))
        .unwrap_or_default()
}

pub(crate) fn config_file() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let directory = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(directory.join("meanwhile/config.toml"))
}

/// Finds the supervisor beside this executable, and this executable itself for `mw settle`.
fn programs(home: &Path) -> Result<Programs, CommandError> {
    let me = env::current_exe()?;
    let supervisor = match env::var_os("MEANWHILE_SUPERVISOR") {
        Some(path) => std::path::absolute(path)?,
        None => me.with_file_name("mw-supervisor"),
    };
    let home = std::path::absolute(home).unwrap_or_default();
    let words: [OsString; 4] = [me.into(), "settle".into(), "--home".into(), home.into()];
    Ok(Programs {
        supervisor,
        settle: words.iter().map(|word| RawText::from(word.as_bytes())).collect(),
        starter_exits: false,
    })
}
