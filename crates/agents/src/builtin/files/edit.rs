//! Replaces a part of a text.

/// The occurrences to replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::builtin) enum Occurrences {
    /// The only occurrence. More than one is an error.
    One,
    /// All occurrences.
    All,
}

/// Replaces a part of a text. Returns the new text and the number of replacements.
pub(in crate::builtin) fn replaced(
    text: &str,
    old: &str,
    new: &str,
    wanted: Occurrences,
) -> Result<(String, usize), String> {
    if old.is_empty() {
        return Err("old_string is empty: use write_file to create a file".to_owned());
    }
    if old == new {
        return Err("old_string and new_string are the same: nothing would change".to_owned());
    }
    match text.matches(old).count() {
        0 => Err("old_string was not found: read the file again and copy it exactly, including white space"
            .to_owned()),
        1 => Ok((text.replacen(old, new, 1), 1)),
        count if wanted == Occurrences::All => Ok((text.replace(old, new), count)),
        count => Err(format!(
            "old_string occurs {count} times: add lines around it until it is the only one, or set replace_all"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_must_be_unique_unless_all_occurrences_are_replaced() {
        assert_eq!(replaced("a b a", "b", "$1", Occurrences::One), Ok(("a $1 a".to_owned(), 1)));
        assert_eq!(replaced("a b a", "a", "c", Occurrences::All), Ok(("c b c".to_owned(), 2)));
        assert!(replaced("a b a", "a", "c", Occurrences::One).unwrap_err().contains("occurs 2 times"));
        assert!(replaced("a", "x", "c", Occurrences::All).unwrap_err().contains("was not found"));
        assert!(replaced("a", "", "c", Occurrences::One).is_err());
        assert!(replaced("a", "a", "a", Occurrences::One).is_err());
    }
}
