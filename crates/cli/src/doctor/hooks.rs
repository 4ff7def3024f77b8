//! Hooks: whether their programs exist, and the last failure, which is only in the log of the hooks.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use meanwhile::engine::HOOKS_LOG_FILE;
use meanwhile::engine::model::DEFAULT_SHELL;
use meanwhile::settings::HookSettings;
use serde_json::Value;

use super::Check;

/// Checks each hook that is set.
pub(super) fn checks(hooks: &HookSettings, home: &Path) -> Vec<Check> {
    let own = [
        ("hooks.before", hooks.before.as_deref()),
        ("hooks.start", hooks.start.as_deref()),
        ("hooks.exit", hooks.exit.as_deref()),
        ("hooks.stall", hooks.stall.as_deref()),
        ("hooks.ready", hooks.ready.as_deref()),
        ("hooks.reassign", hooks.reassign.as_deref()),
        ("hooks.desktop", hooks.desktop.then_some("notify-send")),
        ("hooks.webhook", hooks.webhook.as_ref().map(|_| "curl")),
    ];
    let set: Vec<_> = own.into_iter().filter_map(|(name, command)| Some((name, command?))).collect();
    if set.is_empty() {
        return Vec::new();
    }
    let missing = set.iter().filter_map(|(name, command)| {
        let program = program_of(command).filter(|program| !is_there(program))?;
        let detail = format!("{name} runs {program:?}, which does not exist");
        Some(Check::problem("hooks", detail, format!("install it, or correct {name}")))
    });
    let mut checks: Vec<_> = missing.collect();
    if checks.is_empty() {
        let names = set.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        checks.push(Check::ok("hooks", format!("{names}: programs found")));
    }
    let log = home.join(HOOKS_LOG_FILE);
    let last = fs::read_to_string(&log).ok().and_then(|text| failure(text.lines().last()?));
    checks.extend(last.map(|last| {
        Check::warning(
            "hooks",
            format!("the last failure: {last}"),
            format!("see {} for all failures", log.display()),
        )
    }));
    checks
}

/// Returns the program of a command, if it is known.
fn program_of(command: &str) -> Option<&str> {
    let mut words = command.split_whitespace().skip_while(|word| word.contains('='));
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./+".contains(c);
    words.next().filter(|word| word.chars().all(plain))
}

/// Asks the shell, because the program may be a builtin.
fn is_there(program: &str) -> bool {
    let mut shell = Command::new(DEFAULT_SHELL);
    shell.args(["-c", "command -v -- \"$1\"", "sh", program]);
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    shell.status().is_ok_and(|status| status.success())
}

fn failure(line: &str) -> Option<String> {
    let line: Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| line[name].as_str();
    Some(format!("{} of {} at {}: {}", text("hook")?, text("task")?, text("at")?, text("error")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_a_command_is_told_where_that_can_be() {
        for (command, program) in [
            ("cat >> /tmp/heard", Some("cat")),
            ("A=1 /opt/tell.sh --now", Some("/opt/tell.sh")),
            ("if true; then x; fi", Some("if")),
            ("$HOME/tell", None),
            ("(cd /; tell)", None),
            ("", None),
        ] {
            assert_eq!(program_of(command), program, "{command}");
        }
        assert!(is_there("if") && is_there("cat") && !is_there("no-such-program-anywhere"));
    }
}
