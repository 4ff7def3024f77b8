//! `mw notices`: prints the undelivered notifications of a session.

use std::io::Write;

use clap::Args;
use meanwhile::engine::Moment;
use meanwhile::model::Notice;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The session [default: MEANWHILE_SESSION]
    #[arg(long)]
    session: Option<String>,
    /// Do not acknowledge the notifications
    #[arg(long)]
    peek: bool,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let Some(session) = self.session.or_else(|| context.acts_for().map(str::to_owned)) else {
            return Err(CommandError::usage(
                "no session given",
                "use --session or MEANWHILE_SESSION; mw list shows tasks outside a session",
            ));
        };
        context.speak_for(&session)?;
        let runtime = context.runtime()?;
        let relay = runtime.notifications().relay(&session)?;
        let delivery = relay.drain(Moment::Idle)?;
        let text = if context.json { as_json(delivery.notices()) } else { as_blocks(delivery.notices()) };
        // They count as delivered only once they are written.
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
        if !self.peek {
            delivery.acknowledge()?;
        }
        Ok(0)
    }
}

fn as_json(notices: &[Notice]) -> String {
    let notices: Vec<_> = notices
        .iter()
        .map(|notice| {
            let mut value = json!(notice);
            value["status"] = notice.status().into();
            value["exit_code"] = notice.exit_code().into();
            value["summary"] = notice.summary().into();
            value
        })
        .collect();
    format!("{}\n", json!({ "notices": notices }))
}

fn as_blocks(notices: &[Notice]) -> String {
    notices.iter().map(|notice| notice.to_block() + "\n").collect()
}
