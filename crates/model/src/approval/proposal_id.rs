//! Ids of proposals.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::task::id::{random_suffix, text_form};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proposal_ids_are_parsed_and_other_texts_are_refused() {
        let id = ProposalId::from_random(123_456_789);
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
        for wrong in ["", "ask-", "ask-K3F9X2AB", "bash-k3f9x2ab", "ask-k3f9x2abc", "ask-../../et"] {
            assert!(wrong.parse::<ProposalId>().is_err(), "{wrong}");
        }
    }
}
