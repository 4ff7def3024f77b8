//! The filter and order of a task list.

use meanwhile::engine::{Clock, SystemClock};
use meanwhile::model::{Status, Timestamp};
use meanwhile::{ListOrder, Scope, TaskFilter};

/// Selects and orders the tasks of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Query {
    /// If set, only tasks of this session are listed.
    pub session: Option<String>,
    /// If set, only tasks of this batch are listed.
    pub batch: Option<String>,
    /// Only tasks in these states are listed.
    pub states: States,
    /// Only tasks that contain this text are listed.
    pub text: String,
    /// The order of the tasks.
    pub sort: Sort,
    /// Whether the order is reversed.
    pub is_reversed: bool,
}

impl Query {
    /// Returns whether the query has a filter.
    #[must_use]
    pub fn has_filter(&self) -> bool {
        self.session.is_some() || self.batch.is_some() || self.states != States::Any || !self.text.is_empty()
    }

    /// Returns a word for the order.
    #[must_use]
    pub const fn order_word(&self) -> &'static str {
        match (self.sort, self.is_reversed) {
            (Sort::State, _) => "state",
            (Sort::Newest, false) => "newest",
            (Sort::Newest, true) => "oldest",
            (Sort::Longest, false) => "longest",
            (Sort::Longest, true) => "shortest",
            (Sort::Name, false) => "name",
            (Sort::Name, true) => "name z-a",
            (Sort::Cpu, false) => "cpu",
            (Sort::Cpu, true) => "least cpu",
            (Sort::Memory, false) => "memory",
            (Sort::Memory, true) => "least memory",
        }
    }
}

/// A filter by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum States {
    /// All tasks.
    #[default]
    Any,
    /// Tasks that have not ended.
    Live,
    /// Tasks in this state.
    Only(Status),
}

/// The order of a list. Live tasks always come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sort {
    /// Running tasks first, then queued ones, then recently failed ones, then all others.
    #[default]
    State,
    /// Newest tasks first.
    Newest,
    /// Tasks with the longest duration first.
    Longest,
    /// Alphabetical by name.
    Name,
    /// Tasks with the highest CPU usage first.
    Cpu,
    /// Tasks with the highest memory usage first.
    Memory,
}

impl Sort {
    /// All orders, in the sequence of the key that changes them.
    pub const ALL: [Self; 6] =
        [Self::State, Self::Newest, Self::Longest, Self::Name, Self::Cpu, Self::Memory];
}

/// The time for which a failed task is listed before other ended tasks.
const RECENT_FAILURE_US: i64 = 3_600_000_000;

/// Returns the default order of task lists for people.
#[must_use]
pub const fn by_state(now: Timestamp) -> ListOrder {
    ListOrder::ByState {
        failed_since: Timestamp::from_micros(now.as_micros().saturating_sub(RECENT_FAILURE_US)),
    }
}

/// Converts the query to a filter of the library.
pub(crate) fn filter(query: &Query, scope: &Scope) -> TaskFilter {
    let scope = match (scope, &query.session) {
        (Scope::All, Some(session)) => Scope::Session(session.clone()),
        (scope, _) => scope.clone(),
    };
    let statuses = match query.states {
        States::Any => Vec::new(),
        States::Live => Status::ALL.into_iter().filter(|status| !status.is_terminal()).collect(),
        States::Only(status) => vec![status],
    };
    let order = match (query.sort, query.is_reversed) {
        (Sort::State, _) => by_state(SystemClock.now()),
        (Sort::Newest, true) => ListOrder::Oldest,
        (Sort::Newest | Sort::Cpu | Sort::Memory, _) => ListOrder::Newest,
        (Sort::Longest, false) => ListOrder::Longest,
        (Sort::Longest, true) => ListOrder::Shortest,
        (Sort::Name, false) => ListOrder::Name,
        (Sort::Name, true) => ListOrder::NameDown,
    };
    let text = (!query.text.is_empty()).then(|| query.text.clone());
    TaskFilter { statuses, order, text, batch: query.batch.clone(), ..TaskFilter::new(scope) }
}
