//! `mw backends`: lists the back-ends, what they support, and whether tasks can run there now.

use clap::Args;
use mw_desk::text::count;
use serde_json::{Value, json};

use crate::context::Context;
use crate::doctor::{Backend, examine_backends};
use crate::error::CommandResult;
use crate::{exit_code, render};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Only this back-end; the exit code says whether tasks can run there
    name: Option<String>,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        if let Some(name) = &self.name {
            context.config.place(name)?;
        }
        let is_wanted = |name: &str| self.name.as_deref().is_none_or(|wanted| wanted == name);
        let found = examine_backends(&context.config.settings, is_wanted);
        let missing = found.iter().filter(|backend| backend.problem.is_some()).count();
        let code = if self.name.is_some() && missing > 0 { exit_code::FAILURE } else { 0 };
        if context.json {
            let listed: Vec<_> = found.iter().map(in_json).collect();
            render::json(&json!({"backends": listed, "total": found.len()}))?;
            return Ok(code);
        }
        let lines: String = found.iter().map(|backend| line(backend, context.colour())).collect();
        let summary = match missing {
            0 => String::new(),
            missing => format!("{} not available now\n", count(missing, "back-end is", "back-ends are")),
        };
        render::out(&format!("{lines}{summary}"))?;
        Ok(code)
    }
}

fn in_json(backend: &Backend) -> Value {
    let capabilities: serde_json::Map<_, _> =
        backend.capabilities.named().into_iter().map(|(name, has)| (name.to_owned(), json!(has))).collect();
    json!({
        "name": backend.place.name(),
        "kind": backend.kind(),
        "available": backend.problem.is_none(),
        "detail": backend.detail,
        "problem": backend.problem.as_ref().map(|problem| &problem.message),
        "hint": backend.problem.as_ref().map(|problem| &problem.hint),
        "capabilities": capabilities,
    })
}

fn line(backend: &Backend, colour: bool) -> String {
    let (sign, code) = if backend.problem.is_none() { ("✓", "32") } else { ("✗", "31") };
    let sign = render::paint(sign, code, colour);
    let said = match &backend.problem {
        None => backend.in_words(),
        Some(problem) => format!("{}\n{:17}→ {}", problem.message, "", problem.hint),
    };
    format!("{sign} {:<15}{:<11}{said}\n", backend.place.name(), backend.kind())
}
