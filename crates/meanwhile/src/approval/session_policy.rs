//! The policy that a session's host stored for the session.

use std::path::PathBuf;

use mw_model::Dialect;
use mw_policy::Mode;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::approval::Approvals;
use crate::error::{Error, HomeProblem, Result};

/// Version of the file format.
const VERSION: u32 = 1;

/// The policy of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionPolicy {
    /// The approval mode.
    pub mode: Mode,
    /// Whether a person chose the mode for this session. Settings around a call then change it in neither direction.
    #[serde(default)]
    pub is_chosen: bool,
    /// The dialect whose conventions apply; stored as the name of its profile.
    #[serde(rename = "profile", serialize_with = "write_profile", deserialize_with = "read_profile")]
    pub dialect: Dialect,
    /// Whether tools that only read are allowed in mode ci.
    pub ci_reads: bool,
    /// Writable directories besides the project.
    pub writable: Vec<PathBuf>,
    /// The directory that the host was started in.
    pub directory: PathBuf,
    /// Rules of the user and the project, as written.
    pub rules: Vec<RuleText>,
    /// The session whose task began this one, if any. Tasks of that session may use this one again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
}

impl SessionPolicy {
    /// Returns the mode of a call whose own settings say `present`.
    #[must_use]
    pub fn mode_beside(&self, present: Mode) -> Mode {
        if self.is_chosen { self.mode } else { self.mode.or_stricter(present) }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn write_profile<S: Serializer>(dialect: &Dialect, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(dialect.profile())
}

fn read_profile<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Dialect, D::Error> {
    let name = String::deserialize(deserializer)?;
    Dialect::of_profile(&name).ok_or_else(|| D::Error::custom(format!("unknown profile {name:?}")))
}

/// A file with rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleText {
    /// Whether these are the user's rules. A project's rules can only tighten.
    pub by_user: bool,
    /// The path of the file.
    pub path: PathBuf,
    /// The content of the file.
    pub text: String,
}

#[derive(Serialize, Deserialize)]
struct Written {
    version: u32,
    #[serde(flatten)]
    rules: SessionPolicy,
}

impl Approvals<'_> {
    /// Stores the policy of a session.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set_session_policy(&self, session: &str, rules: &SessionPolicy) -> Result<()> {
        let written = Written { version: VERSION, rules: rules.clone() };
        let text = serde_json::to_vec(&written)
            .map_err(|error| Error::io("the policy of the session")(error.into()))?;
        self.base.home.session(session).set_session_policy(&text)
    }

    /// Returns the stored policy of a session, if there is one.
    ///
    /// # Errors
    /// When it exists but cannot be read. Then nothing is allowed.
    pub fn session_policy(&self, session: &str) -> Result<Option<SessionPolicy>> {
        let Some(text) = self.base.home.session(session).session_policy()? else { return Ok(None) };
        let unreadable =
            |why: String| Error::Home(HomeProblem::SessionPolicy { session: session.to_owned(), why });
        let written: Written =
            serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
        match written.version {
            VERSION => Ok(Some(written.rules)),
            other => Err(unreadable(format!("unknown format {other}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_mode_or_profile_makes_the_policy_unreadable() {
        for dialect in Dialect::ALL {
            for mode in Mode::ALL {
                let rules = SessionPolicy {
                    mode,
                    is_chosen: true,
                    dialect,
                    ci_reads: false,
                    writable: Vec::new(),
                    directory: PathBuf::from("/"),
                    rules: Vec::new(),
                    within: None,
                };
                let mut stored = serde_json::to_value(&rules).unwrap();
                assert_eq!(
                    (&stored["mode"], &stored["profile"]),
                    (&mode.name().into(), &dialect.profile().into())
                );
                assert_eq!(serde_json::from_value::<SessionPolicy>(stored.clone()).unwrap(), rules);
                for field in ["mode", "profile"] {
                    let known = stored[field].take();
                    stored[field] = "later".into();
                    assert!(serde_json::from_value::<SessionPolicy>(stored.clone()).is_err(), "{field}");
                    stored[field] = known;
                }
            }
        }
    }
}
