//! Collects the names of all tests.

use std::collections::BTreeSet;

use crate::source::{Source, block_after, has_word};

/// The maximum number of lines between an attribute and its function.
const REACH: usize = 8;

/// Returns the names of the functions that are tests by an attribute or a `proptest!` block.
pub(super) fn collect(sources: &[Source<'_>]) -> BTreeSet<String> {
    sources.iter().flat_map(|source| tests_in(source.code())).collect()
}

fn tests_in(code: &str) -> Vec<String> {
    let properties: Vec<_> =
        code.match_indices("proptest!").filter_map(|(at, _)| block_after(code, at)).collect();
    let lines: Vec<&str> = code.split('\n').collect();
    let mut found = Vec::new();
    let mut start = 0;
    for (index, line) in lines.iter().enumerate() {
        let at = start;
        start += line.len() + 1;
        let Some(name) = function_name(line) else { continue };
        if has_test_attribute(&lines[..index]) || properties.iter().any(|block| block.contains(&at)) {
            found.push(name.to_owned());
        }
    }
    found
}

fn function_name(line: &str) -> Option<&str> {
    if !has_word(line, "fn") {
        return None;
    }
    let (_, rest) = line.split_once("fn ")?;
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    (end > 0).then(|| &rest[..end])
}

/// Searches upwards for a test attribute, up to the end of the previous item.
fn has_test_attribute(above: &[&str]) -> bool {
    above
        .iter()
        .rev()
        .take(REACH)
        .map(|line| line.trim())
        .take_while(|line| !line.starts_with('}') && !line.ends_with(';') && !line.ends_with('{'))
        .any(|line| line.starts_with("#[") && !line.contains("cfg") && is_test_attribute(line))
}

fn is_test_attribute(line: &str) -> bool {
    ["test", "rstest", "test_case"].iter().any(|word| has_word(line, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        collect(&[Source::new("crates/x/src/a.rs", text)]).into_iter().collect()
    }

    #[test]
    fn functions_with_a_test_attribute_are_tests() {
        let text = "#[test]\nfn plain() {}\n\n#[tokio::test]\n#[ignore = \"x\"]\nasync fn later() {}\n";
        assert_eq!(names(text), ["later", "plain"]);
    }

    #[test]
    fn other_functions_are_not_tests() {
        let text = "#[cfg(test)]\nmod tests {\n    fn helper() {}\n    #[test]\n    fn a() {\n        fn inner() {}\n    }\n}\nfn b() {}\n// #[test]\nfn c() {}\n";
        assert_eq!(names(text), ["a"]);
    }

    #[test]
    fn functions_in_a_proptest_block_are_tests() {
        let text = "proptest! {\n    fn holds(x in 0..9) {\n    }\n}\nfn outside() {}\n";
        assert_eq!(names(text), ["holds"]);
    }
}
