//! Draws the changes of a file.

use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};

/// Lines around a change.
const AROUND: usize = 2;

/// More lines than this are not compared one by one.
const MOST_LINES: usize = 10_000;

/// A line of a change: what is in front of it, and the line. Between changes that lie apart there is a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changed<'a> {
    Same(&'a str),
    Removed(&'a str),
    Added(&'a str),
    Gap,
}

/// Returns what was changed between two texts, with a few lines around it.
pub(super) fn changed<'a>(old: &'a str, new: &'a str) -> Vec<Changed<'a>> {
    let (old, new): (Vec<&'a str>, Vec<&'a str>) = (old.lines().collect(), new.lines().collect());
    if old.len() + new.len() > MOST_LINES {
        return as_one(&old, &new);
    }
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let mut lines = Vec::new();
    for (number, group) in group_diff_ops(ops, AROUND).iter().enumerate() {
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

/// Shows everything between the first and the last difference as one change.
fn as_one<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Changed<'a>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let before = old[head.saturating_sub(AROUND)..head].iter().map(|line| Changed::Same(line));
    let removed = old[head..old.len() - tail].iter().map(|line| Changed::Removed(line));
    let added = new[head..new.len() - tail].iter().map(|line| Changed::Added(line));
    let after = new[new.len() - tail..].iter().take(AROUND).map(|line| Changed::Same(line));
    before.chain(removed).chain(added).chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::Changed::{Added, Gap, Removed, Same};
    use super::*;

    #[test]
    fn a_diff_shows_what_changed_and_a_little_around_it() {
        let lines = changed("a\nb\nc\nd\ne\nf", "a\nb\nc\nX\ne\nf");
        assert_eq!(lines, [Same("b"), Same("c"), Removed("d"), Added("X"), Same("e"), Same("f")]);
        assert_eq!(changed("", "n"), [Added("n")]);
        assert_eq!(changed("a\na", "a"), [Same("a"), Removed("a")]);
        assert_eq!(changed("same", "same"), []);
    }

    #[test]
    fn changes_that_lie_apart_are_shown_apart() {
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
    fn a_huge_file_costs_no_comparison_of_each_with_each() {
        let old: String = (0..60_000).map(|line| format!("old {line}\n")).collect();
        let new: String = (0..60_000).map(|line| format!("new {line}\n")).collect();
        assert_eq!(changed(&old, &new).len(), 120_000);
    }
}
