//! `mw top`: the tasks on a full screen.

use std::env;
use std::io::IsTerminal;

use clap::Args;
use meanwhile::Settings;
use mw_desk::Access;
use mw_ui::Ending;
use mw_ui::top::{self, Options};

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render::colours::Colours;
use crate::{exit_code, gate, programs};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Colours: detected, for a dark or light background, the 16 colours of the terminal, or none [default: the
    /// setting theme]
    #[arg(long, value_enum)]
    theme: Option<Colours>,
    /// Show this session first
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
                "use mw list (--json for programs), or mw watch for events",
            ));
        }
        if env::var_os("TERM").is_some_and(|name| name == "dumb") {
            return Err(CommandError::usage(
                "mw top needs a terminal with cursor movement, and TERM is dumb",
                "use mw list or mw watch, or set TERM to the name of your terminal",
            ));
        }
        if let (Some(own), Some(asked)) = (context.acts_for(), &self.session)
            && own != asked
        {
            return Err(CommandError::usage(
                format!("cannot show session {asked}: this is session {own}"),
                "omit --session, or use a shell outside tasks without MEANWHILE_SESSION",
            ));
        }
        // What is wrong with the home is said on a screen that stays.
        let runtime = context.runtime()?;
        runtime.tasks().last_event()?;
        let ending = top::run(Options {
            access: Access {
                // It would stand in the middle of the screen.
                settings: Settings { tell: |_| {}, ..context.config.settings.clone() },
                session: context.acts_for().map(str::to_owned),
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
