//! What a session's host laid down: nothing that runs in the session can loosen it by way of its environment.

use std::path::PathBuf;

use mw_policy::Mode;
use serde::{Deserialize, Serialize};

use crate::approval::Approvals;
use crate::error::{Error, HomeProblem, Result};

/// Format of what is written.
const VERSION: u32 = 1;

/// What everything in a session is decided by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HouseRules {
    /// How much is asked about.
    pub mode: String,
    /// Whether a person chose that for this very session: settings around a call do not change it then, neither way.
    #[serde(default)]
    pub is_chosen: bool,
    /// Whose conventions hold.
    pub profile: String,
    /// Whether tools that only read are allowed in mode ci.
    pub ci_reads: bool,
    /// Directories besides the project that may be written to.
    pub writable: Vec<PathBuf>,
    /// Where the host was started.
    pub directory: PathBuf,
    /// Rules of the user and the project, as they were written.
    pub rules: Vec<RuleText>,
    /// The session whose task began this one, if one did: its tasks may use it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
}

impl HouseRules {
    /// Returns by how much is asked about in a call that would ask by `present` itself.
    #[must_use]
    pub fn mode_beside(&self, present: Mode) -> Mode {
        let laid_down = Mode::named(&self.mode).unwrap_or_default();
        if self.is_chosen { laid_down } else { laid_down.or_stricter(present) }
    }
}

/// A file of rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleText {
    /// Whether they are the user's own; a project's may only tighten.
    pub by_user: bool,
    /// Where they stood.
    pub path: PathBuf,
    /// What stood there.
    pub text: String,
}

#[derive(Serialize, Deserialize)]
struct Written {
    version: u32,
    #[serde(flatten)]
    rules: HouseRules,
}

impl Approvals<'_> {
    /// Lays down what a session is decided by.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn set_house_rules(&self, session: &str, rules: &HouseRules) -> Result<()> {
        let written = Written { version: VERSION, rules: rules.clone() };
        let text = serde_json::to_vec(&written).map_err(|error| Error::io("house rules")(error.into()))?;
        self.base.home.session(session).set_house_rules(&text)
    }

    /// Returns what a session's host laid down, if it did.
    ///
    /// # Errors
    /// When it did, and that cannot be read: then nothing may pass.
    pub fn house_rules(&self, session: &str) -> Result<Option<HouseRules>> {
        let Some(text) = self.base.home.session(session).house_rules()? else { return Ok(None) };
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
