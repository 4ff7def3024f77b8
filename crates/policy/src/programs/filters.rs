//! Filters that can also write a file: sort and uniq.

use super::Call;
use super::options::{Options, read};
use super::reads::files;
use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::script::word::Word;

pub(super) fn sort(judge: &mut Judge<'_>, call: &Call<'_>) {
    if judge.hidden_option(call) {
        return;
    }
    let valued = "-o -k -t -S -T --output --key --field-separator --compress-program";
    let options = read(call.args, valued);
    if options.has("--compress-program") {
        return judge.unknown_code(&call.part, "an option names a program to run");
    }
    for given in options.all("-o --output -T --temporary-directory") {
        judge.write(&given.word().unwrap_or_else(|| Word::unknown(&given.name)), &call.part);
    }
    if let Some(given) = options.find("--files0-from") {
        judge.read(&given.word().unwrap_or_else(|| Word::unknown("--files0-from")), &call.part);
    }
    if options.operands.is_empty() {
        judge.output = judge.input;
    }
    files(judge, options.operands.iter().copied(), &call.part);
}

pub(super) fn uniq(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, "-f -s -w");
    if options.operands.is_empty() && !options.has("-c --count") {
        judge.output = judge.input;
    }
    from_first_to_second(judge, call, &options);
}

pub(super) fn may_overwrite(judge: &mut Judge<'_>, call: &Call<'_>) {
    let why = "a second file would be overwritten";
    judge.ask(BuiltinRule::NotLiteral, &call.part, why, "may overwrite a file");
}

/// Analyses a program that reads its first file and writes its second.
pub(super) fn from_first_to_second(judge: &mut Judge<'_>, call: &Call<'_>, options: &Options<'_>) {
    if let Some(word) = options.operands.first() {
        judge.read(word, &call.part);
    }
    if options.operands.first().is_some_and(|word| word.splits || word.glob) {
        may_overwrite(judge, call);
    }
    for word in options.operands.iter().skip(1) {
        judge.write(word, &call.part);
    }
}
