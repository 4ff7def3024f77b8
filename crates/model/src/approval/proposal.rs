//! Proposals: the operations that a person is asked to approve.

use serde::{Deserialize, Serialize};

use super::proposal_id::ProposalId;
use crate::task::grant::Grant;
use crate::task::limits::Limits;
use crate::task::spec::{CommandSpec, EnvVar};
use crate::text::raw_text::RawText;
use crate::time::Timestamp;

/// Format of a stored proposal.
pub const PROPOSAL_VERSION: u32 = 1;

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

#[cfg(test)]
pub(super) mod sample {
    use super::*;

    pub(crate) fn proposal(action: ProposedAction) -> Proposal {
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

    pub(crate) fn start(script: &str, steps: &[&str]) -> ProposedAction {
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
}

#[cfg(test)]
mod tests {
    use super::sample::{proposal, start};
    use super::*;

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
}
