//! `mw doctor`: checks everything `mw` needs, and measures how fast it is here.

use clap::Args;
use mw_desk::text::count;

use crate::context::Context;
use crate::doctor::{Check, CheckResult, examine};
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
            let width = diagnosis.checks.iter().map(|check| check.name.len()).max().unwrap_or_default();
            let shown = |check| line(check, width, context.colour());
            let lines: String = diagnosis.checks.iter().map(shown).collect();
            let number = |verdict| diagnosis.checks.iter().filter(|check| check.verdict == verdict).count();
            let summary = match worst {
                CheckResult::Ok => "All checks passed.\n".to_owned(),
                CheckResult::Warning => {
                    format!("mw works, with {}.\n", count(number(worst), "warning", "warnings"))
                }
                CheckResult::Problem => format!("{} to fix.\n", count(number(worst), "problem", "problems")),
            };
            render::out(&format!("{lines}{summary}"))?;
        }
        Ok(if worst == CheckResult::Problem { exit_code::FAILURE } else { 0 })
    }
}

fn line(check: &Check, width: usize, colour: bool) -> String {
    let code = match check.verdict {
        CheckResult::Ok => "32",
        CheckResult::Warning => "33",
        CheckResult::Problem => "31",
    };
    let sign = render::paint(check.verdict.sign(), code, colour);
    let next = check
        .next
        .as_ref()
        .map(|next| format!("{:indent$}→ {next}\n", "", indent = width + 4))
        .unwrap_or_default();
    format!("{sign} {:<width$}  {}\n{next}", check.name, check.detail)
}
