//! Programs that write, move and delete files.

use super::options::{Given, Options, read};
use super::{Call, copies};
use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::names::Names;
use crate::script::word::Word;

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    match call.name {
        "rm" | "unlink" | "rmdir" | "shred" | "srm" | "trash" | "wipe" | "rimraf" => delete(judge, call),
        "touch" | "mkdir" | "mkfifo" => make(judge, call),
        "tee" => tee(judge, call),
        "cp" | "install" => copies::copy(judge, call),
        "mv" => copies::move_files(judge, call),
        "ln" | "link" => copies::link(judge, call),
        "chmod" => chmod(judge, call),
        "truncate" => {
            let options = read(call.args, "-s -r --size --reference");
            let why = "it truncates files";
            judge.ask(BuiltinRule::Delete, &call.part, why, &format!("truncates {}", names(&options)));
            options.operands.iter().for_each(|word| judge.write(word, &call.part));
        }
        "mktemp" => mktemp(judge, call),
        "split" | "csplit" => split(judge, call),
        _ => return false,
    }
    true
}

fn names(options: &Options<'_>) -> String {
    options.operands.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

fn delete(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, "");
    if options.has("--version --help") && options.operands.is_empty() {
        return;
    }
    if judge.is_confined() && options.operands.iter().all(|word| judge.is_disposable(word)) {
        return options.operands.iter().for_each(|word| judge.write(word, &call.part));
    }
    let whole = options.has("-r -R --recursive");
    let what = names(&options);
    let effect =
        if whole { format!("deletes {what} and everything in it") } else { format!("deletes {what}") };
    judge.ask(BuiltinRule::Delete, &call.part, "it deletes files", &effect);
    // A file outside the project is an additional finding.
    for word in &options.operands {
        judge.write(word, &call.part);
    }
}

/// Asks about an unknown option, or an argument that may be one; returns whether there is one.
pub(super) fn unknown_option(
    judge: &mut Judge<'_>,
    call: &Call<'_>,
    options: &Options<'_>,
    known: &str,
) -> bool {
    if judge.hidden_option(call) {
        return true;
    }
    let Some(given) = options.other_than(known) else { return false };
    let why = format!("{} is an unknown option", given.name);
    judge.ask(BuiltinRule::UnknownCode, &call.part, &why, "has unknown effects");
    true
}

fn make(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, "-m -t -d -r --mode --date --reference");
    let known = "-p -v -m -a -c -t -d -r --parents --verbose --mode --date --reference";
    if !unknown_option(judge, call, &options, known) {
        options.all("-m --mode").filter_map(Given::word).for_each(|mode| special_mode(judge, call, &mode));
        options.operands.iter().for_each(|word| judge.write(word, &call.part));
    }
}

fn tee(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, "");
    if !unknown_option(judge, call, &options, "-a -i -p --append --ignore-interrupts") {
        options.operands.iter().for_each(|word| judge.write(word, &call.part));
    }
}

fn chmod(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, "");
    let mode_is_option = |name: &str| name.len() == 2 && "rwxXst".contains(&name[1..]);
    let flags = "-R -v -c -f --recursive --verbose";
    if judge.hidden_option(call) {
        return;
    }
    if options.given.iter().any(|given| !Names(flags).contains(&given.name) && !mode_is_option(&given.name)) {
        return judge.ask(
            BuiltinRule::UnknownCode,
            &call.part,
            "it has an unknown option",
            "changes permissions",
        );
    }
    let skip = usize::from(!options.given.iter().any(|given| mode_is_option(&given.name)));
    if let Some(mode) = options.operands.first().filter(|_| skip == 1) {
        special_mode(judge, call, mode);
    }
    for word in options.operands.iter().skip(skip) {
        judge.write(word, &call.part);
    }
}

/// Asks about a mode with which a file runs as its owner or its group.
pub(super) fn special_mode(judge: &mut Judge<'_>, call: &Call<'_>, mode: &Word) {
    let number = |text: &str| u32::from_str_radix(text.trim_start_matches(['+', '=']), 8).unwrap_or(0);
    let is_special = |text: &String| text.contains('s') || number(text) & 0o6000 != 0;
    if mode.values().is_none_or(|values| mode.ambiguous || values.iter().any(is_special)) {
        let why = "it lets others run a file as its owner";
        judge.ask(BuiltinRule::OtherUser, &call.part, why, "changes permissions");
    }
}

fn mktemp(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, "-p -t --suffix");
    if options.given.is_empty() && options.operands.is_empty()
        || options.other_than("-d -u -q").is_none() && options.operands.is_empty()
    {
        // A new file in the directory for temporary files is harmless.
        return;
    }
    options.all("-p --tmpdir").filter_map(Given::word).for_each(|word| judge.write(&word, &call.part));
    options.operands.iter().for_each(|word| judge.write(word, &call.part));
}

fn split(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, "-l -b -n -a -C");
    if unknown_option(judge, call, &options, "-l -b -n -a -C -d -x --verbose") {
        return;
    }
    if let Some(word) = options.operands.first() {
        judge.read(word, &call.part);
    }
    judge.write(options.operands.get(1).copied().unwrap_or(&Word::plain("xaa")), &call.part);
}
