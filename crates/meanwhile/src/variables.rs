//! The variables of a task's environment that belong to meanwhile.

use mw_model::{EnvVar, PROGRESS_VARIABLE, TRACEPARENT_VARIABLE, TRACESTATE_VARIABLE};

use crate::error::{Error, Result};
use crate::notify::hook_run::HOOK_RUN_VARIABLE;

/// Names the task to its command.
pub(crate) const TASK_VARIABLE: &str = "MEANWHILE_TASK_ID";
/// Names the session of the task to its command.
pub(crate) const SESSION_VARIABLE: &str = "MEANWHILE_TASK_SESSION";

/// Variables that every start sets anew or removes: a command never finds what its caller had in them.
const RESERVED: [&str; 4] = [TASK_VARIABLE, SESSION_VARIABLE, PROGRESS_VARIABLE, HOOK_RUN_VARIABLE];
/// Variables that say which span a start belongs to. The command finds the span of its run there, or nothing.
const SPAN: [&str; 2] = [TRACEPARENT_VARIABLE, TRACESTATE_VARIABLE];

fn is_one_of(name: &[u8], names: &[&str]) -> bool {
    names.iter().any(|other| other.as_bytes() == name)
}

/// Tells whether a start sets a variable anew, whatever its caller has in it.
pub(crate) fn is_reserved(var: &EnvVar) -> bool {
    is_one_of(var.name.as_bytes(), &RESERVED)
}

/// Refuses variables that a call sets for a command and that the command would not find: a question about the call
/// would show a value that is not used. What a caller merely inherits is replaced without a word.
///
/// # Errors
/// When one of the names belongs to meanwhile.
pub fn check_set_variables<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> Result<()> {
    for name in names {
        check_not_reserved(name)?;
        if is_one_of(name, &SPAN) {
            let name = String::from_utf8_lossy(name);
            return Err(Error::invalid(
                format!("{name} cannot be set for a task: it holds the span of the task's own run"),
                "omit it; the parent span comes from the environment of the program that starts the task",
            ));
        }
    }
    Ok(())
}

/// Refuses a variable that every start sets anew.
pub(crate) fn check_not_reserved(name: &[u8]) -> Result<()> {
    if !is_one_of(name, &RESERVED) {
        return Ok(());
    }
    let name = String::from_utf8_lossy(name);
    Err(Error::invalid(
        format!("{name} cannot be set for a task: meanwhile sets it"),
        "omit it, or choose another name",
    ))
}
