//! What may run: modes, rules, and who is asked. [`Session::start_checked`](crate::Session::start_checked) uses it.

pub use mw_policy::{
    ConfinementLevel, Decision, Dialect, EnvironmentGrant, Grant, Mode, NetworkGrant, ReadGrant, Reason,
    Rule, RuleError, RuleGrant, RuleOrigin, Rules, Tool, ToolClass, Verdict, WriteGrant,
};

pub use crate::approval::{ApprovalTimeouts, AskOutcome, Asker, Nobody, Policy};
