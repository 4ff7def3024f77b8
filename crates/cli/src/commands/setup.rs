//! `mw setup`: adds meanwhile to the settings of a host, or to the user's systemd, or removes it.

use std::env;
use std::io::IsTerminal;
use std::path::Path;

use clap::Args;
use mw_agents::hosts::{FileChange, RequestedChange, SetupError, SetupScope, hosts_with_setup};
use serde_json::{Value, json};
use similar::TextDiff;

use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::exit_code;
use crate::hosts::{HostPlace, SYSTEMD, Subject, host_states};
use crate::{render, systemd};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The host, or systemd for a timer that starts due tasks; without one, list all hosts
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(hosts_with_setup().map(|host| host.id).chain([SYSTEMD])))]
    host: Option<String>,
    /// Change the files of the project in the current directory instead of the user's files
    #[arg(long)]
    project: bool,
    /// Remove what setup has added
    #[arg(long, conflicts_with = "print")]
    remove: bool,
    /// Print the new content of the files and change nothing
    #[arg(long)]
    print: bool,
    /// Apply the change without confirmation
    #[arg(long, short)]
    yes: bool,
}

impl From<SetupError> for CommandError {
    fn from(error: SetupError) -> Self {
        let exit = match &error {
            SetupError::Broken { .. } | SetupError::Unfit { .. } | SetupError::NoHome => exit_code::USAGE,
            SetupError::Changed { .. } | SetupError::ReadOnly { .. } => exit_code::CONFLICT,
            SetupError::Io { .. } => exit_code::FAILURE,
        };
        Self {
            code: error.code().to_owned(),
            message: error.to_string(),
            hint: error.hint().to_owned(),
            exit,
            library: None,
            unknown_task: None,
        }
    }
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let scope = if self.project { SetupScope::Project } else { SetupScope::User };
        let place = HostPlace::find(scope)?;
        let subject = match self.host.as_deref() {
            Some(SYSTEMD) if self.project => {
                let hint = "leave out --project";
                return Err(CommandError::usage("a project has no systemd of its own", hint));
            }
            Some(SYSTEMD) => Subject::Systemd,
            id => match hosts_with_setup().find(|host| id == Some(host.id)) {
                Some(host) => Subject::Host(host),
                None => return list(context, &place),
            },
        };
        if self.print {
            return print(context, subject, &place);
        }
        let change = if self.remove { RequestedChange::Remove } else { RequestedChange::SetUp };
        let changes = subject.plan(change, &place)?;
        let needed: Vec<_> = changes.iter().filter(|change| change.is_needed()).collect();
        if needed.is_empty() {
            return nothing_to_do(context, subject, change, &changes);
        }
        if !context.json {
            for change in &needed {
                render::out(&shown(change, context.colour()))?;
            }
        }
        let confirmed = self.yes || (!context.json && ask(subject, change)?);
        if confirmed {
            apply(subject, change, &needed)?;
        }
        report(context, subject, change, &changes, confirmed)
    }
}

fn scope_word(scope: SetupScope) -> &'static str {
    match scope {
        SetupScope::User => "user",
        SetupScope::Project => "project",
    }
}

fn list(context: &Context, place: &HostPlace) -> CommandResult {
    let states = host_states(place);
    if context.json {
        let hosts = states.iter().map(|state| {
            let path = state.path.as_ref().map(|path| path.display().to_string());
            let (set_up, error) = match &state.set_up {
                Ok(set_up) => (json!(set_up.word()), Value::Null),
                Err(error) => (Value::Null, json!(error)),
            };
            json!({"host": state.host.id, "title": state.host.title, "found": state.found, "set_up": set_up, "path": path, "error": error})
        });
        render::json(&json!({"scope": scope_word(place.scope()), "hosts": hosts.collect::<Vec<_>>()}))?;
        return Ok(0);
    }
    let mut text = format!("{:<13}{:<13}{:<11}{}\n", "HOST", "INSTALLED", "SET UP", "FILE");
    for state in &states {
        let found = if state.found { "yes" } else { "not found" };
        let (set_up, file) = match &state.set_up {
            Ok(set_up) => (set_up.word(), state.path.as_deref().map(home_shortened).unwrap_or_default()),
            Err(error) => ("?", error.clone()),
        };
        text.push_str(&format!("{:<13}{found:<13}{set_up:<11}{file}\n", state.host.id));
    }
    render::out(
        &(text
            + "mw setup HOST shows the change and asks before it applies it. mw setup systemd adds a timer that starts due tasks.\n"),
    )?;
    Ok(0)
}

fn print(context: &Context, subject: Subject, place: &HostPlace) -> CommandResult {
    let snippets = subject.snippets(place)?;
    if context.json {
        let all =
            snippets.iter().map(|(path, text)| json!({"path": path.display().to_string(), "text": text}));
        render::json(&json!({"host": subject.id(), "snippets": all.collect::<Vec<_>>()}))?;
        return Ok(0);
    }
    for (path, text) in snippets {
        // On stderr, so that the text can be piped.
        render::aside(&format!("{}:", home_shortened(&path)));
        render::out(&text)?;
    }
    Ok(0)
}

