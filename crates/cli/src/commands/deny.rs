//! `mw deny`: denies a request.

use clap::Args;
use meanwhile::model::approval::Answer;

use crate::approval::{answerable, report};
use crate::context::Context;
use crate::error::CommandResult;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The approval request; see mw approvals
    id: String,
    /// A reason for the agent to read
    #[arg(long, default_value = "")]
    reason: String,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = context.runtime()?;
        let entry = answerable(&runtime, &self.id, context)?;
        let entry = runtime.approvals().answer(&entry.proposal.id, Answer::Deny(self.reason), "mw deny")?;
        report(context, &entry, "denied")
    }
}
