//! `mw doctor`: checks everything `mw` needs, and measures how fast it is here.

use clap::Args;
use mw_desk::text::count;

use crate::context::Context;
use crate::doctor::{Check, Verdict, examine};
use crate::error::CommandResult;
use crate::exit_code;
use crate::render;

#[derive(Args)]
pub(crate) struct Arguments {}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let diagnosis = examine(context)?;
        let worst = diagnosis.worst();
        if context.json {
            let mut value = serde_json::json!(diagnosis);
            value["verdict"] = serde_json::json!(worst);
            render::json(&value)?;
        } else {
            let lines: String = diagnosis.checks.iter().map(|check| line(check, context.colour())).collect();
            let number = |verdict| diagnosis.checks.iter().filter(|check| check.verdict == verdict).count();
            let summary = match worst {
                Verdict::Ok => "All checks passed.\n".to_owned(),
                Verdict::Warning => {
                    format!("mw works, with {} to improve.\n", count(number(worst), "thing", "things"))
                }
                Verdict::Problem => format!("{} to fix.\n", count(number(worst), "problem", "problems")),
            };
            render::out(&format!("{lines}{summary}"))?;
        }
        Ok(if worst == Verdict::Problem { exit_code::FAILURE } else { 0 })
    }
}

fn line(check: &Check, colour: bool) -> String {
    let code = match check.verdict {
        Verdict::Ok => "32",
        Verdict::Warning => "33",
        Verdict::Problem => "31",
    };
    let sign = render::paint(check.verdict.sign(), code, colour);
    let next = check.next.as_ref().map(|next| format!("{:17}→ {next}\n", "")).unwrap_or_default();
    format!("{sign} {:<15}{}\n{next}", check.name, check.detail)
}
