//! Text from outside as one line.

use super::visible::is_hidden;

/// Returns a text as one line: blanks and control characters become single spaces, and invisible formatting characters are left
/// out.
#[must_use]
pub fn one_line(text: &str) -> String {
    let is_gap = |c: char| c.is_whitespace() || c.is_control();
    let shown = text.chars().filter(|c| is_gap(*c) || !is_hidden(*c));
    let spaced: String = shown.map(|c| if is_gap(c) { ' ' } else { c }).collect();
    spaced.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_line_of_visible_characters() {
        assert_eq!(one_line(" a\n\tb\u{a0}c\r\n"), "a b c");
        assert_eq!(one_line("\u{1b}[2Jls\u{7}"), "[2Jls");
        assert_eq!(one_line("r\u{200b}m \u{202e}x"), "rm x");
        assert_eq!(one_line(" a\tb\u{7}\u{2028}c\u{202e}  d\u{200b} "), "a b c d");
        assert_eq!(one_line("\n \0"), "");
        assert_eq!(one_line("grüße 日本語"), "grüße 日本語");
    }
}
