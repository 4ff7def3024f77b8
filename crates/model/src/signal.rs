//! Signal names and numbers, as Linux and macOS agree on them for those a person sends.

/// Numbers on which the platforms differ (USR1 and above) follow Linux; the supervisor is the only
/// one that turns a number into a system call.
const NAMES: [(&str, i32); 22] = [
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ILL", 4),
    ("TRAP", 5),
    ("ABRT", 6),
    ("BUS", 7),
    ("FPE", 8),
    ("KILL", 9),
    ("USR1", 10),
    ("SEGV", 11),
    ("USR2", 12),
    ("PIPE", 13),
    ("ALRM", 14),
    ("TERM", 15),
    ("CHLD", 17),
    ("CONT", 18),
    ("STOP", 19),
    ("TSTP", 20),
    ("WINCH", 28),
    ("XCPU", 24),
    ("SYS", 31),
];

/// Tells whether a signal asks a task to end: TERM, INT or KILL. Programs may give any other a meaning of their own (HUP:
/// read the configuration again; QUIT: dump all threads; USR1: reopen the logs), so it is only sent, and nothing follows.
#[must_use]
pub const fn asks_to_end(number: i32) -> bool {
    const INT: i32 = 2;
    const KILL: i32 = 9;
    const TERM: i32 = 15;
    matches!(number, INT | KILL | TERM)
}

/// Returns the name with `SIG` before it, or `SIG34` and the like for one without a name.
#[must_use]
pub fn signal_name(number: i32) -> String {
    match NAMES.iter().find(|(_, n)| *n == number) {
        Some((name, _)) => format!("SIG{name}"),
        None => format!("SIG{number}"),
    }
}

/// Reads `TERM`, `SIGTERM`, `term` or `15`; nothing for what is no signal.
#[must_use]
pub fn signal_number(text: &str) -> Option<i32> {
    if let Ok(number) = text.parse::<i32>() {
        return (1..=64).contains(&number).then_some(number);
    }
    let upper = text.to_ascii_uppercase();
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_agree() {
        for (name, number) in NAMES {
            assert_eq!(signal_number(name), Some(number));
            assert_eq!(signal_number(&signal_name(number)), Some(number));
        }
        assert_eq!(signal_number("sigterm"), Some(15));
        assert_eq!(signal_number("0"), None);
        assert_eq!(signal_number("bogus"), None);
        assert_eq!(signal_name(40), "SIG40");
    }
}
