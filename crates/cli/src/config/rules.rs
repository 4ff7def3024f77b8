//! Rules in settings files.

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use meanwhile::engine::{Policy, RuleText, SessionPolicy, confined_by_kernel};
use meanwhile::model::approval::{Proposal, ProposedAction};
use meanwhile::policy::{ConfinementLevel, Decision, Rule, RuleOrigin, Rules, Tool};
use serde::Deserialize;

use super::edit::UserFile;
use super::load::Config;
use super::source::shown;
use crate::error::CommandError;

/// The rules of a settings file; the settings in it are read elsewhere.
#[derive(Deserialize)]
struct File {
    rules: Vec<Rule>,
}

impl Config {
    /// Returns the policy of the settings.
    ///
    /// # Errors
    /// When a rule cannot be used.
    pub(crate) fn decides_by(&self) -> Result<Policy, CommandError> {
        let settings = &self.policy;
        Ok(Policy {
            mode: settings.mode,
            dialect: self.dialect(),
            ci_reads: settings.ci_reads,
            writable: settings.writable.iter().map(PathBuf::from).collect(),
            rules: Arc::new(self.rules()?),
            user_home: self.user_home(),
            timeouts: settings.timeouts,
            project: None,
            at_most: None,
            confined: match self.confine_models {
                true => confined_by_kernel(&self.settings),
                false => ConfinementLevel::No,
            },
        })
    }

    /// Reads the rules of the user and the project, and checks their examples.
    ///
    /// # Errors
    /// Names the file and the rule that cannot be used.
    pub(crate) fn rules(&self) -> Result<Rules, CommandError> {
        rules_of(&self.rule_files)
    }

    /// Returns the policy to store for a session that is hosted in this directory.
    ///
    /// # Errors
    /// When a rule cannot be used, or the current directory is gone.
    pub(crate) fn session_policy(&self) -> Result<SessionPolicy, CommandError> {
        self.rules()?;
        let rules = self.rule_files.iter().map(|(origin, path, text)| RuleText {
            by_user: *origin == RuleOrigin::User,
            path: path.clone(),
            text: text.clone(),
        });
        Ok(SessionPolicy {
            mode: self.policy.mode,
            is_chosen: false,
            dialect: self.dialect(),
            ci_reads: self.policy.ci_reads,
            writable: self.policy.writable.iter().map(PathBuf::from).collect(),
            directory: env::current_dir()?,
            rules: rules.collect(),
            within: None,
        })
    }

    /// Returns a rule for the user file that allows exactly this command, after checking that it does.
    ///
    /// # Errors
    /// When no rule can allow it.
    pub(crate) fn permanent_rule(&self, proposal: &Proposal) -> Result<PermanentRule, CommandError> {
        let no_rule = |why: String| {
            CommandError::usage(
                format!("no rule can allow {}: {why}", proposal.id),
                "approve it once, or for its session with --session",
            )
        };
        let ProposedAction::Start { command, cwd, .. } = &proposal.action else {
            return Err(no_rule("it does not start a command".to_owned()));
        };
        let pattern = command.to_line();
        let plain = |c: char| !c.is_control() && !"*'\"\\".contains(c);
        if !pattern.chars().all(plain) || pattern.split_whitespace().any(|word| word == "...") {
            return Err(no_rule("its words are not literal".to_owned()));
        }
        let rule = Rule {
            name: proposal.id.to_string(),
            pattern: pattern.clone(),
            decision: Decision::Allow,
            reason: "approved by the user".to_owned(),
            tool: None,
            mode: None,
            profile: None,
            grant: None,
            examples: vec![pattern],
            counter_examples: Vec::new(),
        };
        let mut rules = self.rules()?;
        rules.add(vec![rule.clone()], RuleOrigin::User).map_err(|error| no_rule(error.to_string()))?;
        let policy = Policy { rules: Arc::new(rules), ..self.decides_by()? };
        let tool = Tool::named(&proposal.tool).unwrap_or(Tool::UNKNOWN);
        let cwd = PathBuf::from(OsString::from_vec(cwd.as_bytes().to_vec()));
        let verdict = policy.verdict(tool, Some(command), &cwd, &[]);
        if verdict.decision != Decision::Allow {
            let reasons: Vec<_> = verdict.reasons.iter().map(ToString::to_string).collect();
            return Err(no_rule(reasons.join("; ")));
        }
        let path = self.user_file.clone().ok_or_else(|| no_rule("no configuration directory".to_owned()))?;
        Ok(PermanentRule { path, text: written(&rule) })
    }
}

/// A checked rule that allows a command from now on.
pub(crate) struct PermanentRule {
    path: PathBuf,
    text: String,
}

impl PermanentRule {
    /// Returns the file to which it is added, for people.
    pub(crate) fn place(&self) -> String {
        shown(&self.path.to_string_lossy())
    }

    /// Returns the rule as it is written there.
    pub(crate) fn text(&self) -> &str {
        self.text.trim_ascii()
    }

    /// Adds the rule to the user file, after its request was approved. Returns the path, for people.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn add(&self) -> Result<String, CommandError> {
        let path = self.place();
        append(&self.path, &self.text).map_err(|error| {
            let message = format!("approved once, but no rule was added: cannot write {path}: {error}");
            CommandError::usage(message, "check the permissions of the file")
        })?;
        Ok(path)
    }
}

/// Returns the policy of a session whose host has stored it.
///
/// # Errors
/// When a rule cannot be used.
pub(crate) fn by_session_policy(session_policy: &SessionPolicy) -> Result<Policy, CommandError> {
    let files: Vec<_> = session_policy
        .rules
        .iter()
        .map(|file| {
            let origin = if file.by_user { RuleOrigin::User } else { RuleOrigin::Project };
            (origin, file.path.clone(), file.text.clone())
        })
        .collect();
    Ok(Policy {
        mode: session_policy.mode,
        dialect: session_policy.dialect,
        ci_reads: session_policy.ci_reads,
        writable: session_policy.writable.clone(),
        rules: Arc::new(rules_of(&files)?),
        ..Policy::default()
    })
}

fn rules_of(files: &[(RuleOrigin, PathBuf, String)]) -> Result<Rules, CommandError> {
    let mut rules = Rules::none();
    for (origin, path, text) in files {
        let refused = |why: &str| {
            let message = format!("{}: {}", shown(&path.to_string_lossy()), shown(why));
            CommandError::usage(message, "see docs/approval.md for the format of a rule")
        };
        let file: File = toml::from_str(text).map_err(|error| refused(error.message()))?;
        rules.add(file.rules, *origin).map_err(|error| refused(&error.to_string()))?;
    }
    Ok(rules)
}

/// Writes a rule as a table that can be appended to any file.
fn written(rule: &Rule) -> String {
    // None of these contains a quote, a backslash or a control character.
    let text = |text: &str| format!("\"{text}\"");
    format!(
        "\n[[rules]]\nname = {}\nmatch = {}\ndecision = \"allow\"\nreason = {}\nexamples = [{}]\n",
        text(&rule.name),
        text(&rule.pattern),
        text(&rule.reason),
        text(&rule.pattern),
    )
}

fn append(path: &Path, rule: &str) -> io::Result<()> {
    let file = UserFile::open(path)?;
    let newline = if file.text.is_empty() || file.text.ends_with('\n') { "" } else { "\n" };
    file.replace(&format!("{}{newline}{rule}", file.text))
}
