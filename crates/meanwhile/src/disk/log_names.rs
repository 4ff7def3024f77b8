//! The second name that some dialects give a task, or its log, outside its directory.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use mw_model::wire::LOG_FILE;
use mw_model::{TaskId, short_handle, task_log_name};

use crate::disk::home::Home;
use crate::error::{Error, Result};
use crate::task::Task;

/// The subdirectory of a session with the second names of its logs.
const LOGS: &str = "tasks";

/// Removes a task's second name if it is dangling, because a task that never ran has no log. The next run creates it
/// again.
pub(crate) fn drop_empty_name(home: &Home, task: &Task) {
    let link = task.dialect.link(task).map(|(name, _)| home.tasks().join(name));
    if let Some(link) = link.filter(|link| link.is_symlink() && !link.exists()) {
        let _ = fs::remove_file(link);
    }
}

/// Gives the log of a task a second name, if its dialect has one. It is next to the task's directory or, for a task
/// with a context, in the session's directory, where it consists of the short handle and the context's start. No two
/// tasks share a name. If the link cannot be created, the log has only its first name.
pub(crate) fn link_log(home: &Home, task: &Task) {
    link_name(home, task);
    let Some((handle, context)) = task.handle_number.zip(task.context.as_deref()) else { return };
    let handle = short_handle(task.kind, handle);
    let directory = home.session(&task.session).path().join(LOGS);
    let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory);
    let log = home.task(&task.id).log();
    for clashes in 0.. {
        let link = directory.join(task_log_name(&handle, context, clashes));
        match symlink(&log, &link) {
            Err(error)
                if error.kind() == ErrorKind::AlreadyExists
                    && fs::read_link(&link).is_ok_and(|linked| linked != log) => {}
            _ => return,
        }
    }
}

/// Creates a task's second name, if its dialect has one.
pub(crate) fn link_name(home: &Home, task: &Task) {
    // A foreground task is gone before its name would be needed.
    if let Some((name, file)) = task.dialect.link(task).filter(|_| task.handle_number.is_some()) {
        let _ = link_beside(home, task, &name, file);
    }
}

/// Gives a task, or one of its files, a second name next to its directory. Returns that path.
///
/// # Errors
/// When the name is taken, or the link cannot be created.
pub(crate) fn link_beside(home: &Home, task: &Task, name: &str, file: Option<&str>) -> Result<PathBuf> {
    let failed = |error| Error::io(format!("cannot give {} the name {name}", task.id))(error);
    let target = file.map_or_else(|| task.id.to_string(), |file| format!("{}/{file}", task.id));
    let link = home.tasks().join(name);
    match symlink(&target, &link) {
        Ok(()) => Ok(link),
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(failed(error)),
        Err(error) => match fs::read_link(&link) {
            Ok(known) if known == Path::new(&target) => Ok(link),
            Ok(_) | Err(_) => Err(failed(error)),
        },
    }
}

/// Returns the path of a task's current output, by the name that it has or will have in the background. A foreground
/// task gets that name here.
#[must_use]
pub(crate) fn name_log(home: &Home, task: &Task) -> PathBuf {
    if let Some((name, file)) = task.dialect.link(task).filter(|_| task.started_at.is_some()) {
        let _ = link_beside(home, task, &name, file);
    }
    log_of(home, task)
}

/// Returns the path of a task's current output, by the name that its start reported.
#[must_use]
pub(crate) fn log_of(home: &Home, task: &Task) -> PathBuf {
    let log = home.task(&task.id).log();
    if let Some((name, file)) = task.dialect.link(task) {
        let link = home.tasks().join(name);
        let is_there = link.is_symlink();
        return match file {
            Some(_) if is_there => link,
            None if is_there => link.join(LOG_FILE),
            Some(_) | None => log,
        };
    }
    let Some((number, context)) = task.handle_number.zip(task.context.as_deref()) else { return log };
    let handle = short_handle(task.kind, number);
    let linked_in = |session: PathBuf| {
        let names = (0..).map(|clashes| session.join(LOGS).join(task_log_name(&handle, context, clashes)));
        let mut links = names.map_while(|link| Some((fs::read_link(&link).ok()?, link)));
        links.find(|(linked, _)| *linked == log).map(|(_, link)| link)
    };
    let own = linked_in(home.session(&task.session).path().to_owned());
    // A reassigned task has its name in the session where it was started.
    let elsewhere = || {
        let sessions = fs::read_dir(home.sessions()).into_iter().flatten().flatten();
        sessions.map(|session| session.path()).find_map(linked_in)
    };
    own.or_else(elsewhere).unwrap_or(log)
}

/// Removes the second names of logs whose tasks were removed, in all sessions. If a name cannot be removed, it is a
/// dangling link, and the next removal tries again.
pub(crate) fn sweep_log_names(home: &Home) {
    // A link instead of a directory leads to files that are not ours.
    let entries = |directory: &Path| {
        let is_ours = fs::symlink_metadata(directory).is_ok_and(|found| found.is_dir());
        let entries = is_ours.then(|| fs::read_dir(directory).ok()).flatten();
        entries.into_iter().flatten().flatten()
    };
    // A queued task has a directory but no log yet.
    let is_gone = |task: &Path| {
        let is_task = || fs::canonicalize(task.parent()?).ok().zip(fs::canonicalize(home.tasks()).ok());
        fs::symlink_metadata(task).is_err() && is_task().is_some_and(|(one, other)| one == other)
    };
    for session in entries(&home.sessions()) {
        for name in entries(&session.path()).filter(|entry| entry.file_name() == LOGS) {
            for name in entries(&name.path()) {
                if fs::read_link(name.path()).is_ok_and(|log| log.parent().is_some_and(is_gone)) {
                    let _ = fs::remove_file(name.path());
                }
            }
        }
    }
    let tasks = home.tasks();
    // The directory listing shows which entries are links; most are not.
    for name in entries(&tasks).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink())) {
        let target = fs::read_link(name.path()).ok();
        let task = target.as_deref().and_then(|target| target.components().next()?.as_os_str().to_str());
        let task = task.and_then(|task| task.parse::<TaskId>().ok());
        if task.is_some_and(|task| !home.task(&task).exists()) {
            let _ = fs::remove_file(name.path());
        }
    }
}
