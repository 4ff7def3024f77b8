//! Programs that only read.

use mw_model::Grant;

use super::options::read;
use super::{Call, filters};
use crate::decision::BuiltinRule;
use crate::judge::{Judge, PipeContent};
use crate::names::Names;
use crate::script::word::Word;

/// Programs that change no files, with any arguments.
const HARMLESS: Names<'_> = Names(
    "
    ls dir vdir pwd echo true false stat du df basename dirname realpath readlink whoami id groups uname arch
    nproc uptime free ps pgrep pidof which whereis seq expr sleep tput clear tty logname users who w locale
    getconf cal lscpu lsblk lsusb lspci lsmod pstree vmstat iostat factor yes
",
);

/// Programs that print the content of files, with any arguments.
const PRINTS: Names<'_> = Names(
    "
    cat head tail wc tac rev nl od hexdump strings md5sum sha1sum sha224sum sha256sum sha384sum sha512sum
    b2sum cksum sum shasum md5 cmp diff diff3 comm join paste cut tr fold fmt column expand unexpand zcat
    bzcat xzcat base64 base32 tsort numfmt look
",
);

/// Filters that print their input lines unchanged.
const LINE_FILTERS: Names<'_> = Names("head tail sort uniq tac");

/// Words in the names of variables that hold secrets.
const SECRET_WORDS: Names<'_> = Names("KEY TOKEN SECRET PASS CREDENTIAL AUTH COOKIE");

/// Returns whether a variable is named like a secret.
pub(super) fn is_secret_variable(name: &str) -> bool {
    let name = name.to_uppercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    if HARMLESS.contains(call.name) {
        for word in call.args {
            judge.mention_values(word, &call.part);
        }
        match call.name {
            "ps" => ps(judge, call),
            "ls" if only_names(call.args) && lists_inside(judge, operands(call.args)) => {
                judge.output = PipeContent::ProjectFiles;
            }
            _ => {}
        }
        return true;
    }
    if PRINTS.contains(call.name) {
        match call.name {
            "base64" | "base32" => prints_without(judge, call, "-o --output", "writes a file"),
            "diff3" => prints_without(judge, call, "--diff-program", "runs a program"),
            _ => files(judge, call.args.iter(), &call.part),
        }
        if LINE_FILTERS.contains(call.name) && passes_whole_lines(call.args) {
            judge.output = judge.input;
        }
        return true;
    }
    match call.name {
        "sort" => filters::sort(judge, call),
        "uniq" => filters::uniq(judge, call),
        "date" => date(judge, call),
        "hostname" => operand_changes(judge, call, "renames the machine"),
        "dmesg" => only_without(judge, call, "-c -C --clear --read-clear -D -E -n", "clears the log"),
        "file" => prints_without(judge, call, "-C --compile", "writes a file"),
        "tree" => prints_without(judge, call, "-o -R", "writes a file"),
        "shuf" => prints_without(judge, call, "-o --output", "writes a file"),
        "yq" if call.args.iter().any(|word| ["env", "load", "system"].iter().any(|n| word.may_hold(n))) => {
            let why = "it may print the environment or other files, or run a program";
            judge.held(BuiltinRule::Secret, &call.part, why, "may read secrets", Grant::default());
        }
        "yq" => {
            let writes = "-i --inplace --in-place -s --split-exp";
            prints_without(judge, call, writes, "writes files");
        }
        "xxd" => xxd(judge, call),
        "less" | "more" | "most" => pager(judge, call),
        "man" | "info" | "apropos" | "whatis" => manual(judge, call),
        "printenv" => print_environment(judge, call),
        "lsof" | "ss" | "netstat" => {
            let changes = "-K --kill -D --diag";
            only_without(judge, call, changes, "closes connections, or writes a file");
        }
        _ => return false,
    }
    true
}

/// Asks about reading secrets. Options are checked like files, because some of them name files.
pub(super) fn files<'w>(judge: &mut Judge<'_>, words: impl Iterator<Item = &'w Word>, part: &str) {
    for word in words {
        match word.lit() {
            Some(text) if text.starts_with('-') => {
                let value = text.split_once('=').map_or(text.get(2..), |(_, value)| Some(value));
                judge.mention(&format!("./{}", value.unwrap_or_default()), part);
            }
            // Some programs read further arguments from such a file.
            Some(text) if text.starts_with('@') => judge.read_from(&text[1..], part),
            _ => judge.read(word, part),
        }
    }
}

fn operands(args: &[Word]) -> impl Iterator<Item = &Word> {
    args.iter().filter(|word| !word.is_option())
}

