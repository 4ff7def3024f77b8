//! Variables and substitutions in a word.

use super::scan::{Quotes, Scan, Variable};
use super::{Unit, extent};

/// Special parameters of a shell.
const SPECIAL: [char; 18] =
    ['@', '*', '#', '?', '-', '$', '!', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '_'];

impl Scan<'_> {
    /// Reads the expansion that begins with a dollar sign and returns its end; none if it cannot be analysed.
    pub(crate) fn dollar(&mut self, chars: &[char], at: usize, quotes: Quotes) -> Option<usize> {
        let splits = quotes == Quotes::None;
        match chars.get(at + 1) {
            Some('(') if chars.get(at + 2) == Some(&'(') => {
                let end = extent::parenthesis(chars, at + 2).filter(|end| chars[end - 1] == ')');
                let Some(end) = end.filter(|end| *end > at + 3) else {
                    self.problem("an arithmetic expression that could also be a command");
                    return None;
                };
                let inside: String = chars[at + 3..end - 1].iter().collect();
                if !is_calculation(&inside) {
                    self.problem("an arithmetic expression that can run commands");
                    return None;
                }
                self.read.evaluates |= inside.chars().any(|c| c.is_alphabetic() || c == '_');
                if inside.contains('=') || inside.contains("++") || inside.contains("--") {
                    self.read.assigned.extend(identifiers(&inside));
                }
                self.units.push(Unit::Number);
                Some(end + 1)
            }
            Some('(') => {
                let Some(end) = extent::parenthesis(chars, at + 2) else {
                    self.problem("a substitution whose end cannot be found");
                    return None;
                };
                self.read.scripts.push(chars[at + 2..end].iter().collect());
                self.units.push(Unit::Unknown { splits, in_project: false });
                Some(end + 1)
            }
            Some('{') => {
                let Some(end) = extent::brace(chars, at + 2) else {
                    self.problem("an expansion whose end cannot be found");
                    return None;
                };
                self.parameter(&chars[at + 2..end], splits);
                Some(end + 1)
            }
            Some('[') => {
                self.problem("an arithmetic expression that can run commands");
                None
            }
            Some(c) if c.is_ascii_alphabetic() || *c == '_' => {
                let name: String =
                    chars[at + 1..].iter().take_while(|c| c.is_ascii_alphanumeric() || **c == '_').collect();
                self.variable(&name, splits);
                Some(at + 1 + name.len())
            }
            Some(c) if SPECIAL.contains(c) => {
                self.units.push(Unit::Unknown { splits: true, in_project: false });
                Some(at + 2)
            }
            Some(_) | None => {
                self.push('$', true);
                Some(at + 1)
            }
        }
    }

    /// Reads what is between `${` and `}`.
    pub(crate) fn parameter(&mut self, inside: &[char], splits: bool) {
        let text: String = inside.iter().collect();
        if text.contains("$(")
            || text.contains('`')
            || text.contains("<(")
            || text.contains(">(")
            || text.contains("$[")
        {
            return self.problem("a command inside ${…}");
        }
        let name_end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
        let (name, rest) = text.split_at(name_end);
        if name.is_empty() && rest.len() > 1 && rest.starts_with('!') {
            return self.problem("an indirect reference to a variable");
        }
        self.read.used.extend(names_in(rest));
        match rest.chars().next() {
            None if !name.is_empty() => return self.variable(name, splits),
            Some('@') if !name.is_empty() => return self.problem("a transformation that can run commands"),
            Some('[') => {
                let index = rest[1..].split(']').next().unwrap_or_default();
                let plain = index == "@" || index == "*" || index.chars().all(|c| c.is_ascii_digit());
                if !plain || rest.contains("]@") {
                    return self.problem("an array index that can run commands");
                }
            }
            Some(':')
                if !rest[1..].starts_with(['-', '=', '?', '+'])
                    && !rest.chars().all(|c| c.is_ascii_digit() || matches!(c, ':' | ' ' | '-')) =>
            {
                return self.problem("an arithmetic expression that can run commands");
            }
            _ => {}
        }
        if rest.starts_with('=') || rest.starts_with(":=") {
            self.read.assigned.push(name.to_owned());
        }
        if !name.is_empty() {
            self.read.used.push(name.to_owned());
        }
        self.units.push(Unit::Unknown { splits, in_project: false });
    }

    pub(crate) fn variable(&mut self, name: &str, splits: bool) {
        // Unquoted, an empty value makes no word, and others may make several.
        let whole = |value: &String| {
            !splits || !value.is_empty() && !value.contains([' ', '\t', '\n', '*', '?', '['])
        };
        let unit = match (self.context.variable)(name) {
            Variable::Known(values) if !values.is_empty() && values.iter().all(whole) => Unit::Choice(values),
            Variable::ProjectFile => Unit::Unknown { splits, in_project: true },
            Variable::Known(_) | Variable::Unknown => Unit::Unknown { splits, in_project: false },
        };
        self.read.used.push(name.to_owned());
        self.units.push(unit);
    }

    pub(crate) fn backquoted(&mut self, chars: &[char], at: usize, quotes: Quotes) -> Option<usize> {
        let Some(end) = extent::backquote(chars, at + 1) else {
            self.problem("an unclosed backquote");
            return None;
        };
        let mut script = String::new();
        let mut inside = chars[at + 1..end].iter().copied().peekable();
        while let Some(c) = inside.next() {
            let escapes = |c: &char| matches!(c, '$' | '`' | '\\') || (*c == '"' && quotes == Quotes::Double);
            match inside.peek().copied() {
                Some(next) if c == '\\' && escapes(&next) => {
                    script.push(next);
                    inside.next();
                }
                _ => script.push(c),
            }
        }
        self.read.scripts.push(script);
        self.units.push(Unit::Unknown { splits: quotes == Quotes::None, in_project: false });
        Some(end + 1)
    }
}

/// Lists the variables that a text expands.
fn names_in(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('$').skip(1).filter_map(|part| {
        let part = part.strip_prefix('{').unwrap_or(part);
        let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(part.len());
        (end > 0).then(|| part[..end].to_owned())
    })
}

/// Returns the names in an arithmetic expression.
fn identifiers(calculation: &str) -> Vec<String> {
    let words = calculation.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .map(str::to_owned)
        .collect()
}

/// Returns whether an arithmetic expression cannot run commands.
pub(crate) fn is_calculation(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || " \t_+-*/%<>=!&|()~^?:,$#{}".contains(c))
        && !text.contains("$(")
        && !text.contains("<(")
}
