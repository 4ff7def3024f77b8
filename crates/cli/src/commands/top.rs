//! `mw top`: the tasks on a full screen.

use std::env;
use std::io::IsTerminal;

use clap::Args;
use mw_desk::Access;
use mw_ui::Ending;
use mw_ui::top::{self, Options};

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render::colours::Colours;
use crate::{exit_code, gate, programs};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Colours: by what the terminal says of itself, for a dark or a light background, the terminal's own
    /// sixteen, or none [default: the setting theme]
    #[arg(long, value_enum)]
    theme: Option<Colours>,
    /// Show this session at first
    #[arg(long)]
    session: Option<String>,
    /// Panic as soon as something was drawn
    #[cfg(debug_assertions)]
    #[arg(long, hide = true)]
    panic: bool,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        if context.json || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            return Err(CommandError::usage(
                "mw top needs a terminal for its input and output",
                "mw list prints the tasks, with --json as data; mw watch prints what happens",
            ));
        }
        if env::var_os("TERM").is_some_and(|name| name == "dumb") {
            return Err(CommandError::usage(
                "mw top needs a terminal that can place text anywhere, and TERM is dumb",
                "mw list prints the tasks; mw watch prints what happens; a terminal that can do more has its own name in TERM",
            ));
        }
        if let (Some(own), Some(asked)) = (&context.session, &self.session)
            && own != asked
        {
            return Err(CommandError::usage(
                format!("the tasks of session {asked} are not yours: MEANWHILE_SESSION is {own}"),
                "leave --session out, or look from a shell in which MEANWHILE_SESSION is not set",
            ));
        }
        // What is wrong with the home is said on a screen that stays.
        let runtime = context.runtime()?;
        runtime.last_event()?;
        let ending = top::run(Options {
            access: Access {
                settings: context.config.settings.clone(),
                session: context.session.clone(),
                requester: context.requester(),
                screen: "mw top".to_owned(),
                inside: gate::around(&runtime),
                keep: context.config.policy.patience.keep,
            },
            shown: self.session,
            theme: Colours::theme(self.theme, &context.config),
            mw: programs::mw()?.into(),
            gated: context.gated_session().is_some(),
            editor: editor(),
            pager: variable(&["PAGER"], "less -R"),
            #[cfg(debug_assertions)]
            panics: self.panic,
            #[cfg(not(debug_assertions))]
            panics: false,
        })?;
        Ok(match ending {
            Ending::Quit => 0,
            Ending::Signal(signal) => u8::try_from(exit_code::SIGNAL_BASE + signal).unwrap_or(u8::MAX),
            Ending::Crashed => exit_code::FAILURE,
        })
    }
}

/// The editor that the person has chosen.
pub(super) fn editor() -> String {
    variable(&["VISUAL", "EDITOR"], "vi")
}

fn variable(names: &[&str], default: &str) -> String {
    let set = |name: &&str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    names.iter().find_map(set).unwrap_or_else(|| default.to_owned())
}
