//! find and xargs.

use mw_model::WriteGrant;

use super::Call;
use super::disposable::is_output_pattern;
use super::options::{Given, read};
use super::reads::lists_inside;
use crate::decision::BuiltinRule;
use crate::judge::{Judge, PipeContent};
use crate::names::Names;
use crate::need;
use crate::paths::protected::is_plain_ending;
use crate::paths::secret_files::is_secret;
use crate::script::word::Word;

/// Tests and actions that only read.
const READ_ONLY: Names<'_> = Names(
    "
    -name -iname -path -ipath -wholename -regex -iregex -regextype -type -xtype -size -empty -newer -newermt
    -anewer -cnewer -mtime -mmin -atime -amin -ctime -cmin -maxdepth -mindepth -depth -d -prune -print -print0
    -printf -ls -quit -not ! -a -and -o -or ( ) , -perm -user -group -uid -gid -nouser -nogroup -links -inum
    -samefile -readable -writable -executable -mount -xdev -daystart -follow -L -H -P -fstype
",
);

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    match call.name {
        "find" => find(judge, call),
        "xargs" => xargs(judge, call),
        _ => return false,
    }
    true
}

fn find(judge: &mut Judge<'_>, call: &Call<'_>) {
    if judge.hidden_option(call) {
        return;
    }
    let starts_test = |word: &Word| word.lit().is_some_and(|text| text.starts_with(['-', '(', '!']));
    let from = call.args.iter().position(|word| !matches!(word.lit(), Some("-L" | "-H" | "-P"))).unwrap_or(0);
    let roots_end = call.args.iter().skip(from).position(starts_test).map_or(call.args.len(), |at| at + from);
    let roots = &call.args[from..roots_end];
    let inside = lists_inside(judge, roots.iter());
    let follows = call.args.iter().any(|word| matches!(word.lit(), Some("-L" | "-follow")));
    let found = if inside && !follows { Word::project_path("{}") } else { Word::unknown("{}") };
    for root in roots {
        judge.mention_values(root, &call.part);
    }
    let tests = &call.args[roots_end..];
    ask_about_secrets(judge, call, tests);
    let named =
        |word: &Word| word.values().is_some_and(|values| values.iter().all(|value| is_plain_ending(value)));
    let by_name = call.args.windows(2).any(|pair| pair[0].lit() == Some("-name") && named(&pair[1]));
    judge.finds_protected |= !by_name && judge.may_find_protected(roots.iter());
    let only_output = judge.is_confined() && inside && !follows && finds_output(tests);
    let prints = judge_actions(judge, call, tests, &FoundFiles { word: found, only_output });
    if inside && prints && !follows {
        judge.output = PipeContent::ProjectPaths;
    }
}

/// The files that a call finds.
struct FoundFiles {
    /// Stands for one of them.
    word: Word,
    /// Whether all of them are output of tools, which may be removed.
    only_output: bool,
}

/// Asks about tests that match files with secrets.
fn ask_about_secrets(judge: &mut Judge<'_>, call: &Call<'_>, tests: &[Word]) {
    for word in tests {
        if word.values().is_some_and(|values| values.iter().any(|value| is_secret(value))) {
            let why = format!("{} matches files with secrets", word.text);
            judge.ask(BuiltinRule::Secret, &call.part, &why, "searches for files with secrets");
        }
    }
}

/// Judges tests and actions. Returns whether the call prints only the paths of what it finds.
fn judge_actions(judge: &mut Judge<'_>, call: &Call<'_>, tests: &[Word], found: &FoundFiles) -> bool {
    let mut rest = tests.iter();
    let mut prints = true;
    while let Some(word) = rest.next() {
        let Some(text) = word.lit() else { continue };
        match text {
            "-delete" if found.only_output => {
                prints = false;
                judge.needs(need::writes(WriteGrant::Project));
            }
            "-delete" => {
                prints = false;
                let why = "-delete removes the files that it finds";
                judge.ask(BuiltinRule::Delete, &call.part, why, "deletes the files it finds");
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                prints = false;
                judge_executed(judge, call, text, &mut rest, found);
            }
            // Other output could be chosen.
            "-printf" | "-ls" => prints = false,
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                prints = false;
                judge.write(rest.next().unwrap_or(&Word::unknown(text)), &call.part);
            }
            "-files0-from" | "-newerXY" => {
                judge.unknown_code(&call.part, "it reads its starting points from a file");
            }
            test if test.starts_with('-') && !READ_ONLY.contains(test) && !is_number(test) => {
                let why = format!("{test} is an unknown test");
                judge.ask(BuiltinRule::UnknownCode, &call.part, &why, "may do more than search");
            }
            _ => {}
        }
    }
    prints
}

