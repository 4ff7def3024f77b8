//! Proposals: the operations that a person is asked to approve.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::task::grant::Grant;
use crate::task::id::{random_suffix, text_form};
use crate::task::limits::Limits;
use crate::task::spec::{CommandSpec, EnvVar};
use crate::text::raw_text::RawText;
use crate::text::units::duration;
use crate::text::visible::visible;
use crate::time::Timestamp;

/// Format of a stored proposal.
pub const PROPOSAL_VERSION: u32 = 1;

const PREFIX: &str = "ask-";

/// A proposal's id: `ask-` and eight lowercase letters or digits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProposalId(String);

/// A text that is not a proposal id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the id of an approval request, such as ask-k3f9x2ab")]
pub struct ProposalIdError(String);

impl ProposalId {
    /// Makes an id from a random number.
    #[must_use]
    pub fn from_random(random: u64) -> Self {
        Self(format!("{PREFIX}{}", random_suffix(random)))
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ProposalId {
    type Err = ProposalIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let suffix = text.strip_prefix(PREFIX).filter(|suffix| suffix.len() == 8);
        let plain = |suffix: &str| suffix.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        match suffix.filter(|suffix| plain(suffix)) {
            Some(_) => Ok(Self(text.to_owned())),
            None => Err(ProposalIdError(text.to_owned())),
        }
    }
}

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_form!(ProposalId);

/// A fingerprint of everything that an approval covers: command, directory, environment and limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(pub String);

/// The part of an approval that is stored with the task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRecord {
    /// The proposal that was approved.
    pub proposal: ProposalId,
    /// What the approval covers.
    pub digest: Digest,
}

/// The proposed operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "deed", rename_all = "snake_case")]
pub enum ProposedAction {
    /// Starting a command.
    Start {
        /// The exact command.
        command: CommandSpec,
        /// Its steps, if it has several.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        steps: Vec<String>,
        /// The working directory.
        cwd: RawText,
        /// Its limits.
        limits: Box<Limits>,
        /// How long or how large it will be, as the caller expects.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expected: Option<String>,
        /// Duration of the last completed run of the same command, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        took_ms: Option<u64>,
        /// Whether the caller waits for its end, so that it runs in the foreground.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        awaited: bool,
        /// The environment variables that the call itself sets.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        env: Vec<EnvVar>,
        /// What the command may do, if it is confined.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<Grant>,
    },
    /// Another operation, described in words.
    Other {
        /// The action, described for a person.
        text: String,
    },
}

/// A request for approval. It is recorded before it is shown, so that the person approves exactly what happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Format of this record, see [`PROPOSAL_VERSION`].
    pub version: u32,
    /// Its id.
    pub id: ProposalId,
    /// The session it would be done for.
    pub session: String,
    /// The tool or command that would do it.
    pub tool: String,
    /// What would be done.
    #[serde(rename = "deed")]
    pub action: ProposedAction,
    /// Why approval is needed.
    pub reasons: Vec<String>,
    /// The effects, in words.
    pub effects: Vec<String>,
    /// The policy rules that matched.
    pub rules: Vec<String>,
    /// What an approval covers.
    pub digest: Digest,
    /// When approval was requested.
    pub asked_at: Timestamp,
    /// Secret variables whose values occur in its texts. The request shows the values; the history does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<EnvVar>,
}

impl ProposedAction {
    /// Returns whether it starts a command that the caller waits for.
    #[must_use]
    pub const fn is_awaited(&self) -> bool {
        match self {
            Self::Start { awaited, .. } => *awaited,
            Self::Other { .. } => false,
        }
    }
}

impl Proposal {
    /// Returns the exact operation, as it is shown.
    #[must_use]
    pub fn exact(&self) -> String {
        match &self.action {
            ProposedAction::Start { command, .. } => command.to_line(),
            ProposedAction::Other { text } => text.clone(),
        }
    }

    /// Returns what is known about its duration, one line per fact. An approval does not cover it.
    #[must_use]
    pub fn estimates(&self) -> Vec<String> {
        let ProposedAction::Start { expected, took_ms, .. } = &self.action else { return Vec::new() };
        let expected = expected.as_ref().map(|expected| format!("The agent expects: {expected}"));
        let took = took_ms.map(|ms| format!("It took {} last time", duration(ms)));
        expected.into_iter().chain(took).collect()
    }

    /// Returns the environment variables that the call itself sets, one per line.
    #[must_use]
    pub fn environment(&self) -> Vec<String> {
        let ProposedAction::Start { env, .. } = &self.action else { return Vec::new() };
        env.iter().map(|var| format!("{}={}", var.name.to_lossy(), var.value.to_lossy())).collect()
    }

    /// Returns the details and the question, as a person reads them before answering.
    #[must_use]
    pub fn question(&self) -> String {
        format!("{}\n\n{} [y/n]", self.matter(), self.prompt())
    }

