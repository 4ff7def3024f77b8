//! Which tasks to list, and in which order.

use mw_model::{Status, TaskKind, Timestamp};
use rusqlite::types::ToSql;

use crate::task::{Scope, Task};

/// Matches the rows of tasks that keep an agent alive, by the form of
/// [`keeper_session`](crate::disk::session_dir::agent_sessions::keeper_session).
pub(super) const IS_KEEPER: &str = "session GLOB 'agent-????????:keeper'";

/// Which tasks to list.
#[derive(Clone, Debug)]
pub struct TaskFilter {
    /// The tasks that the caller may see.
    pub scope: Scope,
    /// In these states; empty = any.
    pub statuses: Vec<Status>,
    /// Of this kind.
    pub kind: Option<TaskKind>,
    /// Of this batch.
    pub batch: Option<String>,
    /// With this name.
    pub name: Option<String>,
    /// With this text in id, name, description, command, session or batch, ignoring case.
    pub text: Option<String>,
    /// Also the tasks that keep agents alive between two messages. Without this, they are listed only in their own
    /// session.
    pub internal: bool,
    /// The order of the list.
    pub order: ListOrder,
    /// How many tasks to skip.
    pub offset: u32,
    /// How many tasks to return at most.
    pub limit: u32,
}

/// The order of a list. Live tasks always come before ended ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListOrder {
    /// Newest requests first.
    #[default]
    Newest,
    /// Oldest requests first.
    Oldest,
    /// Longest duration first.
    Longest,
    /// Shortest duration first.
    Shortest,
    /// By name, or else description, or else command.
    Name,
    /// Like `Name`, in reverse.
    NameDown,
    /// Running tasks, newest first; then queued tasks, in queue order; then recent failures; then the other ended
    /// tasks, newest first.
    ByState {
        /// Failures at or after this time are recent.
        failed_since: Timestamp,
    },
}

impl TaskFilter {
    /// Returns a filter for all tasks in scope, newest first.
    #[must_use]
    pub const fn new(scope: Scope) -> Self {
        Self {
            scope,
            statuses: Vec::new(),
            kind: None,
            batch: None,
            name: None,
            text: None,
            internal: false,
            order: ListOrder::Newest,
            offset: 0,
            limit: 50,
        }
    }

    /// Returns whether every task in scope matches, except keepers.
    pub(super) const fn is_whole_scope(&self) -> bool {
        let Self { scope: _, statuses, kind, batch, name, text, internal: _, order: _, offset: _, limit: _ } =
            self;
        statuses.is_empty() && kind.is_none() && batch.is_none() && name.is_none() && text.is_none()
    }

    /// Returns whether tasks that keep agents alive are left out.
    pub(super) fn hides_keepers(&self) -> bool {
        !self.internal && self.scope == Scope::All
    }
}

/// Part of a list.
#[derive(Clone, Debug)]
pub struct TaskPage {
    /// Live tasks first, then the newest.
    pub tasks: Vec<Task>,
    /// How many tasks match the filter in all.
    pub total: u64,
    /// How many of those have not ended.
    pub live: u64,
}

/// Returns the order as SQL. `by_age` is the column that the index follows.
pub(super) fn order_sql(order: ListOrder, by_age: &str) -> String {
    match order {
        ListOrder::Newest | ListOrder::ByState { .. } => format!("{by_age} DESC"),
        ListOrder::Oldest => by_age.to_owned(),
        // For a running task only the start is known: the oldest has run longest.
        ListOrder::Longest => format!("duration_ms DESC, {by_age}"),
        ListOrder::Shortest => format!("duration_ms, {by_age} DESC"),
        ListOrder::Name => format!("lower(coalesce(name, description, command)), {by_age} DESC"),
        ListOrder::NameDown => format!("lower(coalesce(name, description, command)) DESC, {by_age}"),
    }
}

/// Returns a task's title, as the database compares it.
pub(super) fn title(task: &Task) -> String {
    let title = task.name.as_ref().or(task.description.as_ref()).unwrap_or(&task.command);
    title.to_ascii_lowercase()
}

/// Returns the conditions of a filter as SQL, and their values.
pub(super) fn conditions(filter: &TaskFilter) -> (String, Vec<Box<dyn ToSql>>) {
    let mut clause = String::new();
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    let mut add = |column: &str, value: Box<dyn ToSql>| {
        values.push(value);
        clause.push_str(&format!(" AND {column} = ?{}", values.len()));
    };
    if let Scope::Session(session) = &filter.scope {
        add("session", Box::new(session.clone()));
    }
    if let Some(kind) = filter.kind {
        add("kind", Box::new(kind.word()));
    }
    if let Some(batch) = &filter.batch {
        add("batch", Box::new(batch.clone()));
    }
    if let Some(name) = &filter.name {
        add("name", Box::new(name.clone()));
    }
    if let Some(text) = &filter.text {
        values.push(Box::new(format!("%{}%", escaped(text))));
        let index = values.len();
        let columns = ["id", "name", "description", "command", "session", "batch"];
        let any = columns.map(|column| format!("{column} LIKE ?{index} ESCAPE '\\'")).join(" OR ");
        clause.push_str(&format!(" AND ({any})"));
    }
    if !filter.statuses.is_empty() {
        let words: Vec<_> = filter.statuses.iter().map(|status| format!("'{}'", status.word())).collect();
        clause.push_str(&format!(" AND status IN ({})", words.join(",")));
    }
    if filter.hides_keepers() {
        clause.push_str(&format!(" AND NOT {IS_KEEPER}"));
    }
    (clause, values)
}

/// Escapes a text for `LIKE`.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::session_dir::agent_sessions::keeper_session;
    use crate::disk::session_dir::agent_sessions::kept_agent;
    use crate::disk::store::{Opened, Store};

    #[test]
    fn sql_and_rust_recognise_the_same_keeper_sessions() {
        let home = tempfile::tempdir().unwrap();
        let Ok(Opened::Behind(store, _)) = Store::open(&home.path().join("meanwhile.db")) else {
            panic!("expected a new database that needs migration")
        };
        let is_keeper = |session: &str| {
            let sql = format!("SELECT {IS_KEEPER} FROM (SELECT ?1 AS session)");
            store.connection.query_row(&sql, [session], |row| row.get::<_, bool>(0)).unwrap()
        };
        let agent = mw_model::TaskId::from_random(TaskKind::Agent, 7);
        assert!(is_keeper(&keeper_session(&agent)));
        assert_eq!(kept_agent(&keeper_session(&agent)), Some(agent.clone()));
        for other in ["default", "project:/keeper", "x:keeper", "bash-k3f9x2ab:keeper", agent.as_str()] {
            assert!(!is_keeper(other) && kept_agent(other).is_none(), "{other}");
        }
    }
}