/// Judges the command of an action such as `-exec`, which ends at `;` or `+`.
fn judge_executed(
    judge: &mut Judge<'_>,
    call: &Call<'_>,
    action: &str,
    rest: &mut std::slice::Iter<'_, Word>,
    found: &FoundFiles,
) {
    let mut inner = Vec::new();
    for word in rest {
        // If this word ends the command, the words after it are actions.
        let ends = |values: &[String]| values.iter().any(|v| v == ";" || v == "+" || v.contains("{}"));
        if word.lit().is_none() && word.values().is_none_or(ends) {
            let why = format!("{} may end the command of -exec", word.text);
            judge.ask(BuiltinRule::NotLiteral, &call.part, &why, "may run further actions");
        }
        match word.lit() {
            Some(";") => break,
            Some("+") if inner.last().is_some_and(|last: &Word| last.text == "{}") => break,
            Some("{}") => inner.push(found.word.clone()),
            Some(text) if text.contains("{}") => inner.push(Word::unknown(text)),
            _ => inner.push(word.clone()),
        }
    }
    let removes = inner.first().and_then(Word::lit) == Some("rm");
    let only_found = inner.iter().skip(1).all(|word| word.is_option() || word.text == "{}");
    if found.only_output && removes && only_found {
        return judge.needs(need::writes(WriteGrant::Project));
    }
    judge.in_other_program(|judge| {
        // A relative path is another file in each directory.
        if action.ends_with("dir") {
            judge.cwd.clear();
        }
        judge.call(&inner);
    });
}

/// Returns whether a search finds only output of tools, by one name.
fn finds_output(tests: &[Word]) -> bool {
    let texts: Vec<&str> = tests
        .iter()
        .map_while(|word| word.values().and_then(|values| values.first()))
        .map(String::as_str)
        .collect();
    let known =
        |text: &&str| matches!(*text, "-o" | "-or" | "!" | "-not" | "," | "-newer" | "-L" | "-follow");
    let names: Vec<&str> =
        texts.windows(2).filter(|pair| matches!(pair[0], "-name" | "-iname")).map(|pair| pair[1]).collect();
    !names.is_empty()
        && names.iter().all(|name| is_output_pattern(name))
        && texts.first().is_some_and(|text| {
            matches!(*text, "-name" | "-iname" | "-type" | "-maxdepth" | "-mindepth" | "-depth")
        })
        && !texts.iter().any(known)
}

/// Returns whether a word is a count such as `-7`.
fn is_number(text: &str) -> bool {
    text[1..].starts_with(|c: char| c.is_ascii_digit())
        || text.starts_with("-newer") && text.len() == 8
        || text.starts_with("-O") && text.len() == 3
}

fn xargs(judge: &mut Judge<'_>, call: &Call<'_>) {
    let valued = "-n -P -I -L -d -s -E -a --max-args --max-procs --delimiter";
    let Some(at) = inner_start(call.args, valued) else {
        return judge.ask(BuiltinRule::NotLiteral, &call.part, "its command is known only at run time", "");
    };
    let options = read(&call.args[..at], valued);
    let known = "
        -0 -r -t -x -n -P -I -L -d -s -E --null --no-run-if-empty --max-args --max-procs --delimiter --verbose
    ";
    if options.other_than(known).is_some() {
        return judge.unknown_code(&call.part, "xargs has an unknown option");
    }
    // Split at another character than the end of a line, a name becomes several, and one may begin with a slash.
    let delimiters = options.all("-d --delimiter");
    let whole = delimiters
        .map(Given::word)
        .all(|word| word.is_some_and(|word| matches!(word.lit(), Some("\\n" | "\n" | "\\0"))));
    let fed = || match judge.input {
        PipeContent::ProjectPaths if whole => Word::project_path("(from the pipe)"),
        PipeContent::ProjectFiles if whole => Word::project_file("(from the pipe)"),
        PipeContent::ProjectPaths | PipeContent::ProjectFiles | PipeContent::Unknown => {
            Word::unknown("(from the pipe)")
        }
    };
    let replaces = options.all("-I").count();
    if replaces > 1 || replaces == 1 && options.has("-n -L --max-args") {
        return judge.unknown_code(&call.part, "the order of its options decides which one applies");
    }
    let replaced =
        options.find("-I").map(|given| given.word().and_then(|word| word.lit().map(str::to_owned)));
    let mut inner: Vec<Word> = call.args[at..].to_vec();
    match replaced {
        None => inner.push(fed()),
        Some(None) => return judge.unknown_code(&call.part, "the replaced text is known only at run time"),
        Some(Some(mark)) => {
            for word in &mut inner {
                let holds = |values: &[String]| values.iter().any(|value| value.contains(&mark));
                if word.lit() == Some(&mark) {
                    *word = Word { splits: false, ..fed() };
                } else if word.values().is_none_or(holds) {
                    *word = Word::unknown(&word.text);
                }
            }
        }
    }
    if call.args.len() == at {
        // Without a program it prints.
        return;
    }
    judge.in_other_program(|judge| judge.call(&inner));
}

/// Returns where the inner command begins; none if a word before it is unknown.
pub(super) fn inner_start(args: &[Word], valued: &str) -> Option<usize> {
    let takes_value = |option: &str| Names(valued).contains(option);
    let mut at = 0;
    while let Some(word) = args.get(at) {
        match word.lit() {
            None if at == 0 || word.may_be_option() || word.splits => return None,
            None => return Some(at),
            Some("--") => return Some(at + 1),
            Some(text) if text.starts_with('-') && text.len() > 1 => {
                at += if takes_value(text) { 2 } else { 1 };
                // `-xn 5`: the last of several letters takes the next word.
                let last = text.chars().last().map(|c| format!("-{c}")).unwrap_or_default();
                let is_cluster = !text.starts_with("--") && text.len() > 2;
                let earlier = text.chars().skip(1).take(text.chars().count().saturating_sub(2));
                let takes_rest = earlier.clone().any(|c| takes_value(&format!("-{c}")));
                if is_cluster && !takes_rest && takes_value(&last) {
                    at += 1;
                }
            }
            Some(_) => return Some(at),
        }
    }
    Some(args.len())
}