/// Returns whether the listed names are of files in the project, even if they are used in another directory of it.
pub(super) fn lists_inside<'w>(judge: &Judge<'_>, mut places: impl Iterator<Item = &'w Word>) -> bool {
    judge.runs_in_project() && places.all(|place| judge.stays_inside(place))
}

/// Returns whether ls prints only names; other output could be chosen by a file.
fn only_names(args: &[Word]) -> bool {
    read(args, "").other_than("-1 -a -A -d -t -r -S").is_none()
}

/// Returns whether a filter prints lines unchanged.
fn passes_whole_lines(args: &[Word]) -> bool {
    let options = read(args, "-n");
    let counts = |name: &str| name == "-n" || name[1..].bytes().all(|byte| byte.is_ascii_digit());
    options.operands.is_empty() && options.given.iter().all(|given| counts(&given.name))
}

fn ps(judge: &mut Judge<'_>, call: &Call<'_>) {
    // Letters without a dash are BSD options, and `e` shows the environment. Values of options are not letters.
    let takes = |word: &Word| {
        matches!(word.lit(), Some("-o" | "-C" | "-p" | "-u" | "-U" | "-t" | "--sort" | "--pid" | "--ppid"))
    };
    let shows = |at: usize, word: &Word| {
        let letters = !word.is_option() && word.may_hold("e") && !(at > 0 && takes(&call.args[at - 1]));
        // With `x`, letters behind a dash may be BSD options, too.
        let cluster = word.is_option() && !word.may_hold("--") && word.may_hold("x") && word.may_hold("e");
        letters || cluster || word.is_option() && word.may_hold("E") || word.may_hold("environ")
    };
    if call.args.iter().enumerate().any(|(at, word)| shows(at, word)) {
        let why = "it may show the environment of other processes";
        judge.held(BuiltinRule::Secret, &call.part, why, "may print secrets", Grant::default());
    }
}

fn date(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, "-d -f -r --date --file --reference");
    for given in options.given.iter().filter(|given| Names("-f --file").contains(&given.name)) {
        judge.read(&given.word().unwrap_or_else(|| Word::unknown("-f")), &call.part);
    }
    let sets = |word: &&Word| word.lit().is_none_or(|text| !text.starts_with('+'));
    if !judge.hidden_option(call) && (options.has("-s --set") || options.operands.iter().any(sets)) {
        judge.ask(BuiltinRule::Destroy, &call.part, "it may set the clock", "sets the clock");
    }
}

/// Allows a program unless it has, or may have, one of these options.
fn only_without(judge: &mut Judge<'_>, call: &Call<'_>, risky: &str, effect: &str) {
    if !judge.hidden_option(call) && read(call.args, "").has(risky) {
        judge.ask(BuiltinRule::Destroy, &call.part, "one of its options makes changes", effect);
    }
}

fn prints_without(judge: &mut Judge<'_>, call: &Call<'_>, risky: &str, effect: &str) {
    if !judge.hidden_option(call) && read(call.args, "").has(risky) {
        judge.ask(
            BuiltinRule::UnknownCode,
            &call.part,
            "one of its options can write files or run commands",
            effect,
        );
    }
    files(judge, call.args.iter(), &call.part);
}

fn operand_changes(judge: &mut Judge<'_>, call: &Call<'_>, effect: &str) {
    let options = read(call.args, "");
    if !options.operands.is_empty() || options.has("-F --file -b") {
        judge.ask(BuiltinRule::Destroy, &call.part, "it changes the system", effect);
    }
}

fn xxd(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, "-s -l -c -g -o");
    if judge.hidden_option(call) {
        filters::may_overwrite(judge, call);
    }
    filters::from_first_to_second(judge, call, &options);
}

fn pager(judge: &mut Judge<'_>, call: &Call<'_>) {
    let known = "-F -R -S -X -N -E -e -i -n -r -s";
    let options = read(call.args, "");
    let commands = call.args.iter().any(|word| word.lit().is_none_or(|text| text.starts_with('+')));
    if options.other_than(known).is_some() || commands {
        return judge.unknown_code(&call.part, "a pager can run commands");
    }
    files(judge, options.operands.iter().copied(), &call.part);
}

fn manual(judge: &mut Judge<'_>, call: &Call<'_>) {
    let plain = |word: &Word| {
        word.lit().is_some_and(|text| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c))
        }) && (!word.is_option() || matches!(word.lit(), Some("-k" | "-f" | "-w")))
    };
    if !call.args.iter().all(plain) {
        judge.unknown_code(&call.part, "its arguments can choose a program that shows the manual");
    }
}

fn print_environment(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, "");
    let secret = |word: &&Word| word.lit().is_none_or(is_secret_variable);
    if options.operands.is_empty() || options.operands.iter().any(secret) {
        judge.prints_environment(&call.part);
    }
}
