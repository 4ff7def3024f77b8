//! Names that people know from other programs.

use std::ffi::{OsStr, OsString};

/// Other names of commands, and the command that each one means.
const OTHER_NAMES: [(&str, &str); 7] = [
    ("log", "output"),
    ("logs", "output"),
    ("ls", "list"),
    ("ps", "list"),
    ("rm", "clear"),
    ("stop", "kill"),
    ("follow", "tail"),
];

/// Names after which an option is meant as well.
const WITH_OPTION: [(&str, &str); 2] = [("log", "--services"), ("logs", "--services")];

/// Returns the words with the name of the command that the first one means.
pub(crate) fn canonical(words: &[OsString]) -> Vec<OsString> {
    let mut words = words.to_vec();
    let at = if words.get(1).is_some_and(|word| word == "help") { 2 } else { 1 };
    let given = words.get(at).and_then(|word| word.to_str());
    let ours = OTHER_NAMES.iter().find(|(other, _)| Some(*other) == given);
    let option = WITH_OPTION.iter().find(|(other, _)| at == 1 && Some(*other) == given);
    if let (Some((_, ours)), Some(word)) = (ours, words.get_mut(at)) {
        *word = OsString::from(OsStr::new(ours));
    }
    if let Some((_, option)) = option {
        words.insert(at + 1, OsString::from(option));
    }
    words
}

/// Returns the other names of a command.
pub(crate) fn other_names(command: &str) -> impl Iterator<Item = &'static str> {
    OTHER_NAMES.iter().filter(move |(_, ours)| *ours == command).map(|(other, _)| *other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_word_is_another_name() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(canonical(&words("mw ps -a")), words("mw list -a"));
        assert_eq!(canonical(&words("mw logs a b")), words("mw output --services a b"));
        assert_eq!(canonical(&words("mw help logs")), words("mw help output"));
        assert_eq!(canonical(&words("mw start ps")), words("mw start ps"));
        assert_eq!(other_names("list").collect::<Vec<_>>(), ["ls", "ps"]);
    }
}
