//! The name that some dialects give a task, or its log, beside its directory.

use std::fs;

use mw_model::Link;

use super::home::Home;
use crate::task::Task;

/// Takes away the name that a task has beside its directory where it leads to nothing: what never ran has no log. A further
/// run gets it again.
pub(crate) fn drop_empty_name(home: &Home, task: &Task) {
    let link = name_beside(task).map(|(name, _)| home.tasks().join(name));
    if let Some(link) = link.filter(|link| link.is_symlink() && !link.exists()) {
        let _ = fs::remove_file(link);
    }
}

/// Returns the name that a task has beside its directory where its dialect has one, and for which of its files; none is
/// the directory itself.
pub(crate) fn name_beside(task: &Task) -> Option<Link> {
    task.dialect.link(task)
}
