//! `npm`: its errors, and the results of installs and audits.

use super::finding::{Finding, Kind};
use super::lines::{begins, counted, last_that};
use super::report::Report;

/// First words of error lines that give details, not the reason.
const DETAILS: [&str; 11] = [
    "code ",
    "syscall ",
    "path ",
    "errno ",
    "location ",
    "workspace ",
    "command ",
    "dest ",
    "signal ",
    "A complete log of this run",
    "Lifecycle script ",
];

/// Reads npm's own errors.
pub(super) fn failed(lines: &[&str]) -> Option<Finding> {
    let (last, _) = last_that(lines, error)?;
    let said: Vec<&str> = lines.iter().filter_map(|line| error(line)).collect();
    let field = |name| said.iter().find_map(|line: &&str| line.strip_prefix(name));
    let code = field("code ");
    let mut report = Report::new("npm");
    if let Some(script) = field("Lifecycle script ") {
        report.say(format!("script {}", script.trim_end_matches([':', ' ']).trim_end_matches(" with error")));
        report.name(field("workspace ").or(field("  in workspace: ")).unwrap_or_default().trim());
    } else {
        let reason = said.iter().find(|line| is_reason(line)).map_or("", |line| without_label(line, code));
        if let Some(code) = code {
            report.say(code);
        }
        report.name(reason);
    }
    Some(Finding::new(last, Kind::RunnerOfOthers, &report))
}

/// Returns the text of an npm error line.
fn error(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("npm ")?;
    let said = rest.strip_prefix("ERR!").or_else(|| rest.strip_prefix("error"))?;
    said.strip_prefix(' ').or_else(|| said.is_empty().then_some(said))
}

fn is_reason(line: &str) -> bool {
    !line.trim().is_empty() && !begins(line, &DETAILS)
}

/// Removes the label that repeats the code: `404 ` for `E404`, `notarget ` for `ETARGET`.
fn without_label<'a>(line: &'a str, code: Option<&str>) -> &'a str {
    let Some((label, rest)) = line.split_once(' ') else {
        return line;
    };
    let code = code.unwrap_or_default().to_lowercase();
    let core = code.trim_start_matches('e');
    let is_label = !core.is_empty() && (label == code || label.ends_with(core));
    if is_label { rest.trim_start() } else { line }
}

/// Reads the result of an install or audit.
pub(super) fn installed(lines: &[&str]) -> Option<Finding> {
    let install = last_that(lines, |line| is_install(line).then_some(line));
    let audit = last_that(lines, |line| is_audit(line).then_some(line));
    let last = install.map(|(index, _)| index).max(audit.map(|(index, _)| index))?;
    let mut report = Report::new("npm");
    for (_, line) in install.into_iter().chain(audit) {
        report.say(line);
    }
    let is_hint = |line: &&&str| !begins(line, &["npm ", "> "]);
    let hints = lines[last + 1..].iter().take_while(is_hint).count();
    let known = lines[last + 1..][..hints].iter().all(|line| line.trim().is_empty() || is_advice(line));
    Some(Finding::new(if known { last + hints } else { last }, Kind::Finished, &report))
}

/// Reads `added 2 packages, and audited 3 packages in 1s` and `up to date in 378ms`.
fn is_install(line: &str) -> bool {
    begins(line, &["added ", "removed ", "changed ", "up to date"])
        && line.rsplit_once(" in ").is_some_and(|(_, time)| time.ends_with('s'))
        && (line.contains(" package") || line.starts_with("up to date"))
}

/// Reads `found 0 vulnerabilities` and `3 vulnerabilities (1 low, 2 high)`.
fn is_audit(line: &str) -> bool {
    let count = counted(line.strip_prefix("found ").unwrap_or(line));
    count.is_some_and(|(_, what)| what.contains("vulnerabilit"))
}

/// Returns whether a line is advice that npm prints after an install or audit.
fn is_advice(line: &str) -> bool {
    begins(
        line,
        &["To address ", "Some issues ", "a different dependency", "Run `npm ", "  run `npm ", "  npm "],
    ) || line.ends_with("looking for funding")
}
