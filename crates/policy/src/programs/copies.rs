//! Programs that copy, move and link files.

use super::Call;
use super::options::{Given, Options, read};
use super::reads::files;
use super::writes::{special_mode, unknown_option};
use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::script::word::Word;

/// Splits operands into sources and target; none if there is no target.
fn sources_and_target<'w>(options: &Options<'w>) -> Option<(Vec<&'w Word>, Word)> {
    if let Some(given) = options.find("-t --target-directory") {
        return Some((options.operands.clone(), given.word()?));
    }
    let (target, sources) = options.operands.split_last()?;
    (!sources.is_empty()).then(|| (sources.to_vec(), (*target).clone()))
}

/// Asks about the files that are written if the target is a directory, because a link there would be followed.
fn into(judge: &mut Judge<'_>, call: &Call<'_>, sources: &[&Word], target: &Word) {
    let Some(target) = target.lit() else { return };
    for source in sources.iter().filter_map(|word| word.lit()) {
        let base = source.trim_end_matches('/').rsplit('/').next().unwrap_or(source);
        if !base.is_empty() && !target.is_empty() && !target.starts_with("/dev/") {
            judge.write_to(&format!("{target}/{base}"), &call.part);
        }
    }
}

pub(super) fn copy(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, "-t -S -m -o -g --target-directory --suffix --mode");
    let known = "
        -a -r -R -p -v -n -u -f -i -L -P -H -d -T -t -D -m --archive --recursive --verbose --no-clobber
        --update --force --target-directory --mode --preserve --reflink --parents --no-target-directory
    ";
    if unknown_option(judge, call, &options, known) {
        return;
    }
    if call.name == "install" {
        options.all("-m --mode").filter_map(Given::word).for_each(|mode| special_mode(judge, call, &mode));
    }
    if call.name == "install" && options.has("-d") {
        return options.operands.iter().for_each(|word| judge.write(word, &call.part));
    }
    match sources_and_target(&options) {
        Some((sources, target)) => {
            into(judge, call, &sources, &target);
            if sources.iter().any(|word| word.lit() == Some("/dev/null")) {
                let why = "it empties the file";
                judge.ask(BuiltinRule::Delete, &call.part, why, &format!("empties {}", target.text));
            }
            if call.name == "cp" && !judge.is_confined() && options.has("-p -a --archive --preserve") {
                keep_modes(judge, call, &sources);
            }
            files(judge, sources.into_iter(), &call.part);
            judge.write(&target, &call.part);
        }
        None => {
            let why = "the destination of the copy is unknown";
            judge.ask(BuiltinRule::NotLiteral, &call.part, why, "writes files");
        }
    }
}

/// Asks about copies that keep the permissions of programs of the system. Where the kernel confines, it refuses set-uid bits.
fn keep_modes(judge: &mut Judge<'_>, call: &Call<'_>, sources: &[&Word]) {
    if sources.iter().any(|word| word.lit().is_none_or(|text| text.starts_with('/'))) {
        let why = "the copy may run as another user, as the original does";
        judge.ask(BuiltinRule::OtherUser, &call.part, why, "copies permissions");
    }
}

pub(super) fn move_files(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, "-t -S --target-directory --suffix");
    let known = "
        -v -n -u -f -i -T -t --verbose --no-clobber --force --target-directory --no-target-directory --update
    ";
    if unknown_option(judge, call, &options, known) {
        return;
    }
    match sources_and_target(&options) {
        // A moved file is removed from its old place.
        Some((sources, target)) => {
            into(judge, call, &sources, &target);
            sources.into_iter().for_each(|word| judge.write(word, &call.part));
            judge.write(&target, &call.part);
            if target.lit().is_some_and(|text| text.starts_with("/dev/")) {
                judge.ask(
                    BuiltinRule::Delete,
                    &call.part,
                    "data moved there is lost",
                    "deletes the moved files",
                );
            }
        }
        None => {
            let why = "the destination of the move is unknown";
            judge.ask(BuiltinRule::NotLiteral, &call.part, why, "moves files");
        }
    }
}

pub(super) fn link(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, "-t -S --target-directory --suffix");
    let known = "-s -f -n -v -r -T -i --symbolic --force --relative --verbose --no-dereference";
    if unknown_option(judge, call, &options, known) {
        return;
    }
    if judge.is_confined() && options.has("-s --symbolic") {
        // What it leads to cannot be changed through it either.
        let place = match options.operands.as_slice() {
            [_] => Word::plain("./link"),
            [.., last] => (*last).clone(),
            [] => return,
        };
        return judge.write(&place, &call.part);
    }
    // Later parts of the command may follow the link.
    for word in &options.operands {
        judge.write(word, &call.part);
        if word.lit().is_some_and(|text| text.contains("..")) {
            let why = "a link to a parent directory may lead out of the project";
            judge.ask(BuiltinRule::NotLiteral, &call.part, why, "creates a link");
        }
    }
}
