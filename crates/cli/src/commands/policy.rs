//! `mw policy`: explains the decision about a command.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::{env, fs, io};

use clap::Args;
use meanwhile::engine::model::CommandSpec;
use meanwhile::engine::{Policy, check_set_variables};
use meanwhile::policy::{Decision, Dialect, Mode, Tool, Verdict};
use serde_json::{Value, json};

use crate::arguments::values::parse_mode;
use crate::config::shown;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::exit_code;
use crate::render;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Approval mode: safe, auto, plan, ci or dangerous
    #[arg(long, value_parser = parse_mode)]
    mode: Option<Mode>,
    /// The tool, by its name in any dialect
    #[arg(long, default_value = "shell", value_parser = parse_tool)]
    tool: Tool,
    /// The profile whose conventions apply
    #[arg(long, value_parser = parse_profile)]
    profile: Option<Dialect>,
    /// Working directory of the command
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Variables added to the environment
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_variable)]
    env: Vec<(String, String)>,
    /// Shell that would run the script
    #[arg(long, value_name = "PROGRAM")]
    shell: Option<String>,
    /// Read commands from a file or from standard input (`-`), one per line, and print one line of JSON for each
    #[arg(long, value_name = "FILE", conflicts_with_all = ["script", "program"])]
    file: Option<PathBuf>,
    /// One quoted script for the shell, or `-` for standard input
    #[arg(value_name = "SCRIPT", conflicts_with = "program")]
    script: Option<OsString>,
    /// A program and its arguments, run without a shell
    #[arg(last = true, value_name = "PROGRAM", num_args = 1..)]
    program: Vec<OsString>,
}

fn parse_profile(name: &str) -> Result<Dialect, String> {
    let names = Dialect::ALL.map(Dialect::profile).join(", ");
    Dialect::of_profile(name).ok_or_else(|| format!("no profile {name:?}; choose one of {names}"))
}

fn parse_tool(name: &str) -> Result<Tool, String> {
    Tool::named(name).ok_or_else(|| format!("no tool {name:?}; mw tools prints those of a dialect"))
}

fn parse_variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// The inputs that are the same for every command.
struct Judge<'a> {
    arguments: &'a Arguments,
    context: &'a Context,
    policy: Policy,
    shell: &'a str,
    cwd: PathBuf,
}

/// A command that was read.
enum Given {
    Script(String),
    Words(Vec<String>),
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let judge = Judge::new(&self, context)?;
        match (&self.file, self.script.as_deref(), self.program.as_slice()) {
            (Some(path), _, _) if path.as_os_str() == "-" => judge.lines(io::stdin().lock()),
            (Some(path), _, _) => {
                let file = fs::File::open(path).map_err(|error| {
                    let path = shown(&path.to_string_lossy());
                    CommandError::usage(
                        format!("cannot read {path}: {error}"),
                        "give a file with one command per line",
                    )
                })?;
                judge.lines(BufReader::new(file))
            }
            (None, Some(script), _) if script == "-" => judge.lines(io::stdin().lock()),
            (None, Some(script), _) => judge.one(Some(&Given::Script(text(script.to_owned())?))),
            (None, None, []) if self.tool.class.runs_a_command() => Err(CommandError::usage(
                format!("{} needs a command", self.tool.name),
                "mw policy 'SCRIPT', mw policy -- PROGRAM ARGS, or mw policy --file FILE",
            )),
            (None, None, []) => judge.one(None),
            (None, None, words) => {
                let words: Vec<_> = words.iter().cloned().map(text).collect::<Result<_, _>>()?;
                judge.one(Some(&Given::Words(words)))
            }
        }
    }
}

fn text(word: OsString) -> Result<String, CommandError> {
    word.into_string().map_err(|word| {
        let word = shown(&word.to_string_lossy());
        CommandError::usage(format!("{word} is not UTF-8"), "such a command always needs approval")
    })
}

