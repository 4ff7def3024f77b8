//! Programs that only look.

use super::Call;
use super::options::read;
use crate::policy::decision::Ground;
use crate::policy::judge::{Feed, Judge};
use crate::policy::word::Word;

/// Programs that do nothing to files, whatever they are called with.
const HARMLESS: [&str; 50] = [
    "ls", "dir", "vdir", "pwd", "echo", "true", "false", "stat", "du", "df", "basename", "dirname",
    "realpath", "readlink", "whoami", "id", "groups", "uname", "arch", "nproc", "uptime", "free", "ps",
    "pgrep", "pidof", "which", "whereis", "seq", "expr", "sleep", "tput", "clear", "tty", "logname", "users",
    "who", "w", "locale", "getconf", "cal", "lscpu", "lsblk", "lsusb", "lspci", "lsmod", "pstree", "vmstat",
    "iostat", "factor", "yes",
];

/// Programs that print what is in files, whatever they are called with.
const PRINTS: [&str; 42] = [
    "cat",
    "head",
    "tail",
    "wc",
    "tac",
    "rev",
    "nl",
    "od",
    "hexdump",
    "strings",
    "md5sum",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "b2sum",
    "cksum",
    "sum",
    "shasum",
    "md5",
    "cmp",
    "diff",
    "diff3",
    "comm",
    "join",
    "paste",
    "cut",
    "tr",
    "fold",
    "fmt",
    "column",
    "expand",
    "unexpand",
    "zcat",
    "bzcat",
    "xzcat",
    "base64",
    "base32",
    "tsort",
    "numfmt",
    "look",
];

/// Programs whose first operand is a pattern or a filter, and the rest are files.
const SEARCHES: [&str; 5] = ["grep", "egrep", "fgrep", "jq", "ag"];

/// Filters that pass names on as they come.
const PASSES: [&str; 5] = ["head", "tail", "sort", "uniq", "tac"];

/// Words in the names of variables that hold secrets.
const SECRET_WORDS: [&str; 7] = ["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "COOKIE"];

/// Tells whether a variable is named like a secret.
pub(super) fn is_secret_variable(name: &str) -> bool {
    let name = name.to_uppercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    if HARMLESS.contains(&call.name) {
        for word in call.args {
            mentions(judge, word, &call.part);
        }
        // Without a dash these letters are those of BSD, among them the environment of others.
        if call.name == "ps" && call.args.iter().any(|word| !word.is_option() && word.text.contains('e')) {
            judge.ask(
                Ground::Secret,
                &call.part,
                "it may show the environment of others",
                "may print secrets",
            );
        }
        if call.name == "ls" && judge.is_at_home() && operands_inside(judge, call.args) {
            judge.output = Feed::ProjectFiles;
        }
        return true;
    }
    if PRINTS.contains(&call.name) {
        files(judge, call.args.iter(), &call.part);
        if PASSES.contains(&call.name) && read(call.args, &["-n", "-c"]).operands.is_empty() {
            judge.output = judge.feed;
        }
        return true;
    }
    if SEARCHES.contains(&call.name) {
        search(judge, call);
        return true;
    }
    match call.name {
        "sort" => sort(judge, call),
        "uniq" => uniq(judge, call),
        "date" => only_without(judge, call, &["-s", "--set"], "sets the clock"),
        "hostname" => operand_changes(judge, call, "renames the machine"),
        "dmesg" => only_without(
            judge,
            call,
            &["-c", "-C", "--clear", "--read-clear", "-D", "-E", "-n"],
            "clears the log",
        ),
        "file" => prints_without(judge, call, &["-C", "--compile"], "writes a file"),
        "tree" => prints_without(judge, call, &["-o", "-R"], "writes a file"),
        "shuf" => prints_without(judge, call, &["-o", "--output"], "writes a file"),
        "yq" if call.args.iter().any(|word| word.text.contains("env") || word.text.contains("load")) => {
            judge.ask(
                Ground::Secret,
                &call.part,
                "it may print the environment or other files",
                "may read secrets",
            );
        }
        "yq" => prints_without(judge, call, &["-i", "--inplace", "-s", "--split-exp"], "writes files"),
        "xxd" => xxd(judge, call),
        "rg" => ripgrep(judge, call),
        "fd" | "fdfind" => fd(judge, call),
        "less" | "more" | "most" => pager(judge, call),
        "man" | "info" | "apropos" | "whatis" => manual(judge, call),
        "printenv" => print_environment(judge, call),
        "lsof" | "ss" | "netstat" => {
            only_without(judge, call, &["-K", "--kill"], "closes connections");
        }
        _ => return false,
    }
    true
}

/// Asks about naming a place of secrets.
fn mentions(judge: &mut Judge<'_>, word: &Word, part: &str) {
    for value in word.values().unwrap_or_default().to_vec() {
        judge.mention(&value, part);
    }
}

/// Asks about reading secrets; options are looked at like files, for some name files.
pub(super) fn files<'w>(judge: &mut Judge<'_>, words: impl Iterator<Item = &'w Word>, part: &str) {
    for word in words {
        match word.lit() {
            Some(text) if text.starts_with('-') => {
                if let Some((_, value)) = text.split_once('=') {
                    judge.mention(value, part);
                }
            }
            _ => judge.read(word, part),
        }
    }
}

