//! White space and comments.

/// Returns the first position of a character outside comments. The text has only white space, comments and
/// punctuation.
pub(super) fn find_outside_comments(text: &str, wanted: char) -> Option<usize> {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if c == wanted {
            return Some(at);
        } else {
            at += c.len_utf8();
        }
    }
    None
}

/// Returns where the line end before a position begins, if only blanks are between.
pub(super) fn line_end_before(text: &str, at: usize) -> Option<usize> {
    let before = text[..at].trim_end_matches([' ', '\t']);
    let before = before.strip_suffix('\n')?;
    Some(before.strip_suffix('\r').unwrap_or(before).len())
}

/// Returns whether the rest of a line is blank.
pub(super) fn is_blank_to_line_end(text: &str) -> bool {
    let rest = text.trim_start_matches([' ', '\t']);
    rest.is_empty() || rest.starts_with('\n') || rest.starts_with("\r\n")
}

/// Returns the white space at the beginning of the line of a position.
pub(super) fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}
