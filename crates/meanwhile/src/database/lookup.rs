//! Finds a task by id, handle or name.

use mw_model::TaskId;

use super::stores::Database;
use crate::disk::store::Naming;
use crate::error::{Error, Result};
use crate::task::{Scope, Task};

/// Finds a task by id, handle or name.
#[derive(Clone, Copy)]
pub struct Lookup<'base> {
    database: &'base Database,
}

impl<'base> Lookup<'base> {
    pub(crate) const fn on(database: &'base Database) -> Self {
        Self { database }
    }
}

impl Lookup<'_> {
    /// Finds the one task that a person wants to look at: by its id or any prefix of it, a handle, or a name.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn resolve(&self, handle: &str, scope: &Scope) -> Result<TaskId> {
        self.resolve_as(handle, scope, Naming::Look)
    }

    /// Finds the one task that a person wants to act on: a prefix of its id must include four of its random
    /// characters.
    ///
    /// # Errors
    /// As [`Lookup::resolve`](crate::engine::Lookup::resolve). A prefix that is too short is refused, and the error
    /// lists the matching tasks.
    pub fn resolve_to_act(&self, handle: &str, scope: &Scope) -> Result<TaskId> {
        match self.resolve_as(handle, scope, Naming::Act) {
            Err(Error::NotFound(_)) => {
                let fitting = self.database.store()?.resolve(handle, scope, Naming::Look)?;
                if fitting.is_empty() {
                    return Err(Error::NotFound(handle.to_owned()));
                }
                let fitting: Vec<_> = fitting.iter().map(ToString::to_string).collect();
                Err(Error::invalid(
                    format!("{handle:?} is too short: it matches {}", fitting.join(", ")),
                    "use at least four characters after the dash, the whole id, or the name",
                ))
            }
            other => other,
        }
    }

    /// Finds the one task that a model refers to: by its full id, a handle or a name, never by a prefix.
    ///
    /// # Errors
    /// As [`Lookup::resolve`](crate::engine::Lookup::resolve).
    pub fn resolve_exact(&self, handle: &str, scope: &Scope) -> Result<TaskId> {
        self.resolve_as(handle, scope, Naming::Exact)
    }

    /// Finds the newest task that was started in this directory; with `live_first`, the newest that has not ended, if
    /// there is one.
    ///
    /// # Errors
    /// When the database fails.
    pub fn latest_in(&self, directory: &str, scope: &Scope, live_first: bool) -> Result<Option<TaskId>> {
        let find = |is_live| {
            self.database.healing(|| Ok(self.database.store()?.latest_in(directory, scope, is_live)?))
        };
        match if live_first { find(true)? } else { None } {
            Some(live) => Ok(Some(live)),
            None => find(false),
        }
    }

    /// Returns names of tasks, those of the newest tasks first, for suggestions.
    ///
    /// # Errors
    /// When the database fails.
    pub fn names(&self, scope: &Scope) -> Result<Vec<String>> {
        Ok(self.database.store()?.names(scope)?)
    }

    fn resolve_as(&self, handle: &str, scope: &Scope, naming: Naming) -> Result<TaskId> {
        // A full id needs no search in an unrestricted scope.
        if let (Scope::All, Ok(id)) = (scope, handle.parse::<TaskId>())
            && self.database.home.task(&id).has_spec()?
            && self.database.home.task(&id).refuse_foreign().is_ok()
        {
            return Ok(id);
        }
        let mut found =
            self.database.healing(|| Ok(self.database.store()?.resolve(handle, scope, naming)?))?;
        match found.len() {
            0 => self.resolve_damaged(handle, scope),
            1 => Ok(found.swap_remove(0)),
            _ => Err(Error::Ambiguous {
                handle: handle.to_owned(),
                found: found.iter().map(ToString::to_string).collect(),
            }),
        }
    }

    /// The owner of an unreadable task is unknown, so only an unrestricted scope finds it, by its full id.
    fn resolve_damaged(&self, handle: &str, scope: &Scope) -> Result<TaskId> {
        let found = match (scope, handle.parse::<TaskId>()) {
            (Scope::All, Ok(id)) => self.database.damage(&id)?.map(|error| (id, error)),
            (Scope::All | Scope::Session(_), _) => None,
        };
        match found {
            Some((_, foreign @ Error::Foreign { .. })) => Err(foreign),
            Some((id, _)) => Ok(id),
            None => Err(Error::NotFound(handle.to_owned())),
        }
    }
}

impl Database {
    /// Returns a task as it is in the database.
    pub(crate) fn stored(&self, id: &TaskId) -> Result<Task> {
        match self.healing(|| Ok(self.store()?.task(id)?))? {
            Some(task) => Ok(task),
            None => Err(self.damage(id)?.unwrap_or_else(|| Error::NotFound(id.to_string()))),
        }
    }
}
