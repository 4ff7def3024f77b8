//! Settings of the policy and of approval requests.

use super::DAY_MS;
use crate::config::accepts::Accepts;
use crate::config::setting::{InProject, Setting, setting};

pub(super) static SETTINGS: [Setting; 4] = [
    setting!(
        "policy.ci_reads",
        Accepts::Flag,
        InProject::Nothing,
        policy.ci_reads,
        "whether read-only tools are allowed in mode ci"
    ),
    setting!(
        "policy.writable",
        Accepts::Lines,
        InProject::Nothing,
        policy.writable,
        "directories besides the project that commands may write to without approval"
    ),
    setting!(
        "approval.wait",
        Accepts::Duration { most: DAY_MS },
        InProject::Nothing,
        policy.patience.wait,
        "how long a call waits for approval if nobody is known to be present"
    ),
    setting!(
        "approval.keep",
        Accepts::Duration { most: DAY_MS },
        InProject::Nothing,
        policy.patience.keep,
        "how long an approval request can be answered and an approval used after the call has ended"
    ),
];