fn nothing_to_do(
    context: &Context,
    subject: Subject,
    change: RequestedChange,
    changes: &[FileChange],
) -> CommandResult {
    if let (Subject::Systemd, RequestedChange::SetUp) = (subject, change) {
        // The timer may have been stopped, or systemd may not have run before.
        systemd::apply(change)?;
    }
    if context.json {
        return report(context, subject, change, changes, true);
    }
    match change {
        RequestedChange::SetUp => render::out(&format!("{} is already set up.\n", subject.title()))?,
        RequestedChange::Remove => {
            render::out(&format!("{} is not set up; nothing to remove.\n", subject.title()))?;
        }
    }
    Ok(0)
}

fn apply(subject: Subject, change: RequestedChange, changes: &[&FileChange]) -> Result<(), CommandError> {
    if let (Subject::Systemd, RequestedChange::Remove) = (subject, change) {
        systemd::stop()?;
    }
    write(changes)?;
    match subject {
        Subject::Host(_) => Ok(()),
        Subject::Systemd => systemd::apply(change),
    }
}

fn write(changes: &[&FileChange]) -> Result<(), CommandError> {
    for (done, change) in changes.iter().enumerate() {
        change.apply().map_err(|error| {
            let mut error = CommandError::from(error);
            if done > 0 {
                let paths: Vec<_> =
                    changes[..done].iter().map(|change| change.path.display().to_string()).collect();
                error.message.push_str(&format!("; {} has already been changed", paths.join(", ")));
            }
            error
        })?;
    }
    Ok(())
}

/// Asks at the terminal; without a terminal the answer is no.
fn ask(subject: Subject, change: RequestedChange) -> Result<bool, CommandError> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Ok(false);
    }
    let what = match change {
        RequestedChange::SetUp => "Set up",
        RequestedChange::Remove => "Remove meanwhile from",
    };
    render::out(&format!("{what} {}? [y/N] ", subject.title()))?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

fn report(
    context: &Context,
    subject: Subject,
    change: RequestedChange,
    changes: &[FileChange],
    confirmed: bool,
) -> CommandResult {
    let any = changes.iter().any(FileChange::is_needed);
    let status = match (any, confirmed, change) {
        (false, _, RequestedChange::SetUp) => "already_set_up",
        (false, _, RequestedChange::Remove) => "not_set_up",
        (true, false, _) => "shown",
        (true, true, RequestedChange::SetUp) => "set_up",
        (true, true, RequestedChange::Remove) => "removed",
    };
    if context.json {
        let files: Vec<_> = changes.iter().map(|change| {
            json!({"path": change.path.display().to_string(), "changed": change.is_needed() && confirmed, "diff": diff(change)})
        }).collect();
        render::json(&json!({"host": subject.id(), "status": status, "files": files}))?;
    } else {
        match (confirmed, change) {
            (true, RequestedChange::SetUp) => {
                render::out(&format!("{} is set up. Next: {}.\n", subject.title(), subject.next()))?;
            }
            (true, RequestedChange::Remove) => render::out(&format!("{} is restored.\n", subject.title()))?,
            (false, _) => {
                render::note("nothing was changed; use --yes to apply the change without confirmation");
            }
        }
    }
    Ok(if any && !confirmed { exit_code::NOT_CONFIRMED } else { 0 })
}

fn diff(change: &FileChange) -> String {
    let (before, after) =
        (change.before.as_deref().unwrap_or_default(), change.after.as_deref().unwrap_or_default());
    let name = |text: &Option<String>| {
        text.as_ref().map_or("/dev/null".to_owned(), |_| change.path.display().to_string())
    };
    let (old, new) = (name(&change.before), name(&change.after));
    TextDiff::from_lines(before, after).unified_diff().context_radius(3).header(&old, &new).to_string()
}

/// Returns a diff for people, without control characters.
fn shown(change: &FileChange, colour: bool) -> String {
    let safe: String = diff(change)
        .chars()
        .map(|c| if c.is_control() && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c })
        .collect();
    if !colour {
        return safe;
    }
    let painted = |line: &str| match line.as_bytes().first() {
        _ if line.starts_with("---") || line.starts_with("+++") => render::paint(line, "1", true),
        Some(b'+') => render::paint(line, "32", true),
        Some(b'-') => render::paint(line, "31", true),
        Some(b'@') => render::paint(line, "36", true),
        _ => line.to_owned(),
    };
    safe.lines().map(|line| painted(line) + "\n").collect()
}

fn home_shortened(path: &Path) -> String {
    let home = env::var_os("HOME").filter(|home| !home.is_empty());
    match home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
