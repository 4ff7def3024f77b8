//! sed: scripts that only print are allowed.

use super::Call;
use super::options::read;
use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::names::Names;
use crate::script::word::Word;

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    let is_sed = matches!(call.name, "sed" | "gsed");
    if is_sed {
        sed(judge, call);
    }
    is_sed
}

fn sed(judge: &mut Judge<'_>, call: &Call<'_>) {
    if judge.hidden_option(call) {
        return;
    }
    // `-i.bak`: the text after the letter is a suffix, in which a star stands for the name.
    let (args, endings) = without_endings(call.args);
    let in_place = !endings.is_empty();
    if endings.iter().any(|ending| ending.contains(['/', '*'])) {
        let why = "it writes backup files to another directory";
        judge.ask(BuiltinRule::WriteOutside, &call.part, why, "writes files to another directory");
    }
    let options = read(&args, "-e -f -l --expression --file --line-length");
    let known = "
        -n -e -E -r -s -u -z --quiet --silent --expression --regexp-extended --null-data --separate
        --unbuffered --posix --sandbox --version
    ";
    if let Some(given) = options.other_than(known) {
        let why = format!("{} reads a script from a file, or is an unknown option", given.name);
        return judge.unknown_code(&call.part, &why);
    }
    let mut scripts: Vec<Word> = Vec::new();
    for given in options.given.iter().filter(|given| Names("-e --expression").contains(&given.name)) {
        scripts.push(given.word().unwrap_or_else(|| Word::unknown("-e")));
    }
    let skip = usize::from(scripts.is_empty() && !options.has("--version"));
    scripts.extend(options.operands.iter().take(skip).map(|word| (*word).clone()));
    for script in &scripts {
        if !script_text(script).is_some_and(only_prints) {
            let why = "its script may run commands or write files";
            judge.unknown_code(&call.part, why);
        }
    }
    for word in options.operands.iter().skip(skip) {
        if in_place {
            judge.write(word, &call.part);
        } else {
            judge.read(word, &call.part);
        }
    }
}

/// Returns the text of a script, if it is known.
pub(super) fn script_text(word: &Word) -> Option<&str> {
    match word.values() {
        Some([one]) if !word.ambiguous => Some(one),
        _ => None,
    }
}

/// Removes the options for changes in place; returns the other arguments and the suffixes of copies.
fn without_endings(args: &[Word]) -> (Vec<Word>, Vec<String>) {
    let (mut rest, mut endings) = (Vec::new(), Vec::new());
    // The value of an option is not an option.
    let mut is_taken = false;
    for word in args {
        let text = word.lit().filter(|text| text.starts_with('-') && !is_taken).unwrap_or_default();
        is_taken = !is_taken && takes_next(text);
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
        let before = letters.find(['e', 'f', 'l']).map_or(letters, |end| &letters[..end]);
        if let Some(ending) = text.strip_prefix("--in-place") {
            endings.push(ending.to_owned());
        } else if let Some((flags, _)) = before.split_once('i') {
            endings.push(letters[flags.len() + 1..].to_owned());
            is_taken = false;
            if !flags.is_empty() {
                rest.push(Word::plain(&format!("-{flags}")));
            }
        } else {
            rest.push(word.clone());
        }
    }
    (rest, endings)
}

/// Returns whether the next word belongs to an option.
fn takes_next(text: &str) -> bool {
    let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    matches!(text, "--expression" | "--file" | "--line-length")
        || letters.find(['e', 'f', 'l']).is_some_and(|at| at + 1 == letters.len())
}

/// Returns whether a script only changes what sed prints.
fn only_prints(script: &str) -> bool {
    let chars: Vec<char> = script.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        match chars[at] {
            ' ' | '\t' | '\n' | ';' | '{' | '}' => at += 1,
            '#' => {
                while at < chars.len() && chars[at] != '\n' {
                    at += 1;
                }
            }
            _ => match command(&chars, at) {
                Some(next) => at = next,
                None => return false,
            },
        }
    }
    true
}

/// Parses addresses and one command and returns its end; none if it is not harmless or not understood.
fn command(chars: &[char], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        match chars.get(at)? {
            '0'..='9' | '$' | ',' | '~' | '+' | '!' | ' ' | '\t' => at += 1,
            '/' => {
                at = delimited(chars, at + 1, '/')?;
                while chars.get(at) == Some(&'I') {
                    at += 1;
                }
            }
            _ => break,
        }
    }
    match chars[at] {
        '{' => Some(at + 1),
        'p' | 'd' | 'q' | 'Q' | '=' | 'n' | 'N' | 'D' | 'P' | 'g' | 'G' | 'h' | 'H' | 'x' | 'l' => {
            let mut end = at + 1;
            while chars.get(end).is_some_and(|c| c.is_ascii_digit() || *c == ' ') {
                end += 1;
            }
            matches!(chars.get(end), None | Some(';' | '\n' | '}')).then_some(end)
        }
        mark @ ('s' | 'y') => {
            let delimiter =
                *chars.get(at + 1).filter(|c| !c.is_alphanumeric() && !c.is_whitespace() && **c != '\\')?;
            let middle = delimited(chars, at + 2, delimiter)?;
            let mut end = delimited(chars, middle, delimiter)?;
            let flags = if mark == 's' { "gpiIM0123456789 " } else { " " };
            while chars.get(end).is_some_and(|c| flags.contains(*c)) {
                end += 1;
            }
            matches!(chars.get(end), None | Some(';' | '\n' | '}')).then_some(end)
        }
        _ => None,
    }
}

/// Returns the position after the next delimiter; none if it may be inside brackets.
fn delimited(chars: &[char], from: usize, delimiter: char) -> Option<usize> {
    let (mut at, mut bracket) = (from, false);
    while let Some(c) = chars.get(at) {
        match c {
            '\\' => at += 1,
            '\n' => return None,
            // Implementations differ in whether this bracket closes the set.
            '[' if matches!(&chars[at + 1..], [']', ..] | ['^', ']', ..]) => return None,
            '[' => bracket = true,
            ']' => bracket = false,
            c if *c == delimiter => return (!bracket).then_some(at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sed_scripts_that_only_print_are_distinguished_from_others() {
        for script in
            ["p", "1,5p", "$d", "s/a/b/g", "/x/d", "s|a|b|;s#c#d#p", "/a/,/b/{p;d}", "y/ab/cd/", "10q"]
        {
            assert!(only_prints(script), "{script}");
        }
        for script in [
            "e",
            "1e ls",
            "s/a/b/e",
            "s/a/b/w out",
            "w out",
            "r /etc/passwd",
            "s/a/b/ge",
            "W x",
            "s/[/]/x/e",
            "a\\\ntext",
            "s\na\nb\ne",
            "/x/e",
            "s/[]/]/x/",
        ] {
            assert!(!only_prints(script), "{script}");
        }
    }
}
