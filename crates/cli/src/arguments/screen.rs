//! The options and checks of commands that use the whole screen.

use std::env;
use std::io::IsTerminal;

use clap::Args;
use clap::builder::PossibleValuesParser;
use mw_ui::{Ending, ThemeChoice};

use crate::config::{Config, THEMES};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit_code;

// No doc comment: it would become the help of the commands.
#[derive(Args)]
pub(crate) struct ScreenArguments {
    /// Colours: detected, for a dark or light background, the 16 colours of the terminal, or none [default: the
    /// setting theme]
    #[arg(long, value_parser = PossibleValuesParser::new(THEMES))]
    theme: Option<String>,
    /// Panic as soon as something was drawn
    #[cfg(debug_assertions)]
    #[arg(long, hide = true)]
    panic: bool,
}

impl ScreenArguments {
    /// Returns the theme: the option, else none if `NO_COLOR` is set, else the setting.
    pub(crate) fn theme(&self, config: &Config) -> ThemeChoice {
        let variable = |name: &str| env::var(name).ok();
        let is_colourless = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
        let set = if is_colourless { "none" } else { &config.theme };
        match self.theme.as_deref().unwrap_or(set) {
            "dark" => ThemeChoice::Dark.within(variable),
            "light" => ThemeChoice::Light.within(variable),
            "16" => ThemeChoice::Basic,
            "none" => ThemeChoice::Plain,
            _ => ThemeChoice::detect(variable),
        }
    }

    /// Returns whether a test asked for a panic.
    pub(crate) const fn panics(&self) -> bool {
        #[cfg(debug_assertions)]
        return self.panic;
        #[cfg(not(debug_assertions))]
        false
    }
}

/// Refuses to run without a terminal; `instead` says what to use.
pub(crate) fn check_terminal(context: &Context, command: &str, instead: &str) -> Result<(), CommandError> {
    if context.json || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        let message = format!("{command} needs a terminal for its input and output");
        return Err(CommandError::usage(message, instead));
    }
    Ok(())
}

/// Returns the exit code for the end of a screen.
pub(crate) fn code(ending: Ending) -> u8 {
    match ending {
        Ending::Quit => 0,
        Ending::Signal(signal) => exit_code::of_signal(signal),
        Ending::Crashed => exit_code::FAILURE,
    }
}

/// Returns the user's editor.
pub(crate) fn editor() -> String {
    variable(&["VISUAL", "EDITOR"], "vi")
}

/// Returns the user's pager.
pub(crate) fn pager() -> String {
    variable(&["PAGER"], "less -R")
}

fn variable(names: &[&str], default: &str) -> String {
    let set = |name: &&str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    names.iter().find_map(set).unwrap_or_else(|| default.to_owned())
}
