//! Opens a link in the user's browser.

use std::env;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;

use crate::render;

/// The program that knows the user's browser, unless `BROWSER` names one.
const OPENER: &str = "xdg-open";

/// Opens a link with the first program that can. The caller has printed the link, so a failure is reported but is no error.
///
/// It returns at once, because a browser may run in the foreground.
pub(crate) fn open(link: &str) {
    let link = link.to_owned();
    thread::spawn(move || {
        let named = env::var("BROWSER").unwrap_or_default();
        let mut programs: Vec<_> = named.split(':').filter(|program| !program.trim().is_empty()).collect();
        if programs.is_empty() {
            programs.push(OPENER);
        }
        let failures: Vec<_> = programs.iter().map_while(|program| open_with(program, &link).err()).collect();
        if failures.len() == programs.len() {
            render::note(&format!("no browser was opened: {}; open the link yourself", failures.join("; ")));
        }
    });
}

/// Opens a link with a program and its arguments. `%s` in them stands for the link.
fn open_with(program: &str, link: &str) -> Result<(), String> {
    let mut words: Vec<_> = program.split_whitespace().map(|word| word.replace("%s", link)).collect();
    if !program.contains("%s") {
        words.push(link.to_owned());
    }
    let name = words.remove(0);
    let mut command = Command::new(&name);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C ends the server, not the browser.
    let ended = command.process_group(0).status().map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("there is no program {name}"),
        _ => format!("cannot run {name}: {error}"),
    })?;
    if ended.success() { Ok(()) } else { Err(format!("{name} failed ({ended})")) }
}
