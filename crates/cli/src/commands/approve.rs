//! `mw approve`: a person says yes.

use clap::Args;
use meanwhile::model::approval::{Answer, Remember};
use meanwhile::{ApprovalEntry, Runtime};

use super::approvals::as_json;
use crate::config::shown;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render;
use crate::{exit_code, gate};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The proposal, as mw approvals shows it
    id: String,
    /// For every further start of exactly this in its session, too
    #[arg(long, conflicts_with = "rule")]
    session: bool,
    /// From now on everywhere: add a rule for exactly this command to the user's settings
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
        let entry = runtime.answer(&entry.proposal.id, Answer::Approve(remember), "mw approve")?;
        report(context, &entry, "approved")
    }
}

/// Finds a proposal that may be answered from here: what an agent runs cannot approve for it.
pub(super) fn answerable(
    runtime: &Runtime,
    handle: &str,
    context: &Context,
) -> Result<ApprovalEntry, CommandError> {
    let entry = runtime.find_approval(handle)?;
    let Some(task) = gate::around(runtime) else { return Ok(entry) };
    let who = format!("task {task} of session {}", context.owner());
    runtime.note_forbidden_answer(&entry.proposal.id, &who)?;
    Err(CommandError {
        code: "denied".to_owned(),
        message: format!("{} cannot be answered from inside task {task}", entry.proposal.id),
        hint: "a person answers in a terminal of their own; this try was recorded".to_owned(),
        exit: exit_code::DENY,
    })
}

pub(super) fn report(context: &Context, entry: &ApprovalEntry, word: &str) -> CommandResult {
    if context.json {
        render::json(&as_json(entry))?;
    } else {
        render::out(&format!("{word} {}: {}\n", entry.proposal.id, shown(&entry.proposal.exact())))?;
    }
    Ok(0)
}
