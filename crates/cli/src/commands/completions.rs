//! `mw completions`: prints the completion script of a shell, or installs it.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::help::candidates;
use crate::render;

const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "elvish", "powershell"];

#[derive(Args)]
pub(crate) struct Arguments {
    /// The shell [default: the one in SHELL]
    #[arg(value_parser = PossibleValuesParser::new(SHELLS))]
    shell: Option<String>,
    /// Add the line that loads the script to the start-up file of the shell (bash, zsh, fish), and show it
    #[arg(long)]
    install: bool,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let shell = match self.shell {
            Some(shell) => shell,
            None => own_shell()?,
        };
        if self.install {
            return install(context, &shell);
        }
        render::out(&candidates::script(&shell)?)?;
        Ok(0)
    }
}

/// Returns the user's shell.
fn own_shell() -> Result<String, CommandError> {
    let path = env::var("SHELL").unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    SHELLS.iter().find(|shell| **shell == name).map(|shell| (*shell).to_owned()).ok_or_else(|| {
        CommandError::usage("SHELL names no known shell", "name it: mw completions bash, zsh or fish")
    })
}

/// Returns the start-up file of a shell, and the line that loads the script.
fn start_up(shell: &str) -> Option<(PathBuf, &'static str)> {
    let home = PathBuf::from(env::var_os("HOME")?);
    let config = env::var_os("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    let zsh = env::var_os("ZDOTDIR").map_or_else(|| home.clone(), PathBuf::from);
    match shell {
        "bash" => Some((home.join(".bashrc"), "source <(mw completions bash)")),
        "zsh" => Some((
            zsh.join(".zshrc"),
            "(( $+functions[compdef] )) || { autoload -U compinit && compinit }; source <(mw completions zsh)",
        )),
        "fish" => Some((config.join("fish/completions/mw.fish"), "mw completions fish | source")),
        _ => None,
    }
}

fn install(context: &Context, shell: &str) -> CommandResult {
    let (file, line) = start_up(shell).ok_or_else(|| {
        let hint = format!("mw completions {shell} prints the script");
        CommandError::usage(format!("the completions of {shell} cannot be installed"), hint)
    })?;
    let before = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error.into()),
    };
    let is_there = before.lines().any(|other| other.trim() == line);
    if !is_there {
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory)?;
        }
        let mut end = OpenOptions::new().append(true).create(true).open(&file)?;
        let newline = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        writeln!(end, "{newline}{line}")?;
    }
    let path = file.to_string_lossy();
    context.show(&json!({"shell": shell, "file": path, "line": line, "changed": !is_there}), || {
        if is_there {
            format!("{path} already has the line: {line}\n")
        } else {
            format!("added to {path}: {line}\nstart a new shell to use it\n")
        }
    })
}