impl<'a> Judge<'a> {
    fn new(arguments: &'a Arguments, context: &'a Context) -> Result<Self, CommandError> {
        let config = &context.config;
        check_set_variables(arguments.env.iter().map(|(name, _)| name.as_bytes()))?;
        let cwd = match &arguments.cwd {
            Some(cwd) => fs::canonicalize(cwd).map_err(|error| {
                let cwd = shown(&cwd.to_string_lossy());
                CommandError::usage(
                    format!("cannot use {cwd}: {error}"),
                    "give an existing directory with --cwd",
                )
            })?,
            None => env::current_dir()?,
        };
        let mut policy = config.decides_by()?;
        policy.mode = arguments.mode.unwrap_or(policy.mode);
        policy.dialect = arguments.profile.unwrap_or(policy.dialect);
        let shell = arguments.shell.as_deref().unwrap_or(&config.shell);
        Ok(Self { arguments, context, policy, shell, cwd })
    }

    fn verdict(&self, given: Option<&Given>) -> Verdict {
        let command = given.map(|given| match given {
            Given::Script(text) => {
                CommandSpec::Shell { program: self.shell.into(), script: text.as_str().into() }
            }
            Given::Words(words) => CommandSpec::Argv(words.iter().map(|word| word.as_str().into()).collect()),
        });
        self.policy.verdict_confined(self.arguments.tool, command.as_ref(), &self.cwd, &self.arguments.env)
    }

    fn one(&self, given: Option<&Given>) -> CommandResult {
        let verdict = self.verdict(given);
        self.context.show(&as_json(&verdict), || as_text(&verdict, self.context.colour()))?;
        Ok(exit(verdict.decision))
    }

    /// Judges every line; the exit code is that of the strictest decision.
    fn lines(&self, mut source: impl BufRead) -> CommandResult {
        let mut strictest = Decision::Allow;
        let mut bytes = Vec::new();
        while source.read_until(b'\n', &mut bytes)? > 0 {
            // Bytes that are not UTF-8 become marks, and a command with such marks is never allowed.
            let text = String::from_utf8_lossy(bytes.strip_suffix(b"\n").unwrap_or(&bytes)).into_owned();
            bytes.clear();
            if text.trim().is_empty() {
                continue;
            }
            let given = from_line(text);
            let verdict = self.verdict(Some(&given));
            strictest = strictest.max(verdict.decision);
            let mut line = as_json(&verdict);
            line["command"] = match given {
                Given::Script(text) => json!(text),
                Given::Words(words) => json!(words),
            };
            render::json(&line)?;
        }
        Ok(exit(strictest))
    }
}

/// Reads a line: a script, or `{"command": …}` with a script of many lines or with words.
fn from_line(line: String) -> Given {
    let object = serde_json::from_str::<Value>(&line).ok();
    let command = object.as_ref().and_then(|object| object.as_object()?.get("command"));
    let words = |value: &Value| {
        value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
    };
    match command {
        Some(Value::String(script)) => Given::Script(script.clone()),
        Some(other) => words(other).map_or(Given::Script(line), Given::Words),
        None => Given::Script(line),
    }
}

const fn exit(decision: Decision) -> u8 {
    match decision {
        Decision::Allow => 0,
        Decision::Ask => exit_code::ASK,
        Decision::Deny => exit_code::DENY,
    }
}

fn as_json(verdict: &Verdict) -> Value {
    let reasons: Vec<_> = verdict.reasons.iter().map(ToString::to_string).collect();
    json!({"decision": verdict.decision.word(), "reasons": reasons, "effects": verdict.effects,
           "rules": verdict.rules, "parsed": verdict.parsed, "grant": verdict.grant})
}

fn as_text(verdict: &Verdict, colour: bool) -> String {
    let code = match verdict.decision {
        Decision::Allow => "1;32",
        Decision::Ask => "1;33",
        Decision::Deny => "1;31",
    };
    let mut text = format!("{}\n", render::paint(verdict.decision.word(), code, colour));
    let mut section = |title: &str, lines: &[String]| {
        for (at, line) in lines.iter().enumerate() {
            let title = if at == 0 { title } else { "" };
            text.push_str(&format!(
                "  {}  {}\n",
                render::paint(&format!("{title:<6}"), "2", colour),
                shown(line)
            ));
        }
    };
    let reasons: Vec<_> = verdict.reasons.iter().map(ToString::to_string).collect();
    section("why", &reasons);
    section("effect", &verdict.effects);
    section("grant", &[verdict.grant.in_words()]);
    section(
        "rules",
        &[verdict.rules.join(", ")].into_iter().filter(|rules| !rules.is_empty()).collect::<Vec<_>>(),
    );
    text
}
