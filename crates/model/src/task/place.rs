//! Where a task runs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The back-end that runs a task. It is part of the spec, so that the task is found again where it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A process of this machine.
    #[default]
    Process,
    /// The command is not executed: the input of the task decides what it prints and how it ends. For tests of hosts.
    Mock,
}

impl Place {
    /// Every place.
    pub const ALL: [Self; 2] = [Self::Process, Self::Mock];

    /// Returns its name, as used with `--on`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Mock => "mock",
        }
    }

    /// Returns whether this is the default, which specs leave out.
    #[must_use]
    pub fn is_process(&self) -> bool {
        *self == Self::Process
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not a place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no back-end {0:?}; choose one of {names}", names = Place::ALL.map(Place::name).join(", "))]
pub struct UnknownPlace(String);

impl FromStr for Place {
    type Err = UnknownPlace;

    fn from_str(name: &str) -> Result<Self, UnknownPlace> {
        Self::ALL.into_iter().find(|place| place.name() == name).ok_or_else(|| UnknownPlace(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_names_are_parsed_and_an_unknown_name_lists_the_choices() {
        for place in Place::ALL {
            assert_eq!(place.name().parse(), Ok(place));
        }
        let refused = "docker".parse::<Place>().unwrap_err().to_string();
        assert!(Place::ALL.iter().all(|place| refused.contains(place.name())), "{refused}");
    }
}
