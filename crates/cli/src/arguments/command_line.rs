//! The command to start, at the end of the command line of `start` and `run`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use clap::ArgMatches;

/// The id of the argument that holds the words of the command.
pub(super) const COMMAND_WORDS: &str = "command";

/// The option that says what `--` said.
pub(crate) const NO_SHELL: &str = "--no-shell";

/// Returns the number of words of the command to start.
pub(crate) fn command_words(matches: &ArgMatches) -> usize {
    matches.try_get_many::<OsString>(COMMAND_WORDS).ok().flatten().map_or(0, |words| words.len())
}

/// Reorders a command line so that it ends with the words of the command; none if it already does.
///
/// Options that follow a quoted script move before it. Behind a program they belong to the program. A single word after
/// `--` is a program; an option says so, because clap removes the `--`.
pub(crate) fn command_last(all: &[OsString], matches: &ArgMatches) -> Option<Vec<OsString>> {
    let words: Vec<&OsString> = matches.try_get_many(COMMAND_WORDS).ok()??.collect();
    let (first, options) = words.split_first()?;
    let (before, _) = all.split_at_checked(all.len().checked_sub(words.len())?)?;
    let (last, earlier) = before.split_last()?;
    let is_escaped = last == "--";
    let is_script = first.as_bytes().iter().any(u8::is_ascii_whitespace);
    match options {
        [] if is_escaped && !matches.get_flag("no_shell") => {
            let no_shell = OsString::from(NO_SHELL);
            Some(earlier.iter().chain([&no_shell, last, *first]).cloned().collect())
        }
        [_, ..] if is_script && !is_escaped => {
            Some(before.iter().chain(options.iter().copied()).chain([*first]).cloned().collect())
        }
        _ => None,
    }
}
