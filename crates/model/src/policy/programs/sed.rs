//! sed and awk: languages of their own, allowed as far as they only print.

use super::Call;
use super::options::read;
use super::reads::files;
use crate::policy::judge::Judge;
use crate::policy::word::Word;

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    match call.name {
        "sed" | "gsed" => sed(judge, call),
        "awk" | "gawk" | "mawk" | "nawk" => awk(judge, call),
        _ => return false,
    }
    true
}

fn sed(judge: &mut Judge<'_>, call: &Call<'_>) {
    if judge.hidden_option(call) {
        return;
    }
    let options = read(call.args, &["-e", "-f", "-l", "--expression", "--file", "--line-length"]);
    let known = [
        "-n",
        "-e",
        "-E",
        "-r",
        "-s",
        "-u",
        "-z",
        "-i",
        "--quiet",
        "--silent",
        "--expression",
        "--regexp-extended",
        "--in-place",
        "--null-data",
        "--separate",
        "--unbuffered",
        "--posix",
        "--sandbox",
        "--version",
    ];
    // `-i.bak`: what follows the letter is an ending.
    let in_place = call.args.iter().any(|word| word.lit().is_some_and(is_in_place));
    let ending = |name: &str| in_place && name.len() == 2 && !["-e", "-f"].contains(&name);
    if let Some(given) = options.other_than(&known).filter(|given| !ending(&given.name)) {
        let why = format!("{} takes a script from elsewhere or is not known here", given.name);
        return judge.unknown_code(&call.part, &why);
    }
    let mut scripts: Vec<Word> = Vec::new();
    for given in options.given.iter().filter(|given| ["-e", "--expression"].contains(&given.name.as_str())) {
        scripts.push(given.word().unwrap_or_else(|| Word::open("-e")));
    }
    let skip = usize::from(scripts.is_empty() && !options.has(&["--version"]));
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

/// Returns a script that is known; what looks like a pattern for files is none when it is quoted.
fn script_text(word: &Word) -> Option<&str> {
    match word.values() {
        Some([one]) if !word.odd => Some(one),
        _ => None,
    }
}

fn is_in_place(text: &str) -> bool {
    let letters = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    text.starts_with("--in-place")
        || letters.is_some_and(|rest| rest.split(['e', 'f']).next().is_some_and(|l| l.contains('i')))
}

/// Tells whether a script of sed does nothing but change what it prints.
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

/// Reads addresses and one command, and returns where it ends; none when it is not harmless or not understood.
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

/// Finds what is behind the next delimiter; none when brackets could hide one.
fn delimited(chars: &[char], from: usize, delimiter: char) -> Option<usize> {
    let (mut at, mut bracket) = (from, false);
    while let Some(c) = chars.get(at) {
        match c {
            '\\' => at += 1,
            '\n' => return None,
            '[' => bracket = true,
            ']' => bracket = false,
            c if *c == delimiter => return (!bracket).then_some(at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}

fn awk(judge: &mut Judge<'_>, call: &Call<'_>) {
    if judge.hidden_option(call) {
        return;
    }
    let options = read(call.args, &["-F", "-v", "-f", "-i", "-l", "-e", "-E", "-o"]);
    if options.other_than(&["-F", "-v", "--version"]).is_some() {
        return judge.unknown_code(&call.part, "an option takes a script from elsewhere");
    }
    let Some((program, inputs)) = options.operands.split_first() else { return };
    if !script_text(program).is_some_and(is_harmless_awk) {
        judge.unknown_code(&call.part, "its program may run commands or write files");
    }
    // `name=value` among the files sets a variable.
    files(judge, inputs.iter().copied(), &call.part);
}

/// Tells whether a program of awk can only print.
fn is_harmless_awk(program: &str) -> bool {
    let mut bare = String::new();
    let mut chars = program.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => loop {
                match chars.next() {
                    None => return false,
                    Some('"') => break,
                    Some('\\') => {
                        chars.next();
                    }
                    Some(_) => {}
                }
            },
            c => bare.push(c),
        }
    }
    let words = ["system", "getline", "close", "fflush", "ENVIRON", "ARGV", "PROCINFO"];
    let bare = bare.replace("||", "");
    // Where something is printed, a sign for "greater" is a file.
    let redirects = bare.split([';', '}', '\n']).any(|part| part.contains("print") && part.contains('>'));
    !bare.contains(['|', '@', '`']) && !redirects && !words.iter().any(|word| program.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_of_sed_that_only_print() {
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
        ] {
            assert!(!only_prints(script), "{script}");
        }
    }

    #[test]
    fn programs_of_awk_that_only_print() {
        for program in ["{print $1}", "$3 > 5", "NR==1 || NR==2 {print \"a > b | c\"}", "END{print s}"] {
            assert!(is_harmless_awk(program), "{program}");
        }
        for program in [
            "BEGIN{system(\"x\")}",
            "{print > \"f\"}",
            "{print | \"sh\"}",
            "\"date\" | getline",
            "@load \"x\"",
            "{print $1 >> $2}",
        ] {
            assert!(!is_harmless_awk(program), "{program}");
        }
    }
}
