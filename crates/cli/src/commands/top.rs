//! `mw top`: manages tasks in a full-screen view.

use std::env;

use clap::Args;
use meanwhile::Settings;
use mw_desk::Access;
use mw_ui::top::{self, Options};

use crate::arguments::screen::{self, ScreenArguments};
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::{approval, programs};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Show this session first
    #[arg(long)]
    session: Option<String>,
    #[command(flatten)]
    screen: ScreenArguments,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let instead = "use mw list (--json for programs), or mw watch for events";
        screen::check_terminal(context, "mw top", instead)?;
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
        // Problems with the home are reported before the screen changes.
        let runtime = context.runtime()?;
        runtime.tasks().last_event()?;
        let ending = top::run(Options {
            access: Access {
                // Messages would appear in the middle of the screen.
                settings: Settings { tell: |_| {}, ..context.config.settings.clone() },
                session: context.acts_for().map(str::to_owned),
                requester: context.requester(),
                screen: "mw top".to_owned(),
                inside: approval::around(&runtime),
                keep: context.config.policy.timeouts.keep,
            },
            shown: self.session,
            theme: self.screen.theme(&context.config),
            mw: programs::mw()?.into(),
            gated: context.gated_session().is_some(),
            editor: screen::editor(),
            pager: screen::pager(),
            panics: self.screen.panics(),
        })?;
        Ok(screen::code(ending))
    }
}
