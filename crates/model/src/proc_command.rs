//! What `/proc` says about the program of a process: which processes belong to meanwhile, and a command line for people.

use crate::wire::SUPERVISOR_NAME;

/// The maximum length of a command line for people, in characters.
const MAX_SHOWN: usize = 80;

/// Returns whether a process is a supervisor of any version, or the `mw settle` that a supervisor has started or become.
///
/// `executable` is the file name that `/proc/<pid>/exe` shows. `name` reads the process's name, which tells a supervisor from a
/// command that it has forked but not executed yet. `words` reads the command line.
///
/// # Errors
/// Those of reading.
pub fn is_own_process<E>(
    executable: &[u8],
    name: impl FnOnce() -> Result<Vec<u8>, E>,
    words: impl FnOnce() -> Result<Vec<u8>, E>,
) -> Result<bool, E> {
    let is_supervisor = |name: Vec<u8>| name.trim_ascii_end() == SUPERVISOR_NAME.as_bytes();
    let settles = |words: Vec<u8>| words.split(|byte| *byte == 0).nth(1) == Some(b"settle");
    // An upgrade may have deleted the executable of a running process.
    Ok(match executable.strip_suffix(b" (deleted)").unwrap_or(executable) {
        b"mw-supervisor" => is_supervisor(name()?),
        // `mw` forks the supervisor of a task that it starts.
        b"mw" => is_supervisor(name()?) || settles(words()?),
        b"mw-engine" | b"mw-surfaces" => settles(words()?),
        _ => false,
    })
}

/// Returns whether the environment of a process, as `/proc/<pid>/environ` shows it, contains this entry.
#[must_use]
pub fn environ_has(environ: &[u8], entry: &str) -> bool {
    environ.split(|byte| *byte == 0).any(|found| found == entry.as_bytes())
}

/// Returns a shortened command line for people. A process without one is shown by its name.
#[must_use]
pub fn shown_command(words: &[u8], name: impl FnOnce() -> Option<String>) -> String {
    let line = String::from_utf8_lossy(words).replace('\0', " ");
    match line.trim() {
        "" => name().map(|name| format!("[{}]", name.trim_end())).unwrap_or_default(),
        line => line.chars().take(MAX_SHOWN).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supervisors_and_settling_commands_are_own_processes() {
        let is_own = |executable: &str, name: &str, words: &str| {
            let text = |text: &str| Ok::<_, ()>(text.as_bytes().to_vec());
            is_own_process(executable.as_bytes(), || text(name), || text(words)).unwrap()
        };
        let supervisor = format!("{SUPERVISOR_NAME}\n");
        assert!(is_own("mw-supervisor", &supervisor, ""));
        assert!(is_own("mw-supervisor (deleted)", &supervisor, ""));
        assert!(!is_own("mw-supervisor", "sh", ""), "a command that is about to be executed");
        assert!(is_own("mw", &supervisor, "mw-supervisor"));
        assert!(is_own("mw", "mw", "mw\0settle\0x"));
        assert!(is_own("mw-engine", "mw-engine", "mw\0settle\0x"));
        assert!(is_own("mw-surfaces", "mw", "mw\0settle"));
        assert!(!is_own("mw", "mw", "mw\0start\0settle"));
        assert!(!is_own("sh", &supervisor, "sh\0settle"));
        assert_eq!(
            is_own_process(b"mw-supervisor", || Err("unreadable"), || Ok(Vec::new())),
            Err("unreadable")
        );
    }

    #[test]
    fn an_entry_of_an_environment_is_compared_as_a_whole() {
        assert!(environ_has(b"A=1\0MARK=x\0", "MARK=x"));
        assert!(!environ_has(b"A=1\0MARK=xy\0NOMARK=x", "MARK=x"));
    }

    #[test]
    fn a_process_without_a_command_line_is_shown_by_its_name() {
        assert_eq!(shown_command(b"sh\0-c\0true\0", || None), "sh -c true");
        assert_eq!(shown_command(b"", || Some("kworker\n".to_owned())), "[kworker]");
        assert_eq!(shown_command(b"", || None), "");
        assert_eq!(shown_command(&[b'x'; 200], || None).len(), MAX_SHOWN);
    }
}
