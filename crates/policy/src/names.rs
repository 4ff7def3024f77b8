//! Lists of names, and patterns with `*` and `?` for names.

/// A list of names, written as one text with white space between the names.
pub(super) struct Names<'a>(pub(super) &'a str);

impl<'a> Names<'a> {
    /// Returns the names.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.0.split_whitespace()
    }

    /// Returns whether the list has exactly this name.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.iter().any(|listed| listed == name)
    }

    /// Returns whether a name matches one of the list, of which each is a pattern.
    pub(super) fn matches(&self, name: &str) -> bool {
        self.iter().any(|pattern| matches(pattern, name))
    }
}

/// Returns whether two names can be the same, if either may be a pattern.
pub(super) fn may_be_same(part: &str, name: &str) -> bool {
    if !part.contains(['*', '?', '[']) {
        return if name.contains('*') { matches(name, part) } else { name == part };
    }
    // In a shell, a pattern without a leading dot does not match names with one.
    let hidden = name.starts_with('.') && !part.starts_with('.');
    // Of two patterns the fixed beginnings decide.
    let fixed = |text: &str| text.split(['*', '?', '[']).next().unwrap_or_default().to_owned();
    let (begins, other) = (fixed(part), fixed(name));
    let both = name.contains('*') && !begins.is_empty() && !other.is_empty();
    let overlap = both && (begins.starts_with(&other) || other.starts_with(&begins));
    !hidden && (overlap || matches(&without_sets(part), name))
}

/// Replaces each set of characters of a pattern, such as `[a-z]`, by a star. A bracket that ends no set is a star, too.
fn without_sets(pattern: &str) -> String {
    let mut simple = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('[') {
        simple.push_str(before);
        simple.push('*');
        // A bracket directly at the beginning belongs to the set. Behind `[` there may be the name of a class.
        let from = after.char_indices().find(|(_, c)| !"!^]".contains(*c)).map_or(after.len(), |(at, _)| at);
        rest = match after[from..].find(']') {
            Some(end) if !after[from..from + end].contains('[') => &after[from + end + 1..],
            Some(_) | None => return simple,
        };
    }
    simple + rest
}

/// Returns whether a text matches a pattern in which `*` stands for anything and `?` for one character.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // The last star, and where in the text to retry after a mismatch.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((star, from)) = retry else { return false };
                retry = Some((star, from + 1));
                p = star + 1;
                t = from + 1;
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_text_and_a_question_mark_one_character() {
        assert!(matches("*", ""));
        assert!(matches("a*c", "abbc"));
        assert!(matches("*.rs", "main.rs"));
        assert!(matches("a?c", "abc"));
        assert!(!matches("a?c", "ac"));
        assert!(!matches("a*c", "abcd"));
        assert!(!matches("", "a"));
        assert!(matches(&"*a".repeat(30), &"a".repeat(60)));
    }
}
