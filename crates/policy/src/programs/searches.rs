//! Programs that search in files or for files.

use super::Call;
use super::options::{Options, read};
use super::reads::{files, lists_inside};
use crate::decision::BuiltinRule;
use crate::judge::{Judge, PipeContent};
use crate::script::word::Word;

/// Options of grep that choose lines and add nothing to them.
const CHOOSES: &str = "-v -i -E -F -P -w -x -e -m --invert-match --ignore-case --regexp --max-count";
/// Options of rg and fd that choose files and change nothing about how their names are printed.
const CHOOSES_FILES: &str = "
    -l --files --files-with-matches -i -S -F -w -g -t -T -e -d -E -H -I -u -0 --hidden --no-ignore --type
    --glob -a -s -p -U --null
";

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    match call.name {
        "grep" | "egrep" | "fgrep" => grep(judge, call),
        "ag" => ag(judge, call),
        "jq" => jq(judge, call),
        "rg" => ripgrep(judge, call),
        "fd" | "fdfind" => fd(judge, call),
        _ => return false,
    }
    true
}

/// Asks about files from which patterns are read.
fn pattern_files(judge: &mut Judge<'_>, call: &Call<'_>, options: &Options<'_>) {
    for given in options.all("-f --file --from-file") {
        if let Some(word) = given.word() {
            judge.read(&word, &call.part);
        }
    }
}

fn grep(judge: &mut Judge<'_>, call: &Call<'_>) {
    let valued = "-e -f -A -B -C -m --regexp --file --max-count --context -d -D";
    let options = read(call.args, valued);
    let pattern_given = options.has("-e -f --regexp --file");
    let places = || options.operands.iter().copied().skip(usize::from(!pattern_given));
    let recursive = "-r -R --recursive --dereference-recursive";
    let recurses = options.has(recursive);
    files(judge, places(), &call.part);
    pattern_files(judge, call, &options);
    if recurses && places().next().is_none() {
        judge.read(&Word::plain("."), &call.part);
    }
    let lists = "-l -L --files-with-matches --files-without-match";
    let only = |known: &str| options.other_than(known).is_none();
    judge.finds_protected |= recurses && judge.may_find_protected(places());
    if places().next().is_some() || recurses {
        // `-` is the input, for which a label can be chosen.
        let named = !places().any(|word| word.lit() == Some("-"));
        if options.has(lists)
            && named
            && only(&format!("{CHOOSES} {lists} -I -Z --null {recursive}"))
            && lists_inside(judge, places())
        {
            judge.output = PipeContent::ProjectFiles;
        }
    } else if only(CHOOSES) {
        judge.output = judge.input;
    }
}

fn ag(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, "-A -B -C -m -G");
    if judge.hidden_option(call) || options.has("--pager") {
        return judge.unknown_code(&call.part, "an option may name a pager to run");
    }
    files(judge, options.operands.iter().copied().skip(1), &call.part);
}

fn jq(judge: &mut Judge<'_>, call: &Call<'_>) {
    // Its program may come after values of other options.
    if call.args.iter().any(|word| word.may_hold("env") || word.may_hold("ENV")) {
        let why = "the environment may contain secrets";
        judge.held(
            BuiltinRule::Secret,
            &call.part,
            why,
            "may print the environment",
            mw_model::Grant::default(),
        );
    }
    let options = read(call.args, "--indent -L");
    let program_given = options.has("-f --from-file");
    files(judge, options.operands.iter().copied().skip(usize::from(!program_given)), &call.part);
    pattern_files(judge, call, &options);
}

fn ripgrep(judge: &mut Judge<'_>, call: &Call<'_>) {
    if judge.hidden_option(call) {
        return;
    }
    let valued = "-e -f -g -t -T -A -B -C -m -j -M -r -d -E --type --glob";
    let options = read(call.args, valued);
    if options.has("--pre --hostname-bin") {
        return judge.unknown_code(&call.part, "an option names a program to run");
    }
    let pattern_given = options.has("-e -f --regexp --file --files");
    let places = || options.operands.iter().copied().skip(usize::from(!pattern_given));
    files(judge, places(), &call.part);
    if places().next().is_none() {
        judge.read(&Word::plain("."), &call.part);
    }
    pattern_files(judge, call, &options);
    let lists = options.has("-l --files --files-with-matches");
    if lists && options.other_than(CHOOSES_FILES).is_none() && lists_inside(judge, places()) {
        judge.output = PipeContent::ProjectFiles;
    }
}

fn fd(judge: &mut Judge<'_>, call: &Call<'_>) {
    if judge.hidden_option(call) {
        return;
    }
    let options = read(call.args, "-e -t -d -E -c -j -S");
    if options.has("-x -X --exec --exec-batch") {
        return judge.unknown_code(&call.part, "it runs a program for every file");
    }
    let places = options.operands.iter().copied().skip(1);
    if options.other_than(CHOOSES_FILES).is_none() && lists_inside(judge, places) {
        judge.output = PipeContent::ProjectFiles;
    }
}
