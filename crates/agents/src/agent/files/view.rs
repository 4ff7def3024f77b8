//! A part of a text that fits into a reply.

/// Returns the lines from `offset` (the first is 1), at most `limit`, at most so many bytes, and says what is
/// left out and how to go on.
pub(in crate::agent) fn excerpt(text: &str, offset: usize, limit: usize, most_bytes: usize) -> String {
    let total = text.lines().count();
    let first = offset.max(1);
    if total == 0 {
        return "[the file is empty]".to_owned();
    }
    if first > total {
        return format!("[the file has only {total} lines]");
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
        return format!("{}\n[line {first} of {total}; {rest} more bytes of it are left out]", &line[..end]);
    }
    if first == 1 && last == total {
        return shown;
    }
    if !shown.ends_with('\n') {
        shown.push('\n');
    }
    let next = if last < total { format!("; go on with offset {}", last + 1) } else { String::new() };
    shown.push_str(&format!("[lines {first} to {last} of {total}{next}]"));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_said() {
        let text = "one\ntwo\nthree\n";
        assert_eq!(excerpt(text, 1, 100, 100), text);
        assert_eq!(excerpt(text, 2, 1, 100), "two\n[lines 2 to 2 of 3; go on with offset 3]");
        assert_eq!(excerpt(text, 3, 9, 100), "three\n[lines 3 to 3 of 3]");
        assert_eq!(excerpt(text, 1, 100, 9), "one\ntwo\n[lines 1 to 2 of 3; go on with offset 3]");
        assert_eq!(excerpt(text, 7, 1, 100), "[the file has only 3 lines]");
        assert_eq!(excerpt("", 1, 1, 100), "[the file is empty]");
        assert_eq!(excerpt("ääää", 1, 9, 5), "ää\n[line 1 of 1; 4 more bytes of it are left out]");
    }
}