fn operands_inside(judge: &Judge<'_>, args: &[Word]) -> bool {
    args.iter().filter(|word| !word.is_option()).all(|word| judge.is_inside(word))
}

fn search(judge: &mut Judge<'_>, call: &Call<'_>) {
    let valued =
        ["-e", "-f", "-A", "-B", "-C", "-m", "--regexp", "--file", "--max-count", "--context", "-d", "-D"];
    let jq_valued = ["--indent", "-L", "--tab"];
    let options = read(call.args, if call.name == "jq" { &jq_valued } else { &valued });
    let environment = |word: &Word| {
        word.values().is_none_or(|values| values.iter().any(|v| v.to_lowercase().contains("env")))
    };
    if call.name == "jq" && options.operands.first().is_some_and(|word| environment(word)) {
        judge.ask(
            Ground::Secret,
            &call.part,
            "the environment may hold secrets",
            "may print the environment",
        );
    }
    if call.name == "ag" && options.has(&["--pager"]) {
        return judge.unknown_code(&call.part, "a pager is a program");
    }
    let pattern_given = options.has(&["-e", "-f", "--regexp", "--file", "--from-file"]);
    let operands = options.operands.iter().skip(usize::from(!pattern_given));
    let any = operands.clone().next().is_some();
    files(judge, operands.copied(), &call.part);
    for given in
        options.given.iter().filter(|given| ["-f", "--file", "--from-file"].contains(&given.name.as_str()))
    {
        if let Some(word) = given.word() {
            judge.read(&word, &call.part);
        }
    }
    let lists = options.has(&["-l", "-L", "--files-with-matches", "--files-without-match"]);
    if !any && options.has(&["-r", "-R", "--recursive", "--dereference-recursive"]) {
        judge.read(&Word::plain("."), &call.part);
    }
    let recurses = options.has(&["-r", "-R", "--recursive", "--dereference-recursive"]);
    if lists && judge.is_at_home() && (any || recurses) {
        if options.operands.iter().skip(usize::from(!pattern_given)).all(|word| judge.is_inside(word)) {
            judge.output = Feed::ProjectFiles;
        }
    } else if !any && !recurses && !options.has(&["-o", "--only-matching", "-b", "-n", "-c"]) {
        judge.output = judge.feed;
    }
}

fn sort(judge: &mut Judge<'_>, call: &Call<'_>) {
    if judge.hidden_option(call) {
        return;
    }
    let valued =
        ["-o", "-k", "-t", "-S", "-T", "--output", "--key", "--field-separator", "--compress-program"];
    let options = read(call.args, &valued);
    if options.has(&["--compress-program"]) {
        return judge.unknown_code(&call.part, "it names a program to run");
    }
    if let Some(given) = options.find(&["-o", "--output"]) {
        judge.write(&given.word().unwrap_or_else(|| Word::open("-o")), &call.part);
    }
    if let Some(given) = options.find(&["-T", "--temporary-directory"]) {
        judge.write(&given.word().unwrap_or_else(|| Word::open("-T")), &call.part);
    }
    if options.operands.is_empty() {
        judge.output = judge.feed;
    }
    files(judge, options.operands.iter().copied(), &call.part);
}

fn uniq(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, &["-f", "-s", "-w"]);
    if options.operands.is_empty() && !options.has(&["-c", "--count"]) {
        judge.output = judge.feed;
    }
    if let Some(word) = options.operands.first() {
        judge.read(word, &call.part);
    }
    if options.operands.first().is_some_and(|word| word.splits || word.glob) {
        judge.ask(
            Ground::NotLiteral,
            &call.part,
            "a second file would be overwritten",
            "may overwrite a file",
        );
    }
    for word in options.operands.iter().skip(1) {
        judge.write(word, &call.part);
    }
}

