//! The results of the checks, in the order in which they are shown.

use serde::Serialize;

use super::measure::Measured;
use super::{backends, home, hooks, hosts, measure, programs, scratch, system};
use crate::context::Context;
use crate::error::CommandError;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckResult {
    /// Everything is fine.
    Ok,
    /// It works, but could be better.
    Warning,
    /// Something does not work.
    Problem,
}

impl CheckResult {
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Ok => "✓",
            Self::Warning => "!",
            Self::Problem => "✗",
        }
    }
}

/// One check.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Check {
    pub(crate) name: String,
    pub(crate) verdict: CheckResult,
    /// What was found.
    pub(crate) detail: String,
    /// What to do about it.
    pub(crate) next: Option<String>,
}

impl Check {
    pub(super) fn ok(name: &str, detail: impl Into<String>) -> Self {
        Self { name: name.to_owned(), verdict: CheckResult::Ok, detail: detail.into(), next: None }
    }

    pub(super) fn warning(name: &str, detail: impl Into<String>, next: impl Into<String>) -> Self {
        let (detail, next) = (detail.into(), Some(next.into()));
        Self { name: name.to_owned(), verdict: CheckResult::Warning, detail, next }
    }

    pub(super) fn problem(name: &str, detail: impl Into<String>, next: impl Into<String>) -> Self {
        let (detail, next) = (detail.into(), Some(next.into()));
        Self { name: name.to_owned(), verdict: CheckResult::Problem, detail, next }
    }
}

/// The results of all checks.
#[derive(Serialize)]
pub(crate) struct Diagnosis {
    pub(crate) version: &'static str,
    pub(crate) checks: Vec<Check>,
    pub(crate) measured: Option<Measured>,
}

impl Diagnosis {
    pub(crate) fn worst(&self) -> CheckResult {
        self.checks.iter().map(|check| check.verdict).max().unwrap_or(CheckResult::Ok)
    }
}

/// Runs all checks, then measures.
pub(crate) fn examine(context: &Context) -> Result<Diagnosis, CommandError> {
    let scratch = scratch::Scratch::make()?;
    let settings = &context.config.settings;
    let mut checks = home::checks(&settings.home, scratch.path());
    checks.extend(context.config.problems.iter().map(|problem| {
        Check::problem("settings", format!("{}; no task can be started", problem.message), &problem.hint)
    }));
    checks.push(programs::examine_mw());
    let supervisor = programs::examine(&settings.executables.supervisor);
    checks.extend(supervisor.checks);
    checks.extend(system::checks(supervisor.features.as_ref()));
    checks.extend(backends::checks(settings));
    checks.extend(hooks::checks(&settings.hooks, &settings.home));
    checks.extend(hosts::checks()?);
    let measured = match measure::measure(scratch.path()) {
        Ok(measured) => {
            checks.push(Check::ok("speed", measured.in_words()));
            Some(measured)
        }
        Err(why) => {
            let next = "run mw start 'true' to see the error in your own home";
            checks.push(Check::problem("speed", format!("no task could be run: {why}"), next));
            None
        }
    };
    Ok(Diagnosis { version: env!("CARGO_PKG_VERSION"), checks, measured })
}
