//! Resolves a handle to a task.

use mw_model::{TaskId, TaskKind, Timestamp, long_handle, parse_short_handle};
use rusqlite::params;

use super::connection::Store;
use super::error::StoreError;
use super::filter::IS_KEEPER;
use super::query::task_id;
use super::write::ENDED;
use crate::task::Scope;

/// The most ids that an error about an ambiguous handle lists.
const NAMED: u32 = 6;
/// How many names a misspelt one is compared with.
const COMPARED: u32 = 500;
/// How many of the random characters of an id must be given to act on the task.
const ENOUGH: usize = 4;

/// How much of a task's id must be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// All of it, for models: an id, its eight characters, a handle, or a name.
    Exact,
    /// Also a prefix with at least [`ENOUGH`] of the random characters, for a person's command that acts on a task.
    Act,
    /// Also any other prefix, for a person's command that only reads.
    Look,
}

impl Naming {
    /// Returns whether a prefix is long enough.
    fn takes(self, beginning: &str, id: &TaskId) -> bool {
        let random = beginning.rsplit_once('-').map_or(beginning, |(_, random)| random);
        match self {
            Self::Exact => random == id.suffix(),
            Self::Act => random.len() >= ENOUGH,
            Self::Look => true,
        }
    }
}

impl Store {
    /// Returns the tasks that match a handle: one, unless it is unknown or ambiguous.
    ///
    /// The first interpretation that finds a task wins: the whole id, a handle, a name (of the newest task with it, a
    /// live one first), an id prefix. A task that keeps an agent alive is found only by its whole id, or within its
    /// session.
    pub(crate) fn resolve(
        &self,
        handle: &str,
        scope: &Scope,
        naming: Naming,
    ) -> Result<Vec<TaskId>, StoreError> {
        if let Ok(id) = handle.parse::<TaskId>() {
            return self.any_ids("id = ?2", id.as_str(), scope);
        }
        let ways = [
            self.by_number(handle, scope)?,
            self.by_time(handle, scope)?,
            self.by_name(handle, scope)?,
            self.by_beginning(handle, scope)?.into_iter().filter(|id| naming.takes(handle, id)).collect(),
        ];
        Ok(ways.into_iter().find(|found| !found.is_empty()).unwrap_or_default())
    }

    /// Returns the task with this short handle in a context of a session.
    pub(crate) fn in_context(
        &self,
        handle: &str,
        session: &str,
        context: &str,
    ) -> Result<Option<TaskId>, StoreError> {
        let sql = "SELECT id FROM tasks WHERE session = ?1 AND context = ?2 AND handle_number = ?3 AND kind = ?4 \
                   ORDER BY seq DESC LIMIT 1";
        let Some((kind, number)) = parse_short_handle(handle) else { return Ok(None) };
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        let values = params![session, context, number, kind.word()];
        Ok(self.rows(sql, values, |row| task_id(row, 0))?.pop())
    }

    /// Returns the live task of a session with this name.
    pub(crate) fn resolve_live_name(&self, session: &str, name: &str) -> Result<Option<TaskId>, StoreError> {
        let scope = Scope::Session(session.to_owned());
        Ok(self.ids(&format!("name = ?2 AND phase < {ENDED}"), name, &scope)?.into_iter().next())
    }

    /// Returns the task, of any session, whose eight characters or id prefix a name would hide.
    pub(crate) fn hidden_by(&self, name: &str) -> Result<Option<TaskId>, StoreError> {
        let found = self.by_beginning(name, &Scope::All)?;
        let begins = |id: &TaskId| name.contains('-') && id.as_str().starts_with(name);
        Ok(found.into_iter().find(|id| id.suffix() == name || begins(id)))
    }

    /// Returns the newest task that was started in a directory, or the newest that has not ended.
    pub(crate) fn latest_in(
        &self,
        directory: &str,
        scope: &Scope,
        is_live: bool,
    ) -> Result<Option<TaskId>, StoreError> {
        let condition = if is_live { format!("cwd = ?2 AND phase < {ENDED}") } else { "cwd = ?2".to_owned() };
        Ok(self.ids(&condition, directory, scope)?.into_iter().next())
    }

    /// Returns names of tasks, those of the newest tasks first.
    pub(crate) fn names(&self, scope: &Scope) -> Result<Vec<String>, StoreError> {
        let sql = format!(
            "SELECT name FROM tasks WHERE name IS NOT NULL AND (?1 IS NULL OR session = ?1) \
             ORDER BY seq DESC LIMIT {COMPARED}"
        );
        self.rows(&sql, params![scope.session()], |row| Ok(row.get(0)?))
    }

