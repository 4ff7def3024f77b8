//! Replaces comments and string contents in Rust code by spaces.

/// Replaces every byte of a comment, string or character literal by a space. Newlines and quotes are kept.
///
/// The result has the same length and the same lines as `text`.
pub(crate) fn blank_comments_and_strings(text: &str) -> String {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0, out: Vec::with_capacity(text.len()) };
    while scanner.at < scanner.bytes.len() {
        scanner.step();
    }
    String::from_utf8_lossy(&scanner.out).into_owned()
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    out: Vec<u8>,
}

impl Scanner<'_> {
    fn step(&mut self) {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(b"//") {
            let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
            self.blank(length);
        } else if rest.starts_with(b"/*") {
            self.blank(block_comment(rest));
        } else if let Some(hashes) = self.raw_string_hashes() {
            self.raw_string(hashes);
        } else if rest[0] == b'"' {
            self.quoted(string(rest));
        } else if let Some(length) = character(rest) {
            self.quoted(length);
        } else {
            self.keep(1);
        }
    }

    fn keep(&mut self, length: usize) {
        let end = (self.at + length).min(self.bytes.len());
        self.out.extend_from_slice(&self.bytes[self.at..end]);
        self.at = end;
    }

    fn blank(&mut self, length: usize) {
        let end = (self.at + length).min(self.bytes.len());
        self.out.extend(self.bytes[self.at..end].iter().map(|&byte| if byte == b'\n' { byte } else { b' ' }));
        self.at = end;
    }

    /// Keeps the first and last byte of a literal and replaces the bytes between them.
    fn quoted(&mut self, length: usize) {
        self.keep(1);
        self.blank(length.saturating_sub(2));
        self.keep(1);
    }

    /// Counts the hashes if a raw string begins here.
    fn raw_string_hashes(&self) -> Option<usize> {
        let rest = self.bytes[self.at..].strip_prefix(b"r")?;
        let before = &self.bytes[..self.at];
        let before = before.strip_suffix(b"b").or_else(|| before.strip_suffix(b"c")).unwrap_or(before);
        if before.last().is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return None;
        }
        let hashes = rest.iter().take_while(|&&byte| byte == b'#').count();
        (rest.get(hashes) == Some(&b'"')).then_some(hashes)
    }

    fn raw_string(&mut self, hashes: usize) {
        self.keep(1 + hashes);
        let mut end = vec![b'"'];
        end.resize(1 + hashes, b'#');
        let content = &self.bytes[(self.at + 1).min(self.bytes.len())..];
        let length = content.windows(end.len()).position(|window| window == end).unwrap_or(content.len());
        self.keep(1);
        self.blank(length);
        self.keep(end.len());
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Returns the length of a character literal. A lifetime is not one.
fn character(rest: &[u8]) -> Option<usize> {
    if rest[0] != b'\'' {
        return None;
    }
    let first = *rest.get(1)?;
    if first == b'\\' {
        let after = rest.get(3..)?;
        return after.iter().position(|&byte| byte == b'\'').map(|offset| offset + 4);
    }
    let width = match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    };
    (rest.get(1 + width) == Some(&b'\'')).then_some(width + 2)
}

#[cfg(test)]
mod tests {
    use super::blank_comments_and_strings as blank;

    #[test]
    fn comments_are_blanked_and_line_breaks_are_kept() {
        assert_eq!(blank("a // b\nc /* d\n/* e */ */ f"), "a     \nc     \n           f");
    }

    #[test]
    fn strings_are_blanked_and_their_quotes_are_kept() {
        assert_eq!(blank(r#"f("un\"safe", 1)"#), r#"f("        ", 1)"#);
    }

    #[test]
    fn raw_strings_end_at_the_matching_hashes() {
        assert_eq!(blank("r#\"a\" b\"# c"), "r#\"    \"# c");
        assert_eq!(blank("br\"\\\" c"), "br\" \" c");
        assert_eq!(blank("r#type x"), "r#type x");
    }

    #[test]
    fn characters_are_blanked_and_lifetimes_are_not() {
        assert_eq!(blank(r#"'"' '\'' 'a b"#), r#"' ' '  ' 'a b"#);
        assert_eq!(blank("&'static str"), "&'static str");
    }

    #[test]
    fn multibyte_characters_keep_the_length() {
        let text = "let a = \"é…\"; // ü\n'…';";
        assert_eq!(blank(text).len(), text.len());
    }

    #[test]
    fn unterminated_text_keeps_its_length() {
        for text in ["\"", "'", "r#\"", "/*", "'\\", "\"\\", "r", "//"] {
            assert_eq!(blank(text).len(), text.len());
        }
    }
}