    /// Returns the question alone, without the details.
    #[must_use]
    pub const fn prompt(&self) -> &'static str {
        match &self.action {
            ProposedAction::Start { awaited: true, .. } => "Run it?",
            ProposedAction::Start { awaited: false, .. } => "Start in background?",
            ProposedAction::Other { .. } => "Go ahead?",
        }
    }

    /// Returns the details: everything that a person needs to know, with invisible characters spelled out.
    #[must_use]
    pub fn matter(&self) -> String {
        let head = match &self.action {
            ProposedAction::Start { .. } => "Command requires approval",
            ProposedAction::Other { .. } => "This requires approval",
        };
        let granted = self.granted().map(|grant| format!(" ({grant})")).unwrap_or_default();
        let mut text = format!("{head}{granted}:\n{}\n", self.command_and_steps());
        for line in self.said().iter().chain(&self.estimates()) {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(&self.origin());
        visible(text.trim_end())
    }

    /// Returns the same for a dialog that may show only two lines: the question and the effects on the first, the
    /// command on the second, then the rest.
    #[must_use]
    pub fn form(&self) -> String {
        let said = self.said().join("; ").replace('\n', " ");
        let granted = self.granted().map(|grant| format!(" ({grant})")).unwrap_or_default();
        let mut text = format!("{} {said}{granted}\n{}\n", self.prompt(), self.command_and_steps());
        for line in self.estimates() {
            text.push_str(&line);
            text.push('\n');
        }
        text.push_str(&self.origin());
        visible(text.trim_end())
    }

    /// Returns what a yes lets the command do, if it is confined.
    #[must_use]
    pub fn granted(&self) -> Option<String> {
        match &self.action {
            ProposedAction::Start { grant: Some(grant), .. } if grant.is_everything() => {
                Some("may do everything that you may".to_owned())
            }
            ProposedAction::Start { grant, .. } => grant.as_ref().map(Grant::in_words),
            ProposedAction::Other { .. } => None,
        }
    }

    /// Returns the effects, or the reasons for asking if no effect is known.
    fn said(&self) -> &[String] {
        if self.effects.is_empty() { &self.reasons } else { &self.effects }
    }

    /// Returns the exact operation, its steps if it has several, and the variables that the call sets.
    fn command_and_steps(&self) -> String {
        let mut text = format!("  {}\n", indented(&self.exact()));
        if let ProposedAction::Start { steps, .. } = &self.action
            && !steps.is_empty()
        {
            text.push_str("\nIt will execute:\n");
            for (at, step) in steps.iter().enumerate() {
                text.push_str(&format!("  {}. {step}\n", at + 1));
            }
        }
        let environment = self.environment();
        if !environment.is_empty() {
            text.push_str("\nWith these variables:\n");
            for line in environment {
                text.push_str(&format!("  {}\n", indented(&line)));
            }
        }
        text
    }

    /// Returns the directory and the session.
    fn origin(&self) -> String {
        match &self.action {
            ProposedAction::Start { cwd, .. } => {
                format!("in {}, requested by session {}\n", cwd.to_lossy(), self.session)
            }
            ProposedAction::Other { .. } => String::new(),
        }
    }
}

