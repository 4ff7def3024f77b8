//! Keeps modules to one form: `x.rs`, with its tests in `x_tests.rs`, or the folder `x/` with `mod.rs` and `tests.rs`.

use std::collections::BTreeSet;

use super::violation::Violation;

/// Reports files `x.rs` next to a folder `x/`.
pub(super) fn check<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<Violation> {
    let paths: BTreeSet<_> = paths.filter(|path| path.contains("/src/")).collect();
    let is_mixed = |path: &&&str| {
        let folder = path.strip_suffix(".rs").map(|module| format!("{module}/"));
        let has_folder =
            |folder: String| paths.range(&*folder..).next().is_some_and(|p| p.starts_with(&folder));
        folder.is_some_and(has_folder)
    };
    let remedy =
        "move it to the folder, as mod.rs and files with names; the tests of one file are in x_tests.rs";
    let report = |path: &&str| Violation::new(path, 1, "a module has a file and a folder", remedy);
    paths.iter().filter(is_mixed).map(report).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_has_a_file_or_a_folder() {
        let found = |paths: &[&str]| check(paths.iter().copied()).len();
        assert_eq!(found(&["a/src/x.rs", "a/src/x_tests.rs", "a/src/y/mod.rs", "a/src/y/tests.rs"]), 0);
        assert_eq!(found(&["a/src/x.rs", "a/src/x/tests.rs"]), 1);
        assert_eq!(found(&["a/tests/x.rs", "a/tests/x/y.rs"]), 0);
    }
}
