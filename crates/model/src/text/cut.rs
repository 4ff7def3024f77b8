//! Texts that are too long, cut between characters.

/// Cuts a text after a number of characters; one that was longer ends with `…`.
#[must_use]
pub fn clipped(text: &str, most_chars: usize) -> String {
    match text.char_indices().nth(most_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Keeps the beginning and the end of a text that has more than so many bytes, with a line between them that says how
/// many are left out.
#[must_use]
pub fn both_ends(text: &str, most_bytes: usize) -> String {
    if text.len() <= most_bytes {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(most_bytes / 2);
    let tail = text.ceil_char_boundary(text.len() - most_bytes / 2);
    format!("{}\n[… {} bytes left out …]\n{}", &text[..head], tail - head, &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_says_so() {
        assert_eq!(clipped("üüü", 3), "üüü");
        assert_eq!(clipped("üüüü", 3), "üüü…");
        assert_eq!(clipped("", 0), "");
    }

    #[test]
    fn what_is_too_long_keeps_both_ends_and_says_what_is_missing() {
        assert_eq!(both_ends("short", 10), "short");
        let text = format!("begin{}end", "ü".repeat(1000));
        let cut = both_ends(&text, 21);
        assert!(cut.starts_with("beginüü") && cut.ends_with("üend"), "{cut}");
        let missing: usize = cut.split(' ').find_map(|word| word.parse().ok()).unwrap();
        let marker = format!("\n[… {missing} bytes left out …]\n");
        assert_eq!(cut.len() - marker.len() + missing, text.len());
    }
}
