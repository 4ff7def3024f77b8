//! Refuses requests that could never run, before anything is changed.

use std::fs;

use mw_model::CommandSpec;

use crate::due;
use crate::error::{Error, Invalid, Result};
use crate::launch::backend::check_backend;
use crate::live::ready;
use crate::request::{TaskRequest, check_session_name};
use crate::settings::BackendSettings;

/// The last year that a timestamp in a record can have.
const LAST_YEAR: i64 = 9999;

/// Refuses a request that could never run.
pub(super) fn check(request: &TaskRequest, backends: &BackendSettings) -> Result<()> {
    check_command(request, backends)?;
    request.schedule.repeat.as_ref().map_or(Ok(()), |repeat| due::check(&repeat.due))?;
    request.ready.as_ref().map_or(Ok(()), ready::check)
}

/// Like [`check`], for a request that is not repeated and has no readiness condition. The small executable has neither the
/// calendar nor regular expressions.
pub(super) fn check_command(request: &TaskRequest, backends: &BackendSettings) -> Result<()> {
    check_session_name(&request.session)?;
    let invalid = |message: &str, hint: &str| Err(Error::invalid(message, hint));
    refuse_bad_command(&request.command)?;
    let argv = request.command.argv();
    let texts = argv.iter().chain(request.env.iter().flat_map(|var| [&var.name, &var.value]));
    if texts.into_iter().any(|text| text.as_bytes().contains(&0)) {
        return invalid(
            "the command or its environment contains a NUL byte",
            "remove it: programs cannot receive NUL bytes",
        );
    }
    let is_odd = |name: &[u8]| name.is_empty() || name.contains(&b'=');
    if let Some(odd) = request.env.iter().find(|var| is_odd(var.name.as_bytes())) {
        return invalid(
            &format!("{:?} is not the name of a variable", odd.name.to_lossy()),
            "a name is not empty and has no =",
        );
    }
    if let Some(group) = request.group.as_ref().filter(|group| !group.is_valid()) {
        return invalid(
            &format!("the group {:?} with {} slots is not valid", group.name, group.max),
            "use up to 40 letters, digits, -, _ and ., and from 1 to 10000 slots",
        );
    }
    if let Some(name) = &request.name {
        let odd = name.trim().is_empty() || name.len() > 100 || name.chars().any(char::is_control);
        if odd {
            return invalid(&format!("the name {name:?} is not valid"), "use up to 100 printable characters");
        }
        if mw_model::looks_like_handle(name) {
            return invalid(
                &format!("the name {name:?} looks like an id or a handle"),
                "choose a name unlike bash-k3f9x2ab, bash_1 or task_20260209_143022",
            );
        }
    }
    if request.limits.deadline.is_some_and(|deadline| deadline.civil().0 > LAST_YEAR) {
        return Err(Error::Invalid(Invalid::Deadline { last_year: LAST_YEAR }));
    }
    if request.schedule.not_before.is_some_and(|at| at.civil().0 > LAST_YEAR) {
        return invalid("the time of the start is too far away", "choose an earlier one");
    }
    if request.limits.output_cap > 0 && request.limits.output_cap < 512 {
        return invalid("an output cap must be at least 512 bytes", "use 512 or more, or 0 for none");
    }
    if let Err(wrong) = request.limits.resources.check() {
        return Err(Error::Invalid(Invalid::Limit(wrong)));
    }
    check_directory(request)?;
    check_backend(request, &backends.driver)
}

fn check_directory(request: &TaskRequest) -> Result<()> {
    let refuse =
        |why: &str| Error::Invalid(Invalid::Directory { path: request.cwd.clone(), why: why.to_owned() });
    match fs::metadata(&request.cwd) {
        Ok(found) if !found.is_dir() => Err(refuse("is not a directory")),
        Ok(_) if rustix::fs::access(&request.cwd, rustix::fs::Access::EXEC_OK).is_err() => {
            Err(refuse("is not accessible"))
        }
        Ok(_) => Ok(()),
        Err(error) => Err(refuse(&format!("cannot be used: {error}"))),
    }
}

/// Refuses a command that is empty, has a NUL byte, or is a script with an unclosed quote.
pub(super) fn refuse_bad_command(command: &CommandSpec) -> Result<()> {
    let blank = match command {
        CommandSpec::Shell { script, .. } => script.to_lossy().trim().is_empty(),
        CommandSpec::Argv(words) => words.first().is_none_or(|word| word.as_bytes().is_empty()),
    };
    if blank {
        return Err(Error::Invalid(Invalid::EmptyCommand));
    }
    if command.argv().iter().any(|text| text.as_bytes().contains(&0)) {
        return Err(Error::invalid(
            "the command contains a NUL byte",
            "remove it: programs cannot receive NUL bytes",
        ));
    }
    if let CommandSpec::Shell { script, .. } = command
        && let Some(quote) = mw_model::unclosed_quote(&script.to_lossy())
    {
        let message = format!("the script has an unclosed {quote}");
        return Err(Error::invalid(message, "close the quote, or escape it with a backslash"));
    }
    Ok(())
}
