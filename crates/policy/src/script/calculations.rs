//! Tests and arithmetic expressions: what looks like a number may be a command.

use brush_parser::ast::{ExtendedTestExpr, UnexpandedArithmeticExpr};

use crate::decision::BuiltinRule;
use crate::judge::{Grammar, Judge};
use crate::script::word::{Variable, Word, is_calculation};

impl Judge<'_> {
    pub(crate) fn extended_test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                if self.grammar == Grammar::Posix {
                    let why = "bash compares here; other shells run what follows";
                    self.ask(BuiltinRule::UnknownCode, &test.to_string(), why, "may run commands");
                }
                self.extended_test(left);
                self.extended_test(right);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => {
                self.extended_test(inner);
            }
            ExtendedTestExpr::UnaryTest(predicate, word) => {
                let of_variable = matches!(predicate.to_string().as_str(), "-v" | "-R");
                if of_variable && self.word(&word.value).iter().any(|word| word.lit().is_none()) {
                    let why = "the index of an array in it can run commands";
                    self.ask(BuiltinRule::UnknownCode, &word.value, why, "may run commands");
                }
                self.test_word(&word.value);
            }
            ExtendedTestExpr::BinaryTest(predicate, left, right) => {
                if self.grammar == Grammar::Posix && matches!(predicate.to_string().as_str(), "<" | ">") {
                    let why = "bash compares here; other shells redirect";
                    self.ask(BuiltinRule::UnknownCode, &test.to_string(), why, "may overwrite a file");
                }
                self.test_word(&left.value);
                self.test_word(&right.value);
                if matches!(predicate.to_string().as_str(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") {
                    self.number(&left.value);
                    self.number(&right.value);
                }
            }
        }
    }

    /// Asks about an operand of an arithmetic comparison that may not be a number.
    fn number(&mut self, raw: &str) {
        if matches!(raw, "$#" | "$?" | "$$" | "$!") || raw.starts_with("${#") {
            return;
        }
        let is_number = |value: &String| value.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit());
        let words = self.word(raw);
        let numbers =
            words.iter().all(|word| word.values().is_some_and(|values| values.iter().all(is_number)));
        if !numbers {
            self.calculates = true;
            if self.executable_values || words.iter().any(|word| word.values().is_none()) {
                let why = "bash evaluates it as arithmetic, and it may contain a command";
                self.ask(BuiltinRule::UnknownCode, raw, why, "may run commands");
            }
        }
    }

    /// Expands an operand of a test. An index in it is evaluated.
    fn test_word(&mut self, raw: &str) {
        if self.grammar == Grammar::Posix && raw.contains(['|', '&', ';', '<', '>', '(', ')']) {
            let why = "bash compares here; other shells run what follows";
            self.ask(BuiltinRule::UnknownCode, raw, why, "may run commands");
        }
        let words = self.word(raw);
        let evaluated = |word: &Word| {
            word.values()
                .is_none_or(|values| values.iter().any(|v| v.contains('[') && v.contains(['$', '`'])))
                && raw.contains('[')
        };
        if words.iter().any(evaluated) {
            self.ask(BuiltinRule::UnknownCode, raw, "an array index can run commands", "may run commands");
        }
    }

    /// Records that an expression evaluates variables, and asks if one may hold a command.
    pub(crate) fn evaluates(&mut self, text: &str) {
        self.calculates = true;
        if self.executable_values {
            let why = "it evaluates a variable whose content may be a command";
            self.ask(BuiltinRule::UnknownCode, text, why, "may run commands");
        }
    }

    pub(crate) fn calculation(&mut self, expression: &UnexpandedArithmeticExpr) {
        let text = &expression.value;
        if !is_calculation(text) || has_argument(text) {
            self.ask(
                BuiltinRule::UnknownCode,
                text,
                "this arithmetic expression can run commands",
                "may run commands",
            );
        } else if text.chars().any(char::is_alphabetic) {
            self.evaluates(text);
        }
        let changed = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for name in changed.filter(|name| !name.is_empty()) {
            if self.variables.contains_key(name) {
                self.variables.insert(name.to_owned(), Variable::Unknown);
            }
        }
    }
}

/// Returns whether an expression evaluates an argument of the script or of a function, whose value is not known.
fn has_argument(text: &str) -> bool {
    let bytes = text.as_bytes();
    let follows = |at: usize| {
        bytes.get(at).is_some_and(|byte| byte.is_ascii_digit() && *byte != b'0' || b"@*".contains(byte))
    };
    text.match_indices('$')
        .any(|(at, _)| follows(at + 1) || bytes.get(at + 1) == Some(&b'{') && follows(at + 2))
}
