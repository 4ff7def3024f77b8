//! Patterns with `*` and `?`.

/// Returns whether a text fits a pattern, where `*` stands for anything and `?` for one character.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where to go on when what followed the last star turns out wrong.
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
    fn stars_stand_for_anything() {
        assert!(fits("*", ""));
        assert!(fits("a*c", "abbc"));
        assert!(fits("*.rs", "main.rs"));
        assert!(fits("a?c", "abc"));
        assert!(!fits("a?c", "ac"));
        assert!(!fits("a*c", "abcd"));
        assert!(!fits("", "a"));
        assert!(fits(&"*a".repeat(30), &"a".repeat(60)));
    }
}
