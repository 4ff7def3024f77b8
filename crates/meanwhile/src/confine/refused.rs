//! Recognises a command that failed because of its confinement.

/// What programs print when the kernel refuses something, in lower case.
const REFUSALS: [&str; 16] = [
    "permission denied",
    "operation not permitted",
    "read-only file system",
    "eacces",
    "eperm",
    "erofs",
    "device or resource busy",
    "network is unreachable",
    "could not resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "getaddrinfo",
    "enotfound",
    "eai_again",
    "failed to lookup address",
    "no new privileges",
];

/// The longest line that is repeated.
const MOST_CHARS: usize = 160;

/// Returns the first line at the end of an output in which a program says that something was refused.
pub(crate) fn refused_in(output: &str) -> Option<String> {
    let line = output.lines().find(|line| {
        let line = line.to_lowercase();
        REFUSALS.iter().any(|text| line.contains(text))
    })?;
    let shown: String = line.trim().chars().filter(|c| !c.is_control()).take(MOST_CHARS).collect();
    Some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_common_programs_are_recognised() {
        for line in [
            "/bin/sh: 1: cannot create /root/x: Read-only file system",
            "cat: .env: Permission denied",
            "mv: cannot move '.git' to 'x': Device or resource busy",
            "curl: (6) Could not resolve host: example.test",
            "PermissionError: [Errno 13] Permission denied: '/etc/x'",
            "npm error code EAI_AGAIN",
            "Error: listen EACCES: permission denied",
        ] {
            assert_eq!(refused_in(&format!("first\n  {line}\nlast\n")).as_deref(), Some(line));
        }
        assert_eq!(refused_in("test result: FAILED. 1 passed; 1 failed\n"), None);
    }
}
