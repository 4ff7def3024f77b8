//! `mw input`: sends input to a task.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;

use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::error::{About, CommandResult};
use crate::render;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The task
    id: String,
    /// Text to type; - reads standard input
    #[arg(required_unless_present = "eof", allow_hyphen_values = true)]
    text: Option<OsString>,
    /// Do not add a newline
    #[arg(long)]
    no_newline: bool,
    /// Close the task's standard input afterwards
    #[arg(long)]
    eof: bool,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = context.runtime()?;
        let id = runtime.lookup().resolve_to_act(&self.id, &context.scope()).about(&self.id)?;
        let mut data = Vec::new();
        match self.text {
            Some(text) if text == "-" => drop(std::io::stdin().read_to_end(&mut data)?),
            Some(text) => {
                data.extend_from_slice(text.as_bytes());
                if !self.no_newline {
                    data.push(b'\n');
                }
            }
            None => {}
        }
        let typed = String::from_utf8_lossy(&data);
        context.pass_action(&runtime, "input", &format!("type into {id}: {typed}"))?;
        let bytes = runtime.live().input(id.as_str(), &context.scope(), &data, self.eof).about(&self.id)?;
        if context.json {
            render::json(&json!({"bytes": bytes, "eof": self.eof}))?;
        }
        Ok(0)
    }
}
