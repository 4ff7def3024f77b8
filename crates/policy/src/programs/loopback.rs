//! Addresses of this machine.

use crate::names::Names;
use crate::script::word::Word;

/// Names and addresses of this machine.
const LOCAL: Names<'_> = Names("localhost 127.0.0.1 [::1] ::1 0.0.0.0");

/// Returns whether a word names a server of this machine, as it is written: with a port that may be known only at run
/// time. The kernel lets the command reach no other machine, whatever the word becomes.
pub(super) fn is_local(word: &Word) -> bool {
    let is_host = |text: &str| {
        let text = text.trim_matches(['"', '\'']);
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        let bracketed = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(host, _)| host);
        let host =
            bracketed.unwrap_or_else(|| rest.split(['/', '?', '#', ':', '$']).next().unwrap_or_default());
        LOCAL.contains(host) || host.ends_with(".localhost")
    };
    match word.values() {
        Some(values) => !values.is_empty() && values.iter().all(|value| is_host(value)),
        None => is_host(&word.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hosts_of_this_machine_are_local() {
        for text in [
            "http://localhost:3000/a?b=c",
            "localhost",
            "127.0.0.1:80",
            "http://[::1]:8080/",
            "http://a.localhost/x",
        ] {
            assert!(is_local(&Word::plain(text)), "{text}");
        }
        assert!(is_local(&Word::unknown("\"http://localhost:$PORT/x\"")));
        for text in
            ["http://example.org/localhost", "http://localhost.example.org", "http://user@x", "-o", ""]
        {
            assert!(!is_local(&Word::plain(text)), "{text}");
        }
    }
}
