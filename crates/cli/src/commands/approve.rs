//! `mw approve`: approves a request.

use clap::Args;
use meanwhile::model::approval::{Answer, Remember};

use crate::approval::{answerable, report};
use crate::config::shown;
use crate::context::Context;
use crate::error::CommandResult;
use crate::render;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The approval request; see mw approvals
    id: String,
    /// Also approve every further start of exactly this command in its session
    #[arg(long, conflicts_with = "rule")]
    session: bool,
    /// Approve exactly this command from now on: add a rule to the user's settings
    #[arg(long)]
    rule: bool,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = context.runtime()?;
        let entry = answerable(&runtime, &self.id, context)?;
        if self.rule {
            let path = context.config.allow_from_now_on(&entry.proposal)?;
            render::note(&format!("added a rule to {}", shown(&path.to_string_lossy())));
        }
        let remember = if self.session { Remember::Session } else { Remember::Once };
        let entry =
            runtime.approvals().answer(&entry.proposal.id, Answer::Approve(remember), "mw approve")?;
        report(context, &entry, "approved")
    }
}
