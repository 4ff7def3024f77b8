//! Recognises output that waits for an answer.

use serde::{Deserialize, Serialize};

/// Patterns for the last line of a program that waits for input.
///
/// A pattern is literal text in which `*` matches anything. Case is ignored, and the whole line without surrounding
/// white space must match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptPatterns(pub Vec<String>);

impl Default for PromptPatterns {
    fn default() -> Self {
        const KNOWN: [&str; 16] = [
            "*(y/n)*",
            "*[y/n]*",
            "*(yes/no)*",
            "*[yes/no]*",
            "*(yes/no/*",
            "*password*:",
            "*passphrase*:",
            "*username*:",
            "*continue?*",
            "*proceed?*",
            "*overwrite?*",
            "*are you sure*",
            "*press any key*",
            "*press enter*",
            "*press return*",
            "*ok to proceed*",
        ];
        Self(KNOWN.map(str::to_owned).to_vec())
    }
}

impl PromptPatterns {
    /// Returns whether the last non-empty line of `tail` looks like a prompt.
    #[must_use]
    pub fn matches(&self, tail: &[u8]) -> bool {
        let text = String::from_utf8_lossy(tail).to_lowercase();
        let Some(line) = text.lines().rev().map(str::trim).find(|line| !line.is_empty()) else {
            return false;
        };
        self.0.iter().any(|pattern| fits(&pattern.to_lowercase(), line))
    }
}

/// Matches greedily from the left, which is complete when `*` is the only wildcard.
fn fits(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_prompts_are_recognised() {
        let prompts = PromptPatterns::default();
        for tail in [
            "Proceed (y/n) ",
            "a\nOverwrite? [y/N]: \n\n",
            "[sudo] Password for me: ",
            "Press ENTER to go on",
        ] {
            assert!(prompts.matches(tail.as_bytes()), "{tail}");
        }
        for tail in ["", "\n\n", "compiling 3/7", "(y/n)\nthanks", "password accepted"] {
            assert!(!prompts.matches(tail.as_bytes()), "{tail}");
        }
    }

    #[test]
    fn a_star_in_a_prompt_pattern_matches_any_characters() {
        for (pattern, line, fit) in [
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*c", "abcd", false),
            ("abc", "abc", true),
            ("abc", "abcd", false),
            ("a*b*b", "ab", false),
        ] {
            assert_eq!(fits(pattern, line), fit, "{pattern} {line}");
        }
    }
}
