//! Approval modes.

/// How much is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Safe work runs, everything else is asked about.
    #[default]
    Safe,
    /// Tools run without asking; commands that are not safe are still asked about.
    Auto,
    /// Nothing is changed: reading only.
    Plan,
    /// Nobody is there to be asked, and nothing stays in the background.
    Ci,
    /// Nothing is asked about; only rules that deny still count.
    Dangerous,
}

impl Mode {
    /// Every mode, the strictest first: a project's file may move to the left, never to the right.
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

    /// Finds one by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// Returns the stricter of two.
    #[must_use]
    pub fn or_stricter(self, other: Self) -> Self {
        if Self::ALL.into_iter().find(|mode| [self, other].contains(mode)) == Some(other) {
            other
        } else {
            self
        }
    }
}
