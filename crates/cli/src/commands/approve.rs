//! `mw approve`: a person says yes.

use clap::Args;
use meanwhile::engine::{ApprovalEntry, Runtime};
use meanwhile::model::approval::{Answer, Remember};

use super::approvals::as_json;
use meanwhile::Error;
use meanwhile::error::Denial;

use crate::config::shown;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::gate;
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

/// Finds a proposal that may be answered from here: what an agent runs cannot approve for it.
pub(super) fn answerable(
    runtime: &Runtime,
    handle: &str,
    context: &Context,
) -> Result<ApprovalEntry, CommandError> {
    let entry = runtime.approvals().find_approval(handle)?;
    let Some(task) = gate::around(runtime) else { return Ok(entry) };
    let who = format!("task {task} of session {}", context.owner());
    runtime.approvals().note_forbidden_answer(&entry.proposal.id, &who)?;
    Err(Error::Denied(Denial::InsideTask { id: entry.proposal.id, task }).into())
}

pub(super) fn report(context: &Context, entry: &ApprovalEntry, word: &str) -> CommandResult {
    if context.json {
        render::json(&as_json(entry))?;
    } else {
        render::out(&format!("{word} {}: {}\n", entry.proposal.id, shown(&entry.proposal.exact())))?;
    }
    Ok(0)
}
