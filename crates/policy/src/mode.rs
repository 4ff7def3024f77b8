//! Approval modes.

use serde::{Deserialize, Serialize};

/// An approval mode: which calls need approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Safe commands run; all others need approval.
    #[default]
    Safe,
    /// All tools may be called; commands that are not safe still need approval.
    Auto,
    /// Only tools that read may be called.
    Plan,
    /// Nobody can be asked, and nothing runs in the background.
    Ci,
    /// Nothing needs approval; only rules that deny apply.
    Dangerous,
}

impl Mode {
    /// Every mode, the strictest first.
    pub const ALL: [Self; 5] = [Self::Ci, Self::Plan, Self::Safe, Self::Auto, Self::Dangerous];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Auto => "auto",
            Self::Plan => "plan",
            Self::Ci => "ci",
            Self::Dangerous => "dangerous",
        }
    }

    /// Finds a mode by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// Returns how strict it is. The settings of a project may only choose a stricter mode. `plan` and `ci` are equally
    /// strict, because each allows something that the other does not.
    #[must_use]
    pub const fn strictness(self) -> u8 {
        match self {
            Self::Dangerous => 0,
            Self::Auto => 1,
            Self::Safe => 2,
            Self::Plan | Self::Ci => 3,
        }
    }

    /// Returns the other mode if it is stricter. `plan` and `ci` do not replace each other, because each would allow something
    /// that the first one does not.
    #[must_use]
    pub const fn or_stricter(self, other: Self) -> Self {
        if other.strictness() > self.strictness() { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_replaced_only_by_a_stricter_one() {
        for (own, other, expected) in [
            (Mode::Dangerous, Mode::Safe, Mode::Safe),
            (Mode::Safe, Mode::Auto, Mode::Safe),
            (Mode::Safe, Mode::Plan, Mode::Plan),
            (Mode::Plan, Mode::Ci, Mode::Plan),
            (Mode::Ci, Mode::Plan, Mode::Ci),
        ] {
            assert_eq!(own.or_stricter(other), expected, "{} beside {}", own.name(), other.name());
        }
    }
}
