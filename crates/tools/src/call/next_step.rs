//! The next step for a model after an error.

use meanwhile::Error;
use meanwhile::error::{Denial, NoConsent};

/// Returns the hint for an error. Only a person can approve, in a terminal, so hints about approval name the command
/// for it.
#[must_use]
pub fn next_step(error: &Error) -> String {
    match error {
        Error::NeedsApproval { proposal, keep, .. } => {
            let (id, minutes) = (&proposal.id, keep.as_secs().div_ceil(60));
            format!(
                "ask the user to run mw approve {id} (or mw deny {id}) in a terminal within {minutes} min, then repeat exactly the same call"
            )
        }
        Error::NoConsent { why: NoConsent::Denied(_), proposal, .. } => format!(
            "do not try it another way; ask the user what to do instead. If they change their mind: mw approve {}, then repeat exactly the same call",
            proposal.id
        ),
        Error::Denied(Denial::Policy { .. }) => {
            "mw policy explains the decision; the user can choose another mode (MEANWHILE_MODE, or mode in config.toml)"
                .to_owned()
        }
        other => other.hint(),
    }
}
