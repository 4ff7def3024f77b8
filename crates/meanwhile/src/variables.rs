//! The environment variables that meanwhile sets for tasks.

use mw_model::{
    CALLS_VARIABLE, EnvVar, PROGRESS_VARIABLE, SESSION_VARIABLE, TASK_VARIABLE, TRACEPARENT_VARIABLE,
    TRACESTATE_VARIABLE,
};

use crate::error::{Error, Result};

/// Marks the processes of a hook. Tasks that a hook starts do not inherit it.
pub(crate) const HOOK_RUN_VARIABLE: &str = "MEANWHILE_HOOK_RUN";

/// Variables that every start sets anew or removes. A command never sees the caller's values.
const RESERVED: [&str; 5] =
    [TASK_VARIABLE, SESSION_VARIABLE, CALLS_VARIABLE, PROGRESS_VARIABLE, HOOK_RUN_VARIABLE];
/// Variables that name the span of a start. The command gets the span of its run, or none.
const SPAN: [&str; 2] = [TRACEPARENT_VARIABLE, TRACESTATE_VARIABLE];

fn is_one_of(name: &[u8], names: &[&str]) -> bool {
    names.iter().any(|other| other.as_bytes() == name)
}

/// Returns whether every start sets this variable anew, whatever its value.
pub(crate) fn is_reserved(var: &EnvVar) -> bool {
    is_one_of(var.name.as_bytes(), &RESERVED)
}

/// Refuses variables that a call sets but its command would not get: an approval request would show values that are
/// not used. Inherited variables are replaced silently.
///
/// # Errors
/// When a name is reserved by meanwhile.
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
