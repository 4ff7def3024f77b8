//! Grants that rules name.

use mw_model::{EnvironmentGrant, Grant, NetworkGrant, ReadGrant, WriteGrant};
use serde::Deserialize;

use crate::need;

/// A grant in a settings file: words such as `project+network`, or a table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum RuleGrant {
    /// Words that are joined by `+`.
    Words(String),
    /// Each part of the grant.
    Table(Grant),
}

impl RuleGrant {
    /// Returns the grant; the error is the word or path that cannot be used.
    pub(super) fn grant(&self) -> Result<Grant, String> {
        let grant = match self {
            Self::Words(words) => {
                let words = words.split('+').map(|word| of_word(word.trim()));
                words.collect::<Result<Vec<_>, _>>()?.into_iter().fold(Grant::default(), Grant::joined)
            }
            Self::Table(grant) => grant.clone(),
        };
        match &grant.write {
            WriteGrant::Paths(paths) => match paths.iter().find(|path| !path.starts_with('/')) {
                Some(path) => Err(path.clone()),
                None => Ok(grant),
            },
            WriteGrant::Temp | WriteGrant::Project | WriteGrant::Anything => Ok(grant),
        }
    }
}

fn of_word(word: &str) -> Result<Grant, String> {
    Ok(match word {
        "read-only" => Grant::default(),
        "project" => need::writes(WriteGrant::Project),
        "anything" => need::writes(WriteGrant::Anything),
        "loopback" => need::network(NetworkGrant::Loopback),
        "network" => need::network(NetworkGrant::Full),
        "secrets" => Grant { read: ReadGrant::All, environment: EnvironmentGrant::All, ..Grant::default() },
        "all" => need::everything(),
        path if path.starts_with('/') => need::writes(WriteGrant::Paths(vec![path.to_owned()])),
        other => return Err(other.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(words: &str) -> Result<Grant, String> {
        RuleGrant::Words(words.to_owned()).grant()
    }

    #[test]
    fn the_words_of_a_grant_add_up() {
        let both = grant("project + network").unwrap();
        assert_eq!((both.write, both.network), (WriteGrant::Project, NetworkGrant::Full));
        assert_eq!(grant("read-only"), Ok(Grant::default()));
        assert_eq!(grant("project+/srv").unwrap().write, WriteGrant::Paths(vec!["/srv".to_owned()]));
        assert!(
            need::everything().includes(&grant("secrets").unwrap())
                && grant("all").unwrap() == need::everything()
        );
        assert_eq!(grant("project+internet"), Err("internet".to_owned()));
        assert_eq!(grant(""), Err(String::new()));
        let table = RuleGrant::Table(need::writes(WriteGrant::Paths(vec!["srv".to_owned()])));
        assert_eq!(table.grant(), Err("srv".to_owned()));
    }
}
