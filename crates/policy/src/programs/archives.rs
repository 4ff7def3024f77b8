//! Archives: listing and creating is allowed, extracting needs approval.

use mw_model::Grant;

use super::Call;
use super::options::{Given, Options, read};
use super::reads::files;
use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::script::word::Word;

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    match call.name {
        "tar" | "bsdtar" | "gtar" => tar(judge, call),
        "unzip" => unzip(judge, call),
        "zipinfo" => files(judge, call.args.iter(), &call.part),
        _ => return false,
    }
    true
}

fn tar(judge: &mut Judge<'_>, call: &Call<'_>) {
    if judge.hidden_option(call) {
        return;
    }
    let args = with_dashes(call.args);
    let options = read(&args, "-f -C -T --file --directory --exclude");
    let known = "
        -t -c -v -z -j -J -a -f -C -p -h --list --create --verbose --gzip --file --directory --exclude --zstd
        --version --auto-compress
    ";
    if options.other_than(known).is_some() {
        let (why, effect) = match options.other_than(&format!("{known} -x --extract --get")) {
            None => ("it extracts files from an archive".to_owned(), "extracts files from an archive"),
            Some(given) => (
                format!("{} can delete files or run a program, or is an unknown option", given.name),
                "extracts files from an archive, or runs programs",
            ),
        };
        extracts_to(judge, call, &options, "-C --directory");
        return judge.ask(BuiltinRule::UnknownCode, &call.part, &why, effect);
    }
    let packs = options.has("-c --create");
    if packs {
        for given in options.all("-C --directory") {
            let place = given.word().unwrap_or_else(|| Word::unknown("-C"));
            if !judge.is_inside(&place) {
                let why = format!("it archives files in {}, outside the project", place.text);
                let effect = "archives files outside the project";
                judge.held(BuiltinRule::Secret, &call.part, &why, effect, Grant::default());
            }
        }
    }
    let mut archives = options.all("-f --file").filter_map(Given::word).peekable();
    if archives.peek().is_none() && !options.has("--version") {
        judge.ask(BuiltinRule::NotLiteral, &call.part, "the default archive depends on the machine", "");
    }
    for file in archives {
        if file.lit().is_none_or(|text| text.contains(':')) {
            let why = "the archive may be on another machine";
            judge.held(BuiltinRule::Network, &call.part, why, "", Grant::default());
        }
        if packs && file.lit() != Some("-") {
            judge.write(&file, &call.part);
        }
    }
    files(judge, options.operands.iter().copied(), &call.part);
}

/// Converts letters without a dash to options. Their values follow all letters, in the same order.
fn with_dashes(args: &[Word]) -> Vec<Word> {
    let letters = args.first().and_then(Word::lit).filter(|text| !text.starts_with('-'));
    let Some(letters) = letters else { return args.to_vec() };
    let mut rest = args[1..].iter().cloned();
    let mut words = Vec::new();
    for letter in letters.chars() {
        words.push(Word::plain(&format!("-{letter}")));
        if "fCTbKNVXI".contains(letter) {
            words.extend(rest.next());
        }
    }
    words.extend(rest);
    words
}

/// Asks about a directory outside the project into which files are extracted.
fn extracts_to(judge: &mut Judge<'_>, call: &Call<'_>, options: &Options<'_>, names: &str) {
    if judge.is_confined() {
        for place in options.all(names).filter_map(Given::word) {
            judge.write(&place, &call.part);
        }
    }
}

fn unzip(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, "");
    if options.has("-l -t -Z -v") && options.other_than("-l -t -Z -v -q -1").is_none() {
        return;
    }
    extracts_to(judge, call, &read(call.args, "-d"), "-d");
    let why = "it extracts files from an archive";
    judge.ask(BuiltinRule::UnknownCode, &call.part, why, "extracts files from an archive");
}
