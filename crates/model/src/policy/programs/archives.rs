//! Archives: looking into them and packing is allowed, unpacking is asked about.

use super::Call;
use super::options::read;
use super::reads::files;
use crate::policy::decision::Ground;
use crate::policy::judge::Judge;
use crate::policy::word::Word;

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    match call.name {
        "tar" | "bsdtar" | "gtar" => tar(judge, call),
        "unzip" => unzip(judge, call),
        "zipinfo" => files(judge, call.args.iter(), &call.part),
        "zip" | "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" | "unzstd" | "7z"
        | "7za" | "rar" | "unrar" | "cpio" | "ar" | "pax" | "compress" | "uncompress" | "lz4" | "brotli" => {
            let why = "it replaces or unpacks files, or its options run programs";
            judge.ask(Ground::UnknownCode, &call.part, why, "writes or replaces files");
        }
        _ => return false,
    }
    true
}

fn tar(judge: &mut Judge<'_>, call: &Call<'_>) {
    if judge.hidden_option(call) {
        return;
    }
    let mut args = call.args.to_vec();
    if let Some(letters) = args.first().and_then(Word::lit).filter(|text| !text.starts_with('-')) {
        args[0] = Word::plain(&format!("-{letters}"));
    }
    let options = read(&args, &["-f", "-C", "-T", "--file", "--directory", "--exclude"]);
    let known = [
        "-t",
        "-c",
        "-v",
        "-z",
        "-j",
        "-J",
        "-a",
        "-f",
        "-C",
        "-p",
        "-h",
        "--list",
        "--create",
        "--verbose",
        "--gzip",
        "--file",
        "--directory",
        "--exclude",
        "--zstd",
        "--version",
        "--auto-compress",
    ];
    if let Some(given) = options.other_than(&known) {
        let why = format!("{} unpacks, deletes or runs something, or is not known here", given.name);
        return judge.ask(
            Ground::UnknownCode,
            &call.part,
            &why,
            "writes files that an archive names, or runs programs",
        );
    }
    let packs = options.has(&["-c", "--create"]);
    if let Some(file) = options.find(&["-f", "--file"]).and_then(|given| given.word()) {
        if file.lit().is_none_or(|text| text.contains(':')) {
            judge.ask(Ground::Network, &call.part, "its archive may be on another machine", "");
        }
        if packs && file.lit() != Some("-") {
            judge.write(&file, &call.part);
        }
    } else if !options.has(&["--version"]) {
        judge.ask(Ground::NotLiteral, &call.part, "which archive it uses depends on the machine", "");
    }
    files(judge, options.operands.iter().copied(), &call.part);
}

fn unzip(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, &[]);
    if options.has(&["-l", "-t", "-Z", "-v"])
        && options.other_than(&["-l", "-t", "-Z", "-v", "-q", "-1"]).is_none()
    {
        return;
    }
    judge.ask(
        Ground::UnknownCode,
        &call.part,
        "it unpacks what an archive holds",
        "writes files that an archive names",
    );
}
