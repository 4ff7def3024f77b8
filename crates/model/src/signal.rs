//! Signal names and numbers.

/// Defines a constant for each signal, and the table of their names.
macro_rules! signals {
    ($($name:ident = $number:literal),+ $(,)?) => {
        $(
            #[doc = concat!("The number of `", stringify!($name), "`.")]
            pub const $name: i32 = $number;
        )+
        const TABLE: &[(&str, i32)] = &[$((stringify!($name), $name)),+];
    };
}

// Numbers on which the platforms differ (USR1 and above) follow Linux. Only the supervisor passes a number to a system
// call.
signals! {
    SIGHUP = 1,
    SIGINT = 2,
    SIGQUIT = 3,
    SIGILL = 4,
    SIGTRAP = 5,
    SIGABRT = 6,
    SIGBUS = 7,
    SIGFPE = 8,
    SIGKILL = 9,
    SIGUSR1 = 10,
    SIGSEGV = 11,
    SIGUSR2 = 12,
    SIGPIPE = 13,
    SIGALRM = 14,
    SIGTERM = 15,
    SIGCHLD = 17,
    SIGCONT = 18,
    SIGSTOP = 19,
    SIGTSTP = 20,
    SIGTTIN = 21,
    SIGTTOU = 22,
    SIGURG = 23,
    SIGXCPU = 24,
    SIGWINCH = 28,
    SIGSYS = 31,
}

/// Returns whether a signal asks a task to end: TERM, INT or KILL. Programs may use any other signal for something
/// else (HUP: reload the configuration; QUIT: dump all threads; USR1: reopen the logs), so it is only sent, and no
/// other signal follows.
#[must_use]
pub const fn asks_to_end(number: i32) -> bool {
    matches!(number, SIGINT | SIGKILL | SIGTERM)
}

/// Returns the name with `SIG` in front, or a name such as `SIG34` for a signal without one.
#[must_use]
pub fn signal_name(number: i32) -> String {
    match TABLE.iter().find(|(_, known)| *known == number) {
        Some((name, _)) => (*name).to_owned(),
        None => format!("SIG{number}"),
    }
}

/// Parses `TERM`, `SIGTERM`, `term` or `15`; `None` if it is not a signal.
#[must_use]
pub fn signal_number(text: &str) -> Option<i32> {
    if let Ok(number) = text.parse::<i32>() {
        return (1..=64).contains(&number).then_some(number);
    }
    let upper = text.to_ascii_uppercase();
    let name = if upper.starts_with("SIG") { upper } else { format!("SIG{upper}") };
    TABLE.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signal_names_and_numbers_are_converted_both_ways() {
        for (name, number) in TABLE {
            assert_eq!(signal_number(name), Some(*number));
            assert_eq!(signal_number(&name[3..].to_lowercase()), Some(*number));
            assert_eq!(signal_name(*number), *name);
        }
        assert_eq!(signal_number("sigterm"), Some(SIGTERM));
        assert_eq!(signal_number("15"), Some(SIGTERM));
        assert_eq!(signal_number("0"), None);
        assert_eq!(signal_number("bogus"), None);
        assert_eq!(signal_name(40), "SIG40");
    }
}