    fn ids(&self, condition: &str, value: &str, scope: &Scope) -> Result<Vec<TaskId>, StoreError> {
        self.any_ids(&format!("{condition} AND (?1 IS NOT NULL OR NOT {IS_KEEPER})"), value, scope)
    }

    fn any_ids(&self, condition: &str, value: &str, scope: &Scope) -> Result<Vec<TaskId>, StoreError> {
        let sql = format!(
            "SELECT id FROM tasks WHERE {condition} AND (?1 IS NULL OR session = ?1) ORDER BY seq DESC LIMIT {NAMED}"
        );
        self.rows(&sql, params![scope.session(), value], |row| task_id(row, 0))
    }

    /// Finds tasks by a short handle: `bash_3`.
    fn by_number(&self, handle: &str, scope: &Scope) -> Result<Vec<TaskId>, StoreError> {
        match parse_short_handle(handle) {
            Some((kind, number)) => self.ids(
                &format!(
                    "session IN (SELECT id FROM sessions) AND handle_number = ?2 AND kind = '{}'",
                    kind.word()
                ),
                &number.to_string(),
                scope,
            ),
            None => Ok(Vec::new()),
        }
    }

    /// Finds tasks by a long handle: `task_20260209_143022_pytest_k3f9`. The last part is optional.
    fn by_time(&self, handle: &str, scope: &Scope) -> Result<Vec<TaskId>, StoreError> {
        let Some((from, until)) = second_of(handle) else {
            return Ok(Vec::new());
        };
        // Any number of tasks may have been requested in one second.
        let sql = format!(
            "SELECT id, created_at, command FROM tasks WHERE created_at >= ?1 AND created_at < ?2 \
             AND iif(?3 IS NULL, NOT {IS_KEEPER}, session = ?3) ORDER BY seq DESC"
        );
        let mut query = self.connection.prepare_cached(&sql)?;
        let mut rows = query.query(params![from.as_micros(), until.as_micros(), scope.session()])?;
        let mut fitting = Vec::new();
        while let Some(row) = rows.next()? {
            let (id, created, command) = (task_id(row, 0)?, row.get(1)?, row.get::<_, String>(2)?);
            let spec = mw_model::CommandSpec::Shell { program: "sh".into(), script: command.into() };
            let whole = long_handle(Timestamp::from_micros(created), &spec.program_word(), &id);
            if whole == handle {
                return Ok(vec![id]);
            }
            let short = whole.rsplit_once('_').is_some_and(|(short, _)| short == handle);
            if short && fitting.len() < NAMED as usize {
                fitting.push(id);
            }
        }
        Ok(fitting)
    }

    fn by_name(&self, handle: &str, scope: &Scope) -> Result<Vec<TaskId>, StoreError> {
        let mut found = self.ids(&format!("name = ?2 AND phase < {ENDED}"), handle, scope)?;
        if found.is_empty() {
            found = self.ids("name = ?2", handle, scope)?;
            found.truncate(1);
        }
        Ok(found)
    }

    fn by_beginning(&self, handle: &str, scope: &Scope) -> Result<Vec<TaskId>, StoreError> {
        let plain = !handle.is_empty()
            && handle.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if !plain {
            return Ok(Vec::new());
        }
        let range = "id >= ?2 AND id < ?2 || '~'";
        let mut found = self.ids(range, handle, scope)?;
        for kind in TaskKind::ALL {
            if found.len() < NAMED as usize && !handle.contains('-') {
                let more = self.ids(range, &format!("{}-{handle}", kind.prefix()), scope)?;
                // `b` is a prefix of both `bash-b…` and its random part.
                found.extend(more.into_iter().filter(|id| !id.as_str().starts_with(handle)));
            }
        }
        Ok(found)
    }
}

/// Returns the second that a long handle names.
fn second_of(handle: &str) -> Option<(Timestamp, Timestamp)> {
    let rest = handle.strip_prefix("task_")?;
    let (date, clock) = (rest.get(..8)?, rest.get(9..15)?);
    let text = format!(
        "{}-{}-{}T{}:{}:{}Z",
        date.get(..4)?,
        date.get(4..6)?,
        date.get(6..8)?,
        clock.get(..2)?,
        clock.get(2..4)?,
        clock.get(4..6)?
    );
    let from: Timestamp = text.parse().ok()?;
    Some((from, from.plus_ms(1000)))
}