/// Indents all lines but the first.
fn indented(text: &str) -> String {
    text.replace('\n', "\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(action: ProposedAction) -> Proposal {
        Proposal {
            version: PROPOSAL_VERSION,
            id: ProposalId::from_random(7),
            session: "s".to_owned(),
            tool: "shell".to_owned(),
            action,
            reasons: vec!["`rm x`: it deletes files".to_owned()],
            effects: vec!["deletes x".to_owned()],
            rules: vec!["delete".to_owned()],
            digest: Digest("00".to_owned()),
            asked_at: Timestamp::from_micros(0),
            secrets: Vec::new(),
        }
    }

    fn start(script: &str, steps: &[&str]) -> ProposedAction {
        ProposedAction::Start {
            command: CommandSpec::Shell { program: "/bin/sh".into(), script: script.into() },
            steps: steps.iter().map(|step| (*step).to_owned()).collect(),
            cwd: "/p".into(),
            limits: Box::default(),
            expected: None,
            took_ms: None,
            awaited: false,
            env: Vec::new(),
            grant: None,
        }
    }

    #[test]
    fn a_question_shows_the_variables_that_the_call_sets() {
        let mut asked = proposal(start("rm x", &[]));
        if let ProposedAction::Start { env, .. } = &mut asked.action {
            env.push(EnvVar { name: "FOO".into(), value: "a\nb".into() });
        }
        let shown = "  rm x\n\nWith these variables:\n  FOO=a\n  b\n";
        assert!(asked.question().contains(shown), "{}", asked.question());
        assert!(asked.form().contains(shown), "{}", asked.form());
    }

    #[test]
    fn the_first_lines_of_a_question_say_what_is_granted() {
        let mut asked = proposal(start("rm x", &[]));
        if let ProposedAction::Start { grant, .. } = &mut asked.action {
            *grant = Some(Grant::default());
        }
        let words = Grant::default().in_words();
        assert!(
            asked.question().starts_with(&format!("Command requires approval ({words}):\n  rm x\n")),
            "{}",
            asked.question()
        );
        let first = format!("Start in background? deletes x ({words})\n  rm x\n");
        assert!(asked.form().starts_with(&first), "{}", asked.form());
        if let ProposedAction::Start { grant, .. } = &mut asked.action {
            *grant = Some(Grant::everything());
        }
        assert!(asked.form().contains("(may do everything that you may)\n"), "{}", asked.form());
    }

    #[test]
    fn a_question_shows_the_estimate_and_the_duration_of_the_last_run() {
        let mut asked = proposal(start("make", &[]));
        if let ProposedAction::Start { expected, took_ms, .. } = &mut asked.action {
            (*expected, *took_ms) = (Some("~5 minutes, 247 files".to_owned()), Some(296_400));
        }
        let question = asked.question();
        assert!(
            question.contains(
                "\ndeletes x\nThe agent expects: ~5 minutes, 247 files\nIt took 4m 56s last time\nin /p,"
            ),
            "{question}"
        );
    }

    #[test]
    fn a_start_without_estimates_omits_the_fields_and_is_read_back() {
        let mut written = serde_json::to_value(start("make", &[])).unwrap();
        assert!(written.get("expected").is_none() && written.get("took_ms").is_none());
        assert!(written.get("awaited").is_none());
        assert_eq!(serde_json::from_value::<ProposedAction>(written.take()).unwrap(), start("make", &[]));
    }

    #[test]
    fn stored_proposals_keep_their_format() {
        let asked = proposal(ProposedAction::Other { text: "write x".to_owned() });
        let written = serde_json::to_value(&asked).unwrap();
        assert_eq!(written["deed"], serde_json::json!({"deed": "other", "text": "write x"}));
        assert_eq!(serde_json::from_value::<Proposal>(written).unwrap(), asked);
    }

    #[test]
    fn a_question_shows_the_exact_command_and_its_effects() {
        let asked = proposal(start("rm x", &[])).question();
        assert_eq!(
            asked,
            "Command requires approval:\n  rm x\n\ndeletes x\nin /p, requested by session s\n\nStart in background? [y/n]"
        );
        let mut waited_for = proposal(start("rm x", &[]));
        if let ProposedAction::Start { awaited, .. } = &mut waited_for.action {
            *awaited = true;
        }
        assert!(waited_for.question().ends_with("\n\nRun it? [y/n]"), "{}", waited_for.question());
    }

    #[test]
    fn the_first_two_lines_of_a_form_have_the_effects_and_the_command() {
        let mut asked = proposal(start("rm x; rm y", &["rm x", "rm y"]));
        asked.effects = vec!["deletes x".to_owned(), "deletes y\nz".to_owned()];
        assert_eq!(
            asked.form(),
            "Start in background? deletes x; deletes y z\n  rm x; rm y\n\nIt will execute:\n  1. rm x\n  2. rm y\n\n\
             in /p, requested by session s"
        );
    }

    #[test]
    fn a_question_spells_out_hidden_characters() {
        let asked = proposal(start("rm \u{202e}txt.x\x1b[2K", &["r\u{200b}m"])).question();
        assert!(asked.contains("  rm \\u{202e}txt.x\\u{1b}[2K\n"), "{asked}");
        assert!(asked.contains("1. r\\u{200b}m\n"), "{asked}");
        let other = proposal(ProposedAction::Other { text: "write a\u{2066}b".to_owned() });
        assert!(other.question().contains("a\\u{2066}b"));
        assert!(other.question().ends_with("\n\nGo ahead? [y/n]"));
        assert!(!other.matter().contains("Go ahead?"));
    }

    #[test]
    fn several_steps_are_numbered() {
        let asked = proposal(start("make; rm x", &["make", "rm x"])).question();
        assert!(
            asked.contains("  make; rm x\n\nIt will execute:\n  1. make\n  2. rm x\n\ndeletes x"),
            "{asked}"
        );
    }

    #[test]
    fn proposal_ids_are_parsed_and_other_texts_are_refused() {
        let id = ProposalId::from_random(123_456_789);
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
        for wrong in ["", "ask-", "ask-K3F9X2AB", "bash-k3f9x2ab", "ask-k3f9x2abc", "ask-../../et"] {
            assert!(wrong.parse::<ProposalId>().is_err(), "{wrong}");
        }
    }
}
