//! Quotes words for a shell.

/// Returns a word as a shell reads it back: quoted, unless it has only plain characters.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_words_are_not_quoted() {
        for (word, quoted) in [
            ("/opt/x-1/mw", "/opt/x-1/mw"),
            ("A=1:2,3@4%5+6_7", "A=1:2,3@4%5+6_7"),
            ("", "''"),
            ("two words", "'two words'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
            ("~", "'~'"),
            ("ä", "'ä'"),
        ] {
            assert_eq!(shell_word(word), quoted, "{word}");
        }
    }
}
