//! The states of a proposal.

use serde::{Deserialize, Serialize};

use crate::task::id::TaskId;
use crate::time::Timestamp;

/// The name in a denial that came from the policy instead of a person.
pub const BY_POLICY: &str = "policy";

/// How long an approval is valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Remember {
    /// For one start.
    #[default]
    Once,
    /// For every start of exactly the same command in its session.
    Session,
}

/// An answer to a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Approved.
    Approve(Remember),
    /// Denied, with an optional reason.
    Deny(String),
}

/// An event of a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalEvent {
    /// It was answered.
    Answered {
        /// Approval or denial.
        answer: Answer,
        /// The person or program that answered.
        by: String,
        /// The time of the answer.
        at: Timestamp,
    },
    /// The approved operation was carried out.
    Used {
        /// The task that was started, if any.
        task: Option<TaskId>,
        /// The time of the use.
        at: Timestamp,
    },
    /// It was not answered, or its approval was not used, in time.
    Lapsed {
        /// The time of the expiry.
        at: Timestamp,
    },
}

/// The state of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ApprovalState {
    /// Not answered yet.
    Open,
    /// Approved, but not carried out yet.
    Approved {
        /// The person or program that approved.
        by: String,
        /// The time of the approval.
        at: Timestamp,
        /// How long the approval is valid.
        remember: Remember,
    },
    /// Denied.
    Denied {
        /// The person or program that denied.
        by: String,
        /// The time of the denial.
        at: Timestamp,
        /// The reason; empty if none was given.
        why: String,
    },
    /// Approved and carried out.
    Used {
        /// Who approved.
        by: String,
        /// When it was approved.
        at: Timestamp,
        /// When it was carried out.
        used_at: Timestamp,
        /// The task that was started, if any.
        task: Option<TaskId>,
    },
    /// Not answered or not used in time.
    Lapsed {
        /// When the expiry was noticed.
        at: Timestamp,
    },
}

/// An event that cannot happen in a state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is already {0}")]
pub struct Impossible(pub &'static str);

impl ApprovalState {
    /// Returns the word for the state.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved { .. } => "approved",
            Self::Denied { .. } => "denied",
            Self::Used { .. } => "used",
            Self::Lapsed { .. } => "lapsed",
        }
    }

    /// Returns the state after an event. An approval is used once, unless it was given for the session. Until then a
    /// person may change the answer either way; a denial by the policy is final.
    ///
    /// # Errors
    /// When the event cannot happen in this state.
    pub fn next(&self, event: &ApprovalEvent) -> Result<Self, Impossible> {
        let impossible = || Err(Impossible(self.word()));
        match (self, event) {
            (Self::Open, ApprovalEvent::Answered { answer: Answer::Approve(remember), by, at }) => {
                Ok(Self::Approved { by: by.clone(), at: *at, remember: *remember })
            }
            // A person may change the answer until the operation is carried out.
            (
                Self::Open | Self::Approved { .. },
                ApprovalEvent::Answered { answer: Answer::Deny(why), by, at },
            ) => Ok(Self::Denied { by: by.clone(), at: *at, why: why.clone() }),
            (
                Self::Denied { by: denier, .. },
                ApprovalEvent::Answered { answer: Answer::Approve(remember), by, at },
            ) if denier != BY_POLICY => Ok(Self::Approved { by: by.clone(), at: *at, remember: *remember }),
            (Self::Approved { remember: Remember::Session, .. }, ApprovalEvent::Used { .. }) => {
                Ok(self.clone())
            }
            (
                Self::Approved { by, at, remember: Remember::Once },
                ApprovalEvent::Used { task, at: used_at },
            ) => Ok(Self::Used { by: by.clone(), at: *at, used_at: *used_at, task: task.clone() }),
            (Self::Open | Self::Approved { remember: Remember::Once, .. }, ApprovalEvent::Lapsed { at }) => {
                Ok(Self::Lapsed { at: *at })
            }
            (Self::Open, ApprovalEvent::Used { .. })
            | (Self::Approved { .. }, ApprovalEvent::Answered { answer: Answer::Approve(_), .. })
            | (Self::Approved { remember: Remember::Session, .. }, ApprovalEvent::Lapsed { .. })
            | (Self::Denied { .. } | Self::Used { .. } | Self::Lapsed { .. }, _) => impossible(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    fn approve(remember: Remember) -> ApprovalEvent {
        ApprovalEvent::Answered { answer: Answer::Approve(remember), by: "user".to_owned(), at: at(1) }
    }

    fn deny() -> ApprovalEvent {
        ApprovalEvent::Answered { answer: Answer::Deny(String::new()), by: "user".to_owned(), at: at(2) }
    }

    fn used() -> ApprovalEvent {
        ApprovalEvent::Used { task: None, at: at(3) }
    }

    fn lapsed() -> ApprovalEvent {
        ApprovalEvent::Lapsed { at: at(4) }
    }

    /// The rules: only an approved request is used, a request is used twice only if it was approved for the session,
    /// and the states used and lapsed are final.
    #[test]
    fn every_sequence_of_events_keeps_the_approval_rules() {
        let events = [approve(Remember::Once), approve(Remember::Session), deny(), used(), lapsed()];
        let mut reached = vec![(ApprovalState::Open, false, 0)];
        for _ in 0..5 {
            let mut next = Vec::new();
            for (state, approved, uses) in &reached {
                for event in &events {
                    let Ok(after) = state.next(event) else { continue };
                    let approves = matches!(after, ApprovalState::Approved { .. });
                    let is_use = matches!(event, ApprovalEvent::Used { .. });
                    // A new approval allows one more use.
                    let uses = if approves && !is_use { 0 } else { uses + u32::from(is_use) };
                    if is_use {
                        assert!(*approved, "{state:?} {event:?}");
                        let for_session =
                            matches!(state, ApprovalState::Approved { remember: Remember::Session, .. });
                        assert!(uses == 1 || for_session, "{state:?}");
                    }
                    assert!(
                        !matches!(state, ApprovalState::Used { .. } | ApprovalState::Lapsed { .. }),
                        "{state:?} is final"
                    );
                    if matches!(state, ApprovalState::Denied { .. }) {
                        assert!(approves, "{state:?} {event:?}: only an approval can follow a denial");
                    }
                    next.push((after, *approved || approves, uses));
                }
            }
            reached = next;
        }
    }

    #[test]
    fn a_user_may_change_an_answer_until_it_is_used_but_not_a_policy_denial() {
        let approved = ApprovalState::Open.next(&approve(Remember::Once)).unwrap();
        assert_eq!(approved.next(&approve(Remember::Session)), Err(Impossible("approved")));
        let denied = approved.next(&deny()).unwrap();
        assert_eq!(denied.next(&deny()), Err(Impossible("denied")));
        assert_eq!(denied.next(&approve(Remember::Once)), Ok(approved.clone()));
        let by_policy = ApprovalState::Denied { by: BY_POLICY.to_owned(), at: at(2), why: String::new() };
        assert_eq!(by_policy.next(&approve(Remember::Once)), Err(Impossible("denied")));
        let spent = approved.next(&used()).unwrap();
        assert_eq!(spent.next(&used()), Err(Impossible("used")));
    }
}
