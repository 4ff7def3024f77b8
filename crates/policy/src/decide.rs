//! Combines the table of tools, the effects of a command and the rules into a verdict.

use mw_model::{Grant, NetworkGrant};

use super::decision::{BuiltinRule, Decision, Finding, Reason, Verdict, Weight};
use super::judge::{Judge, Seen, short, text_of};
use super::mode::Mode;
use super::need;
use super::panics::catching_panics;
use super::request::Request;
use super::rules::RuleContext;
use super::tools::stage_one;
use crate::paths::cached_files::CachedFiles;

/// The reason for a command on which the parser panicked.
const UNJUDGED: &str = "it cannot be analysed: the parser failed";
/// Maximum number of reasons, and of effects, in one verdict.
const MAX_SAID: usize = 20;

/// Decides a call: the strictest decision of the table of tools, the command and the rules. A command that cannot be
/// analysed needs approval.
#[must_use]
pub fn decide(request: &Request<'_>) -> Verdict {
    catching_panics(|| judge(request)).unwrap_or_else(|| Verdict {
        decision: stage_one(request.tool.class, request.mode, request.dialect, request.ci_reads)
            .0
            .max(Decision::Ask),
        reasons: vec![Reason { part: request.tool.name.to_owned(), why: UNJUDGED.to_owned() }],
        effects: vec!["runs code that cannot be analysed".to_owned()],
        rules: vec![BuiltinRule::Unreadable.name().to_owned()],
        parsed: false,
        grant: need::everything(),
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
        // With its grant it can only write into the project.
        if judge.fetched && judge.wrote && !judge.is_confined() {
            let why = "the downloaded data may be written to a file";
            judge.ask(BuiltinRule::Network, "", why, "may write downloaded data to a file");
        }
    }
    let mut verdict = Verdict {
        decision: first,
        reasons: Vec::new(),
        effects: Vec::new(),
        rules: Vec::new(),
        parsed: judge.parsed,
        grant: Grant::default(),
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
        let confined = self.is_confined();
        let context = RuleContext { tool: request.tool.name, mode: request.mode, dialect: request.dialect };
        for seen in &self.seen {
            // In another directory the same words may be another program.
            if let Some(rule) = request.rules.allowing(&seen.words, context).filter(|_| seen.in_project) {
                let about = &mut self.findings[seen.findings.clone()];
                let open = |finding: &Finding| !finding.excused && finding.needs_approval(confined);
                if about.iter().any(open) || rule.grant.is_some() {
                    about.iter_mut().for_each(|finding| excuse(finding, rule.grant));
                    verdict.rules.push(rule.rule);
                }
                if let Some(grant) = rule.grant {
                    verdict.grant = std::mem::take(&mut verdict.grant).joined(grant.clone());
                }
            }
            for stricter in request.rules.stricter(&seen.words, context) {
                verdict.decision = verdict.decision.max(stricter.decision);
                let why = if stricter.reason.is_empty() {
                    format!("the rule {} says {}", stricter.rule, stricter.decision)
                } else {
                    stricter.reason.to_owned()
                };
                verdict.reasons.push(Reason { part: short(&text_of(&seen.words)), why });
                verdict.rules.push(stricter.rule);
                let grant = stricter.grant.cloned().unwrap_or_default();
                verdict.grant = std::mem::take(&mut verdict.grant).joined(grant);
            }
        }
    }

    /// Adds what is granted without approval to the verdict. Code whose effects are unknown must not get more than it
    /// needs itself, because that could send what it reads to another machine, or read secrets.
    fn grant(&mut self, verdict: &mut Verdict) {
        let confined = self.is_confined();
        let is_free = |finding: &&Finding| finding.excused || !finding.needs_approval(confined);
        let is_unknown = |finding: &&Finding| {
            !finding.excused && finding.weight != Weight::Asks && finding.grant != Grant::default()
        };
        // What may use the network only gets it alone.
        if self.may_fetch && !(confined && self.findings.iter().any(|finding| is_unknown(&finding))) {
            self.need.network = NetworkGrant::Full;
        }
        let free = self.findings.iter().filter(is_free).map(|finding| finding.grant.clone());
        let given = free.fold(std::mem::take(&mut verdict.grant).joined(self.need.clone()), Grant::joined);
        let about = self.findings.iter().find(|finding| {
            let reads = !finding.excused && finding.weight == Weight::Held;
            is_unknown(finding) && need::is_extra(&given) || reads && need::reveals(&given)
        });
        if let Some(about) = about.filter(|_| confined).map(|about| about.reason.part.clone()) {
            let (why, effect) = if need::reveals(&given) {
                (
                    "another part of the command needs secrets, and this could use them",
                    "runs code with access to secrets",
                )
            } else {
                (
                    "another part of the command needs the network, and this could send data",
                    "runs code with the network",
                )
            };
            self.ask(BuiltinRule::Combination, &about, why, effect);
        }
        verdict.grant = given;
    }

    /// Returns whether rules of the user allow every command of a script.
    fn is_allowed_by_rules(&self) -> bool {
        let request = self.request;
        let context = RuleContext { tool: request.tool.name, mode: request.mode, dialect: request.dialect };
        let allows = |seen: &Seen| seen.in_project && request.rules.allowing(&seen.words, context).is_some();
        !self.seen.is_empty() && self.seen.iter().all(allows)
    }

    fn finish(mut self, verdict: &mut Verdict) {
        let confined = self.is_confined();
        self.grant(verdict);
        if !self.is_allowed_by_rules() {
            let wanted = self.findings.iter().map(|finding| finding.grant.clone());
            self.ask_about_new_protected(&wanted.fold(verdict.grant.clone(), Grant::joined));
        }
        let raises = self.request.mode != Mode::Dangerous;
        for finding in self.findings {
            let asks = finding.needs_approval(confined);
            if asks && !finding.effect.is_empty() && !verdict.effects.contains(&finding.effect) {
                verdict.effects.push(finding.effect.clone());
            }
            verdict.grant = std::mem::take(&mut verdict.grant).joined(finding.grant);
            if finding.excused || !raises || !asks {
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
        if !raises {
            verdict.grant = need::everything();
        }
        shorten(&mut verdict.reasons, |why| Reason { part: String::new(), why });
        shorten(&mut verdict.effects, |text| text);
    }
}

impl Finding {
    /// Returns whether it needs approval, unless a rule allows it.
    fn needs_approval(&self, confined: bool) -> bool {
        match self.weight {
            Weight::Asks => true,
            Weight::Held => !confined,
            Weight::Code => false,
        }
    }
}

/// Marks a finding as allowed by a rule of the user. Without a grant in the rule, a part whose effects are unknown may do
/// everything, because the user did not say what it needs.
fn excuse(finding: &mut Finding, grant: Option<&Grant>) {
    finding.excused = true;
    match (grant, finding.weight) {
        (Some(_), _) => finding.grant = Grant::default(),
        (None, Weight::Held) => finding.grant = need::everything(),
        (None, Weight::Asks | Weight::Code) => {}
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
