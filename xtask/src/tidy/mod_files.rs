//! Keeps logic out of `mod.rs` files: they say what a folder holds, and a reader looks for code in files with names.

use super::violation::Violation;
use crate::source::Source;

/// The list of commands is a macro.
const ALLOWED: &str = "crates/cli/src/commands/mod.rs";

/// Reports functions and implementations in a `mod.rs` of product code.
pub(super) fn check(source: &Source<'_>) -> Vec<Violation> {
    let is_product = source.path.starts_with("crates/") && source.path.contains("/src/");
    let is_test = source.path.ends_with("/tests/mod.rs");
    if !source.path.ends_with("/mod.rs") || !is_product || is_test || source.path == ALLOWED {
        return Vec::new();
    }
    let lines = source.lines().filter(|line| is_logic(line.code));
    let remedy = "move it to a file whose name says what it does";
    lines.map(|line| Violation::new(source.path, line.number, "logic in a mod.rs", remedy)).collect()
}

fn is_logic(code: &str) -> bool {
    let mut words = code.split_whitespace().skip_while(|word| word.starts_with("pub") || *word == "const");
    matches!(words.next(), Some("fn" | "impl" | "async")) || code.starts_with("impl<")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        check(&Source::new(path, text)).len()
    }

    #[test]
    fn a_mod_file_may_not_contain_functions_or_impls() {
        let text = "//! A folder.\nmod a;\npub(crate) use a::B;\n\npub(crate) fn c() {}\nimpl B {\n    const fn d() {}\n}\n";
        assert_eq!(found("crates/desk/src/rows/mod.rs", text), 3);
        assert_eq!(found("crates/desk/src/rows/a.rs", text), 0);
        assert_eq!(found("crates/ui/src/top/tests/mod.rs", text), 0);
        assert_eq!(
            found(
                "crates/desk/src/rows/mod.rs",
                "//! The fn of it.\npart! {\n    /// Reads.\n    pub struct Reader;\n}\n"
            ),
            0
        );
    }
}
