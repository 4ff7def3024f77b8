//! Archives: listing and packing is allowed, unpacking is asked about.

use super::Call;
use super::options::{Given, read};
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
    if let Some(given) = options.other_than(known) {
        let why = format!("{} unpacks, deletes or runs something, or is not known here", given.name);
        return judge.ask(
            BuiltinRule::UnknownCode,
            &call.part,
            &why,
            "writes files that an archive names, or runs programs",
        );
    }
    let packs = options.has("-c --create");
    if packs {
        for given in options.all("-C --directory") {
            let place = given.word().unwrap_or_else(|| Word::unknown("-C"));
            if !judge.is_inside(&place) {
                let why = format!("what it packs is in {}, outside the project", place.text);
                judge.ask(BuiltinRule::Secret, &call.part, &why, "packs files of another place");
            }
        }
    }
    let mut archives = options.all("-f --file").filter_map(Given::word).peekable();
    if archives.peek().is_none() && !options.has("--version") {
        judge.ask(BuiltinRule::NotLiteral, &call.part, "which archive it uses depends on the machine", "");
    }
    for file in archives {
        if file.lit().is_none_or(|text| text.contains(':')) {
            judge.ask(BuiltinRule::Network, &call.part, "its archive may be on another machine", "");
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

fn unzip(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, "");
    if options.has("-l -t -Z -v") && options.other_than("-l -t -Z -v -q -1").is_none() {
        return;
    }
    let why = "it unpacks what an archive holds";
    judge.ask(BuiltinRule::UnknownCode, &call.part, why, "writes files that an archive names");
}
