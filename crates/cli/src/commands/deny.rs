//! `mw deny`: a person says no.

use clap::Args;
use meanwhile::model::approval::Answer;

use super::approve::{answerable, report};
use crate::context::Context;
use crate::error::CommandResult;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The proposal, as mw approvals shows it
    id: String,
    /// Why, for the agent to read
    #[arg(long, default_value = "")]
    reason: String,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = context.runtime()?;
        let entry = answerable(&runtime, &self.id, context)?;
        let entry = runtime.answer(&entry.proposal.id, Answer::Deny(self.reason), "mw deny")?;
        report(context, &entry, "denied")
    }
}
