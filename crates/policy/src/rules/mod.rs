//! Rules in settings.
//!
//! A `rule` matches commands by their words. `*` in a word stands for any characters, and a last word `...` for any
//! further words. A rule that allows a command removes the findings of the built-in rules for it. A rule that asks or
//! denies adds a decision, and the strictest decision wins.
//!
//! `rule_set` has all of them, `checked_rule` decides what one of them is about, and `rule_grant` is what it grants.

mod checked_rule;
mod rule;
mod rule_grant;
mod rule_set;

pub(crate) use checked_rule::RuleContext;
pub use rule::{Rule, RuleError, RuleOrigin};
pub use rule_grant::RuleGrant;
pub use rule_set::Rules;
