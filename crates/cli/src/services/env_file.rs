//! Files with variables, such as `.env`: `NAME=VALUE` per line, with quotes and comments. Nothing is expanded.

/// Reads the variables of a file.
///
/// # Errors
/// The number of the line that is not a variable, and why.
pub(super) fn read(text: &str) -> Result<Vec<(String, String)>, (usize, &'static str)> {
    let mut variables = Vec::new();
    let mut rest = text;
    let mut line = 1;
    while !rest.is_empty() {
        let (variable, after) = read_line(rest).map_err(|why| (line, why))?;
        variables.extend(variable);
        line += rest[..rest.len() - after.len()].matches('\n').count();
        rest = after;
    }
    Ok(variables)
}

/// A variable, if the line has one, and what follows the line.
type Line<'a> = (Option<(String, String)>, &'a str);

fn read_line(text: &str) -> Result<Line<'_>, &'static str> {
    let (line, after) = text.split_once('\n').unwrap_or((text, ""));
    let trimmed = line.trim_start();
    if trimmed.trim_end().is_empty() || trimmed.starts_with('#') {
        return Ok((None, after));
    }
    let (name, _) = trimmed.split_once('=').ok_or("this is not NAME=VALUE")?;
    let start = text.len() - text.trim_start_matches([' ', '\t']).len() + name.len() + 1;
    let name = name.trim_end();
    let name = name.strip_prefix("export ").unwrap_or(name).trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    if !is_name || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err("a name has letters, digits and _, and does not begin with a digit");
    }
    let value = text[start..].trim_start_matches([' ', '\t']);
    let (value, after) = match value.chars().next() {
        Some(quote @ ('\'' | '"')) => quoted(&value[1..], quote)?,
        _ => (plain(value.split('\n').next().unwrap_or_default()), after),
    };
    Ok((Some((name.to_owned(), value)), after))
}

/// Returns a value without quotes. A comment begins with a `#` behind a space.
fn plain(value: &str) -> String {
    let is_comment = |at: &usize| value[..*at].ends_with([' ', '\t']) || *at == 0;
    let end = value.match_indices('#').map(|(at, _)| at).find(is_comment).unwrap_or(value.len());
    value[..end].trim().to_owned()
}

/// Returns a value up to its closing quote, which may be on a later line, and what follows its line.
fn quoted(text: &str, quote: char) -> Result<(String, &str), &'static str> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            let (end, after) = text[at + 1..].split_once('\n').unwrap_or((&text[at + 1..], ""));
            let end = end.trim();
            return match end.is_empty() || end.starts_with('#') {
                true => Ok((value, after)),
                false => Err("only a comment can follow the closing quote"),
            };
        }
        if c != '\\' || quote == '\'' {
            value.push(c);
            continue;
        }
        match chars.next() {
            Some((_, 'n')) => value.push('\n'),
            Some((_, 't')) => value.push('\t'),
            Some((_, 'r')) => value.push('\r'),
            Some((_, escaped @ ('"' | '\\' | '$' | '`'))) => value.push(escaped),
            Some((_, other)) => value.extend(['\\', other]),
            None => break,
        }
    }
    Err("the quote is not closed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_comments_and_spaces_are_read_as_shells_do() {
        let text = "\
# comment\n\
\n\
PLAIN=a b # comment\r\n\
export EXPORTED = x#y\n\
EMPTY=\n\
COMMENT= # nothing\n\
SINGLE='a # \"b\" \\n $HOME' # comment\n\
DOUBLE=\"a # 'b'\\n\\\"\\$HOME\\q\"\n\
LINES='one\n\
two'\n\
  INDENTED=ü=1";
        let expected = [
            ("PLAIN", "a b"),
            ("EXPORTED", "x#y"),
            ("EMPTY", ""),
            ("COMMENT", ""),
            ("SINGLE", "a # \"b\" \\n $HOME"),
            ("DOUBLE", "a # 'b'\n\"$HOME\\q"),
            ("LINES", "one\ntwo"),
            ("INDENTED", "ü=1"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(read(text), Ok(expected.to_vec()));
    }

    #[test]
    fn a_line_that_is_no_variable_is_refused_with_its_number() {
        for (text, line) in [
            ("A=1\nnonsense\n", 2),
            ("A='x\ny'\n1B=2", 3),
            ("=x", 1),
            ("A B=x", 1),
            ("\n\nA=\"x\nB=1\n", 3),
            ("A='x' y", 1),
        ] {
            assert_eq!(read(text).map_err(|(line, _)| line), Err(line), "{text}");
        }
    }
}
