//! Finds quotes in a script that are never closed.

/// Returns the quote that a script leaves open, if that is certain.
///
/// This is not a parser. Two simple readings, one that follows nested substitutions and one that does not, must agree,
/// and scripts with here-documents are not checked. So a correct script is never refused, and the shell refuses the
/// incorrect ones that are missed here.
#[must_use]
pub fn unclosed_quote(script: &str) -> Option<&'static str> {
    if script.contains("<<") {
        return None;
    }
    let nested = open_at_end(script, true)?;
    open_at_end(script, false)?;
    Some(nested)
}

fn open_at_end(script: &str, follow_substitutions: bool) -> Option<&'static str> {
    #[derive(PartialEq)]
    enum Inside {
        Double,
        Substitution,
    }
    let mut stack: Vec<Inside> = Vec::new();
    let mut characters = script.chars().peekable();
    let mut at_word_start = true;
    while let Some(c) = characters.next() {
        let quoted = stack.last() == Some(&Inside::Double);
        let begins_word = std::mem::replace(&mut at_word_start, c.is_whitespace() || ";&|(".contains(c));
        match c {
            '\\' => drop(characters.next()),
            '"' if quoted => drop(stack.pop()),
            '"' => stack.push(Inside::Double),
            '\'' if !quoted && !characters.by_ref().any(|c| c == '\'') => return Some("single quote"),
            '$' if follow_substitutions && characters.peek() == Some(&'(') => {
                characters.next();
                stack.push(Inside::Substitution);
            }
            ')' if stack.last() == Some(&Inside::Substitution) => drop(stack.pop()),
            '#' if !quoted && begins_word => drop(characters.by_ref().find(|c| *c == '\n')),
            _ => {}
        }
    }
    stack.contains(&Inside::Double).then_some("double quote")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unclosed_quote_is_reported() {
        assert_eq!(unclosed_quote("echo 'x"), Some("single quote"));
        assert_eq!(unclosed_quote("echo \"x"), Some("double quote"));
        assert_eq!(unclosed_quote("a 'b' \"c\" 'd"), Some("single quote"));
    }

    #[test]
    fn scripts_with_closed_quotes_pass() {
        for script in [
            "echo 'it'\\''s'",
            "echo \"it's\"",
            "echo \"$(echo \"it's\")\"",
            "true # don't",
            "echo \\'",
            "echo a#'b'",
            "cat <<E\nit's\nE",
            "x=$(case a in a) echo \"b\";; esac)",
            "printf '%s\\n' \"a\"",
        ] {
            assert_eq!(unclosed_quote(script), None, "{script}");
        }
    }
}
