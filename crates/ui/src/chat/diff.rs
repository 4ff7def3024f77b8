//! Computes the displayed lines of a file change.

use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};

/// The number of context lines around a change.
const CONTEXT_LINES: usize = 2;

/// The maximum number of lines that are compared individually.
const MAX_LINES: usize = 10_000;

/// A displayed line of a change with its sign. A gap separates distant changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changed<'a> {
    Same(&'a str),
    Removed(&'a str),
    Added(&'a str),
    Gap,
}

/// Returns the changed lines between two texts, with a few lines of context.
pub(super) fn changed<'a>(old: &'a str, new: &'a str) -> Vec<Changed<'a>> {
    let (old, new): (Vec<&'a str>, Vec<&'a str>) = (old.lines().collect(), new.lines().collect());
    if old.len() + new.len() > MAX_LINES {
        return as_one(&old, &new);
    }
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let mut lines = Vec::new();
    for (number, group) in group_diff_ops(ops, CONTEXT_LINES).iter().enumerate() {
        if number > 0 {
            lines.push(Changed::Gap);
        }
        for op in group {
            let (tag, before, after) = op.as_tag_tuple();
            if tag == DiffTag::Equal {
                lines.extend(old[before].iter().map(|line| Changed::Same(line)));
            } else {
                lines.extend(old[before].iter().map(|line| Changed::Removed(line)));
                lines.extend(new[after].iter().map(|line| Changed::Added(line)));
            }
        }
    }
    lines
}

/// Returns everything between the first and the last difference as one change.
fn as_one<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Changed<'a>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let before = old[head.saturating_sub(CONTEXT_LINES)..head].iter().map(|line| Changed::Same(line));
    let removed = old[head..old.len() - tail].iter().map(|line| Changed::Removed(line));
    let added = new[head..new.len() - tail].iter().map(|line| Changed::Added(line));
    let after = new[new.len() - tail..].iter().take(CONTEXT_LINES).map(|line| Changed::Same(line));
    before.chain(removed).chain(added).chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::Changed::{Added, Gap, Removed, Same};
    use super::*;

    #[test]
    fn a_diff_shows_changes_with_context() {
        let lines = changed("a\nb\nc\nd\ne\nf", "a\nb\nc\nX\ne\nf");
        assert_eq!(lines, [Same("b"), Same("c"), Removed("d"), Added("X"), Same("e"), Same("f")]);
        assert_eq!(changed("", "n"), [Added("n")]);
        assert_eq!(changed("a\na", "a"), [Same("a"), Removed("a")]);
        assert_eq!(changed("same", "same"), []);
    }

    #[test]
    fn distant_changes_are_separated_by_a_gap() {
        let old: Vec<_> = (1..=20).map(|line| line.to_string()).collect();
        let mut new = old.clone();
        new[1] = "X".to_owned();
        new.remove(17);
        let (old, new) = (old.join("\n"), new.join("\n"));
        let first = [Same("1"), Removed("2"), Added("X"), Same("3"), Same("4"), Gap];
        let second = [Same("16"), Same("17"), Removed("18"), Same("19"), Same("20")];
        assert_eq!(changed(&old, &new), [&first[..], &second[..]].concat());
    }

    #[test]
    fn huge_files_are_not_compared_line_by_line() {
        let old: String = (0..60_000).map(|line| format!("old {line}\n")).collect();
        let new: String = (0..60_000).map(|line| format!("new {line}\n")).collect();
        assert_eq!(changed(&old, &new).len(), 120_000);
    }
}
