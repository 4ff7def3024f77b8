//! Text that a person reads before a decision. Characters that control the terminal or are invisible are spelled out,
//! so that the text shows what will happen.

/// Returns whether a character is invisible, affects the characters around it, or looks like a blank.
///
/// The one list of such characters. Questions to people spell them out; the policy does not allow commands that contain
/// them.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    match c {
        ' ' => false,
        c if c.is_control() || c.is_whitespace() => true,
        // Soft hyphen, joiners, direction marks, fillers, variation selectors, placeholders, tags.
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => true,
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' => true,
        '\u{ffa0}' | '\u{fff0}'..='\u{fffc}' | '\u{1bca0}'..='\u{1bca3}' => true,
        '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// Spells out hidden characters in a text; line breaks are kept.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '\n' && is_hidden(c) {
            visible.extend(c.escape_default());
        } else {
            visible.push(c);
        }
    }
    visible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_spelled_out() {
        for (text, shown) in [
            ("rm x\n\x1b[2Jls\r", "rm x\n\\u{1b}[2Jls\\r"),
            ("rm \u{202e}txt.x", "rm \\u{202e}txt.x"),
            ("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}"),
            ("r\u{200b}m", "r\\u{200b}m"),
            ("rm\u{a0}-rf\u{3000}/", "rm\\u{a0}-rf\\u{3000}/"),
            ("a\u{2028}b\tc", "a\\u{2028}b\\tc"),
            ("x\u{e0041}\u{fe0f}", "x\\u{e0041}\\u{fe0f}"),
            ("rm\u{2800}-rf\u{fffc}", "rm\\u{2800}-rf\\u{fffc}"),
        ] {
            assert_eq!(visible(text), shown);
            assert_eq!(visible(shown), shown, "visible text does not change");
        }
    }

    #[test]
    fn ordinary_text_is_unchanged() {
        for text in ["grüße 日本語 \u{1f600}", "e\u{301}", "שלום", "हिन्दी", "a  b"] {
            assert_eq!(visible(text), text);
        }
    }
}