/// Allows a program unless one of these options is there, or may be.
fn only_without(judge: &mut Judge<'_>, call: &Call<'_>, risky: &[&str], effect: &str) {
    if !judge.hidden_option(call) && read(call.args, &[]).has(risky) {
        judge.ask(Ground::Destroy, &call.part, "an option changes something", effect);
    }
}

fn prints_without(judge: &mut Judge<'_>, call: &Call<'_>, risky: &[&str], effect: &str) {
    if !judge.hidden_option(call) && read(call.args, &[]).has(risky) {
        judge.ask(Ground::UnknownCode, &call.part, "an option does more than print", effect);
    }
    files(judge, call.args.iter(), &call.part);
}

fn operand_changes(judge: &mut Judge<'_>, call: &Call<'_>, effect: &str) {
    let options = read(call.args, &[]);
    if !options.operands.is_empty() || options.has(&["-F", "--file", "-b"]) {
        judge.ask(Ground::Destroy, &call.part, "it changes the machine", effect);
    }
}

fn xxd(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, &["-s", "-l", "-c", "-g", "-o"]);
    if let Some(word) = options.operands.first() {
        judge.read(word, &call.part);
    }
    if judge.hidden_option(call) || options.operands.first().is_some_and(|word| word.splits || word.glob) {
        judge.ask(
            Ground::NotLiteral,
            &call.part,
            "a second file would be overwritten",
            "may overwrite a file",
        );
    }
    for word in options.operands.iter().skip(1) {
        judge.write(word, &call.part);
    }
}

fn ripgrep(judge: &mut Judge<'_>, call: &Call<'_>) {
    if judge.hidden_option(call) {
        return;
    }
    let valued = [
        "-e", "-f", "-g", "-t", "-T", "-A", "-B", "-C", "-m", "-j", "-M", "-r", "-d", "-E", "--type",
        "--glob",
    ];
    let options = read(call.args, &valued);
    if options.has(&["--pre", "--hostname-bin"]) {
        return judge.unknown_code(&call.part, "an option names a program to run");
    }
    let pattern_given = options.has(&["-e", "-f", "--regexp", "--file", "--files"]);
    let operands = || options.operands.iter().copied().skip(usize::from(!pattern_given));
    files(judge, operands(), &call.part);
    if operands().next().is_none() {
        judge.read(&Word::plain("."), &call.part);
    }
    for given in options.given.iter().filter(|given| ["-f", "--file"].contains(&given.name.as_str())) {
        if let Some(word) = given.word() {
            judge.read(&word, &call.part);
        }
    }
    let lists = options.has(&["-l", "--files", "--files-with-matches"]);
    if lists && judge.is_at_home() && operands().all(|word| judge.is_inside(word)) {
        judge.output = Feed::ProjectFiles;
    }
}

fn fd(judge: &mut Judge<'_>, call: &Call<'_>) {
    if judge.hidden_option(call) {
        return;
    }
    let options = read(call.args, &["-e", "-t", "-d", "-E", "-c", "-j", "-S"]);
    if options.has(&["-x", "-X", "--exec", "--exec-batch"]) {
        return judge.unknown_code(&call.part, "it runs a program for every file");
    }
    let places = options.operands.iter().skip(1);
    if judge.is_at_home() && places.clone().all(|word| judge.is_inside(word)) {
        judge.output = Feed::ProjectFiles;
    }
}

fn pager(judge: &mut Judge<'_>, call: &Call<'_>) {
    let known = ["-F", "-R", "-S", "-X", "-N", "-E", "-e", "-i", "-n", "-r", "-s"];
    let options = read(call.args, &[]);
    let commands = call.args.iter().any(|word| word.lit().is_none_or(|text| text.starts_with('+')));
    if options.other_than(&known).is_some() || commands {
        return judge.unknown_code(&call.part, "a pager can run commands");
    }
    files(judge, options.operands.iter().copied(), &call.part);
}

fn manual(judge: &mut Judge<'_>, call: &Call<'_>) {
    let plain = |word: &Word| {
        word.lit().is_some_and(|text| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c))
        }) && !word.is_option()
    };
    if !call.args.iter().all(plain)
        && call.args.iter().any(|word| !["-k", "-f", "-w"].contains(&word.text.as_str()))
    {
        judge.unknown_code(&call.part, "a manual is shown by programs that options and paths choose");
    }
}

fn print_environment(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, &[]);
    let secret = |word: &&Word| word.lit().is_none_or(is_secret_variable);
    if options.operands.is_empty() || options.operands.iter().any(secret) {
        let why = "the environment may hold secrets";
        judge.ask(Ground::Secret, &call.part, why, "prints the environment");
    }
}
