//! Cuts a file to a part that fits into a reply.

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::builtin) struct Part {
    /// The lines of the part, with a note about omitted lines.
    pub(in crate::builtin) text: String,
    /// Whether the part reaches the end of the text.
    pub(in crate::builtin) is_last: bool,
}

/// Returns at most `limit` lines and `most_bytes` bytes from line `offset` (from 1), with a note about omitted lines
/// and how to continue.
pub(in crate::builtin) fn excerpt(text: &str, offset: usize, limit: usize, most_bytes: usize) -> Part {
    let total = text.lines().count();
    let first = offset.max(1);
    if total == 0 {
        return Part { text: "[the file is empty]".to_owned(), is_last: true };
    }
    if first > total {
        let text = format!("[the file has only {}]", mw_model::count(total, "line", "lines"));
        return Part { text, is_last: true };
    }
    let mut shown = String::new();
    let mut last = first - 1;
    for line in text.split_inclusive('\n').skip(first - 1).take(limit) {
        if shown.len() + line.len() > most_bytes {
            break;
        }
        shown.push_str(line);
        last += 1;
    }
    if last < first {
        // Not even one line fits.
        let line = text.lines().nth(first - 1).unwrap_or_default();
        let end = line.floor_char_boundary(most_bytes);
        let rest = line.len() - end;
        let cut = &line[..end];
        let text = format!("{cut}\n[line {first} of {total}; {rest} more bytes of it omitted]");
        return Part { text, is_last: false };
    }
    if first == 1 && last == total {
        return Part { text: shown, is_last: true };
    }
    if !shown.ends_with('\n') {
        shown.push('\n');
    }
    let next = if last < total { format!("; continue with offset {}", last + 1) } else { String::new() };
    shown.push_str(&format!("[lines {first} to {last} of {total}{next}]"));
    Part { text: shown, is_last: last == total }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_states_which_lines_are_omitted() {
        let text = "one\ntwo\nthree\n";
        let [last, inner] =
            [true, false].map(|is_last| move |text: &str| Part { text: text.to_owned(), is_last });
        assert_eq!(excerpt(text, 1, 100, 100), last(text));
        assert_eq!(excerpt(text, 2, 1, 100), inner("two\n[lines 2 to 2 of 3; continue with offset 3]"));
        assert_eq!(excerpt(text, 3, 9, 100), last("three\n[lines 3 to 3 of 3]"));
        assert_eq!(excerpt(text, 1, 100, 9), inner("one\ntwo\n[lines 1 to 2 of 3; continue with offset 3]"));
        assert_eq!(excerpt(text, 7, 1, 100), last("[the file has only 3 lines]"));
        assert_eq!(excerpt("", 1, 1, 100), last("[the file is empty]"));
        assert_eq!(excerpt("ääää", 1, 9, 5), inner("ää\n[line 1 of 1; 4 more bytes of it omitted]"));
    }
}
