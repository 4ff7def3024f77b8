//! Combines the table of tools, the effects of a command and the rules into a verdict.

use super::decision::{BuiltinRule, Decision, Reason, Verdict};
use super::judge::{Judge, short, text_of};
use super::mode::Mode;
use super::panics::catching_panics;
use super::request::Request;
use super::rules::RuleContext;
use super::tools::stage_one;
use crate::paths::cached_files::CachedFiles;

/// The reason for a command on which the parser panicked.
const UNJUDGED: &str = "it cannot be judged: the parser failed";
/// Most reasons, and most effects, in one verdict.
const MAX_SAID: usize = 20;

/// Decides a call: the strictest decision of the table of tools, the command and the rules. A command that cannot be
/// analysed is asked about.
#[must_use]
pub fn decide(request: &Request<'_>) -> Verdict {
    catching_panics(|| judge(request)).unwrap_or_else(|| Verdict {
        decision: stage_one(request.tool.class, request.mode, request.dialect, request.ci_reads)
            .0
            .max(Decision::Ask),
        reasons: vec![Reason { part: request.tool.name.to_owned(), why: UNJUDGED.to_owned() }],
        effects: vec!["runs code that cannot be judged".to_owned()],
        rules: vec![BuiltinRule::Unreadable.name().to_owned()],
        parsed: false,
    })
}

fn judge(request: &Request<'_>) -> Verdict {
    let files = CachedFiles::new(request.files);
    let request = &Request { files: &files, ..*request };
    let (first, why) = stage_one(request.tool.class, request.mode, request.dialect, request.ci_reads);
    let mut judge = Judge::new(request);
    if let Some(command) = request.command.filter(|_| request.tool.class.runs_a_command()) {
        judge.environment();
        judge.command(command);
        if judge.fetched && judge.wrote {
            let why = "what it fetches may end up in a file";
            judge.ask(BuiltinRule::Network, "", why, "may write a file with what another machine sends");
        }
    }
    let mut verdict = Verdict {
        decision: first,
        reasons: Vec::new(),
        effects: Vec::new(),
        rules: Vec::new(),
        parsed: judge.parsed,
    };
    if first != Decision::Allow {
        verdict.rules.push(BuiltinRule::ToolMode.name().to_owned());
        verdict.reasons.push(Reason { part: request.tool.name.to_owned(), why });
    }
    judge.apply_rules(&mut verdict);
    judge.finish(&mut verdict);
    verdict
}

impl Judge<'_> {
    fn apply_rules(&mut self, verdict: &mut Verdict) {
        let request = self.request;
        let context = RuleContext { tool: request.tool.name, mode: request.mode, dialect: request.dialect };
        for seen in &self.seen {
            // In another directory the same words may be another program.
            if let Some(rule) = request.rules.allowing(&seen.words, context).filter(|_| seen.in_project) {
                let about = &mut self.findings[seen.findings.clone()];
                if about.iter().any(|finding| !finding.excused) {
                    about.iter_mut().for_each(|finding| finding.excused = true);
                    verdict.rules.push(rule);
                }
            }
            for (decision, rule, reason) in request.rules.stricter(&seen.words, context) {
                verdict.decision = verdict.decision.max(decision);
                let why = if reason.is_empty() {
                    format!("the rule {rule} says {decision}")
                } else {
                    reason.to_owned()
                };
                verdict.reasons.push(Reason { part: short(&text_of(&seen.words)), why });
                verdict.rules.push(rule);
            }
        }
    }

    fn finish(self, verdict: &mut Verdict) {
        let raises = self.request.mode != Mode::Dangerous;
        for finding in self.findings {
            if !finding.effect.is_empty() && !verdict.effects.contains(&finding.effect) {
                verdict.effects.push(finding.effect);
            }
            if finding.excused || !raises {
                continue;
            }
            verdict.decision = verdict.decision.max(Decision::Ask);
            let name = finding.builtin.name();
            if !verdict.rules.iter().any(|rule| rule == name) {
                verdict.rules.push(name.to_owned());
            }
            if !verdict.reasons.contains(&finding.reason) {
                verdict.reasons.push(finding.reason);
            }
        }
        shorten(&mut verdict.reasons, |why| Reason { part: String::new(), why });
        shorten(&mut verdict.effects, |text| text);
    }
}

/// Replaces what exceeds the maximum by an item that says how much it is.
fn shorten<T>(items: &mut Vec<T>, item: impl FnOnce(String) -> T) {
    let more = items.len().saturating_sub(MAX_SAID);
    if more > 0 {
        items.truncate(MAX_SAID);
        items.push(item(format!("and {more} more")));
    }
}
