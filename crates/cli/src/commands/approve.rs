//! `mw approve`: approves a request.

use clap::Args;
use meanwhile::model::approval::{Answer, Remember};

use crate::approval::{answerable, report};
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
        let rule = self.rule.then(|| context.config.permanent_rule(&entry.proposal)).transpose()?;
        let remember = if self.session { Remember::Session } else { Remember::Once };
        let entry =
            runtime.approvals().answer(&entry.proposal.id, Answer::Approve(remember), "mw approve")?;
        // Somebody else may have denied the request meanwhile. No rule is added then.
        if let Some(rule) = rule {
            render::note(&format!("added a rule to {}", rule.add()?));
        }
        report(context, &entry, "approved")
    }
}
