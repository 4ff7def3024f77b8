//! Which tasks a screen asks for, and in which order.

use meanwhile::Order;
use meanwhile::model::Timestamp;

/// For how long a failure stands before other ended tasks.
const LATELY_US: i64 = 3_600_000_000;

/// Returns the order in which people are shown tasks.
#[must_use]
pub const fn by_state(now: Timestamp) -> Order {
    Order::ByState { failed_since: Timestamp::from_micros(now.as_micros().saturating_sub(LATELY_US)) }
}
