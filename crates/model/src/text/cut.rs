//! Shortens long texts on character boundaries.

/// Returns the beginning of a text, at most the given number of bytes, and how many bytes are omitted.
#[must_use]
pub fn first_bytes(text: &str, most: usize) -> (&str, usize) {
    let end = text.floor_char_boundary(most);
    (&text[..end], text.len() - end)
}

/// Keeps the beginning of a text that exceeds a number of bytes, with a line after it that states how many bytes are
/// omitted. Also returns that number.
#[must_use]
pub fn head_with_note(text: &str, most_bytes: usize) -> (String, usize) {
    match first_bytes(text, most_bytes) {
        (_, 0) => (text.to_owned(), 0),
        (head, omitted) => (format!("{head}\n[… {omitted} bytes omitted …]"), omitted),
    }
}

/// Returns the first characters of a text.
#[must_use]
pub fn first_chars(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// Shortens a text to a number of characters; a shortened text ends with `…`.
#[must_use]
pub fn clipped(text: &str, most_chars: usize) -> String {
    let shown = first_chars(text, most_chars);
    let mark = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown}{mark}")
}

/// Keeps the beginning and the end of a text that exceeds a number of bytes, with a line between them that states
/// how many bytes are omitted.
#[must_use]
pub fn both_ends(text: &str, most_bytes: usize) -> String {
    if text.len() <= most_bytes {
        return text.to_owned();
    }
    let (head, _) = first_bytes(text, most_bytes / 2);
    let tail = text.ceil_char_boundary(text.len() - most_bytes / 2);
    format!("{head}\n[… {} bytes omitted …]\n{}", tail - head.len(), &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_on_a_character_boundary() {
        assert_eq!(first_bytes("üüü", 5), ("üü", 2));
        assert_eq!(first_bytes("üü", 5), ("üü", 0));
        assert_eq!(first_chars("üüü", 2), "üü");
        assert_eq!(first_chars("ü", 2), "ü");
    }

    #[test]
    fn a_long_text_keeps_its_head_with_a_note() {
        assert_eq!(head_with_note("ääää", 5), ("ää\n[… 4 bytes omitted …]".to_owned(), 4));
        assert_eq!(head_with_note("short", 5), ("short".to_owned(), 0));
    }

    #[test]
    fn a_clipped_text_ends_with_an_ellipsis() {
        assert_eq!(clipped("üüü", 3), "üüü");
        assert_eq!(clipped("üüüü", 3), "üüü…");
        assert_eq!(clipped("", 0), "");
    }

    #[test]
    fn a_long_text_keeps_both_ends_and_states_how_many_bytes_are_omitted() {
        assert_eq!(both_ends("short", 10), "short");
        let text = format!("begin{}end", "ü".repeat(1000));
        let cut = both_ends(&text, 21);
        assert!(cut.starts_with("beginüü") && cut.ends_with("üend"), "{cut}");
        let missing: usize = cut.split(' ').find_map(|word| word.parse().ok()).unwrap();
        let marker = format!("\n[… {missing} bytes omitted …]\n");
        assert_eq!(cut.len() - marker.len() + missing, text.len());
    }
}
