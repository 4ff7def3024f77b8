//! `mw approve`: approves a request.

use clap::Args;
use meanwhile::model::approval::{Answer, Remember};
use mw_desk::action::approve_always;

use crate::approval::{answerable, report};
use crate::context::Context;
use crate::error::CommandResult;
use crate::render;

/// The name under which answers are recorded.
const SCREEN: &str = "mw approve";

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
        let id = &entry.proposal.id;
        let entry = match rule {
            Some(rule) => {
                let (entry, place) = approve_always(&runtime, id, SCREEN, || rule.add())?;
                render::note(&format!("added a rule to {place}"));
                entry
            }
            None => {
                let remember = if self.session { Remember::Session } else { Remember::Once };
                runtime.approvals().answer(id, Answer::Approve(remember), SCREEN)?
            }
        };
        report(context, &entry, "approved")
    }
}
