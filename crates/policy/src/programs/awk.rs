//! awk: programs that only print are allowed.

use super::Call;
use super::options::read;
use super::reads::files;
use super::sed::script_text;
use crate::judge::Judge;
use crate::names::Names;

/// Words of the language that run commands or use files or the environment.
const UNSAFE_WORDS: Names<'_> = Names("system getline close fflush ENVIRON ARGV PROCINFO SYMTAB FUNCTAB");
/// Words after which a slash begins a pattern.
const BEFORE_PATTERN: Names<'_> = Names("print printf return in case else");

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    let is_awk = matches!(call.name, "awk" | "gawk" | "mawk" | "nawk");
    if is_awk {
        awk(judge, call);
    }
    is_awk
}

fn awk(judge: &mut Judge<'_>, call: &Call<'_>) {
    if judge.hidden_option(call) {
        return;
    }
    let options = read(call.args, "-F -v -f -i -l -e -E -o");
    if options.other_than("-F -v --version").is_some() {
        return judge.unknown_code(&call.part, "one of its options can load a script or write a file");
    }
    let Some((program, inputs)) = options.operands.split_first() else { return };
    if !script_text(program).is_some_and(is_harmless) {
        judge.unknown_code(&call.part, "its program may run commands or write files");
    }
    // `name=value` among the files sets a variable.
    files(judge, inputs.iter().copied(), &call.part);
}

/// Returns whether a program can only print.
fn is_harmless(program: &str) -> bool {
    let Some(bare) = bare(program) else { return false };
    let bare = bare.replace("||", "");
    // After `print`, `>` writes a file. A statement may continue on the next line.
    let redirects =
        bare.split([';', '}']).any(|part| part.find("print").is_some_and(|at| part[at..].contains('>')));
    !bare.contains(['|', '@', '`', '\\'])
        && !redirects
        && !UNSAFE_WORDS.iter().any(|word| program.contains(word))
}

/// Removes strings, patterns and comments from a program; none if implementations differ in where they end.
fn bare(program: &str) -> Option<String> {
    let mut bare = String::new();
    let mut chars = program.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                skip(&mut chars, '"')?;
                bare.push('"');
            }
            '#' => {
                bare.push('\n');
                chars.by_ref().find(|c| *c == '\n');
            }
            '/' => match before_slash(&bare)? {
                Slash::Divides => bare.push('/'),
                Slash::Pattern => {
                    skip(&mut chars, '/')?;
                    bare.push('"');
                }
            },
            c => bare.push(c),
        }
    }
    Some(bare)
}

enum Slash {
    Divides,
    Pattern,
}

/// Returns the meaning of a slash after a text; none if that needs a parser.
fn before_slash(bare: &str) -> Option<Slash> {
    let before = bare.trim_end();
    match before.chars().last() {
        Some('+' | '-') => None,
        // Behind a condition a pattern begins, behind a value it is a division.
        Some(')') if ["if", "while", "for"].iter().any(|word| bare.contains(word)) => None,
        Some(')' | ']' | '"' | '$') => Some(Slash::Divides),
        Some(c) if c.is_alphanumeric() || c == '_' => {
            let word = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            // On the next line a pattern may begin.
            let same_line = !bare[before.len()..].contains('\n');
            let divides = same_line && !BEFORE_PATTERN.contains(word);
            Some(if divides { Slash::Divides } else { Slash::Pattern })
        }
        _ => Some(Slash::Pattern),
    }
}

/// Skips to after the next such character; none if its position is not certain.
fn skip(chars: &mut std::str::Chars<'_>, end: char) -> Option<()> {
    let is_pattern = end == '/';
    loop {
        match chars.next()? {
            c if c == end => return Some(()),
            '\\' => {
                chars.next()?;
            }
            '\n' => return None,
            '"' if is_pattern => return None,
            '[' if is_pattern => skip_set(chars)?,
            _ => {}
        }
    }
}

/// Skips a set of characters; none if it contains a character that may end the pattern.
fn skip_set(chars: &mut std::str::Chars<'_>) -> Option<()> {
    let rest = chars.as_str();
    let first = rest.strip_prefix('^').unwrap_or(rest);
    if first.starts_with(']') {
        return None;
    }
    loop {
        match chars.next()? {
            ']' => return Some(()),
            '[' if chars.as_str().starts_with(':') => {
                chars.find(|c| *c == ']')?;
            }
            '/' | '"' | '\n' | '\\' => return None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_awk_program_is_harmless_only_if_it_does_nothing_but_print() {
        for program in [
            "{print $1}",
            "$3 > 5",
            "$3 > 5 {print $1}",
            "NR==1 || NR==2 {print \"a > b | c\"}",
            "END{print s}",
            "/fn main/ {print FILENAME \":\" NR}",
            "{s += $1 / 2} END {print s / NR, \"a/b\"}",
            "!/^#/ && $1 ~ /[0-9]+;}/ {n++} # counts \"\nEND {print n}",
        ] {
            assert!(is_harmless(program), "{program}");
        }
        for program in [
            "BEGIN{system(\"x\")}",
            "{print > \"f\"}",
            "{print | \"sh\"}",
            "\"date\" | getline",
            "@load \"x\"",
            "{print $1 >> $2}",
            "BEGIN{ x=/\"/; print \"id\" | \"sh\"; y=/\"/ }",
            "BEGIN{print /;/ > \"f\"}",
            "BEGIN{print \"x\" \\\n > \"f\"}",
            "BEGIN{print 1,\n2 > \"f\"}",
            "BEGIN{ # \"\nprint \"id\" | \"sh\" # \"\n}",
            "BEGIN{ a++ /\"/ 1; print \"id\" | \"sh\" /\"/ }",
            "/[/\"]/ {print \"id\" | \"sh\"} /\"/",
            "/[]/\"]/ {print \"id\" | \"sh\"} /\"/",
            "/[[:alpha:]/\"]/ {print \"id\" | \"sh\"} /\"/",
            "{for (i in SYMTAB) print SYMTAB[i]}",
            "BEGIN { if (1) /\"/; print \"id\" | \"sh\" } #\"",
        ] {
            assert!(!is_harmless(program), "{program}");
        }
    }
}
