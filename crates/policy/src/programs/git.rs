//! git: commands that only read are allowed, the others need approval.

use super::Call;
use super::git_changes::{self, Change};
use super::reads::lists_inside;
use crate::decision::BuiltinRule;
use crate::judge::{Judge, PipeContent};
use crate::names::Names;
use crate::need;
use crate::paths::destination::is_below;
use crate::script::word::Word;

/// Subcommands that only read, unless they have a risky option.
const READ_ONLY: Names<'_> = Names(
    "
    status log diff show blame annotate shortlog describe rev-parse rev-list ls-files ls-tree cat-file grep
    name-rev merge-base cherry range-diff diff-tree diff-files diff-index for-each-ref show-ref show-branch
    count-objects check-ignore check-attr version whatchanged var verify-commit verify-tag ls-remote fetch
    check-mailmap get-tar-commit-id merge-tree
",
);

/// Options of these subcommands that run programs or write files. Abbreviations count as well.
const RISKY: Names<'_> = Names(
    "
    --ext-diff --textconv --output --open-files-in-pager --exec --upload-pack --filters --paginate
    --show-signature --contents --server-option --recurse-submodules --prune --prune-tags --force --refmap
",
);

/// Harmless options before the subcommand.
const GLOBAL: Names<'_> = Names(
    "
    --no-pager -P --no-optional-locks --literal-pathspecs --glob-pathspecs --icase-pathspecs
    --no-replace-objects --no-lazy-fetch
",
);

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    if call.name != "git" {
        return false;
    }
    let mut args = call.args;
    let mut places = judge.cwd.clone();
    while let Some((first, rest)) = args.split_first() {
        match first.lit() {
            Some("-C") => {
                let Some((place, after)) = rest.split_first() else { break };
                if !judge.is_in_project(place) {
                    judge.unknown_code(&call.part, "another repository's settings may name programs to run");
                }
                let place = place.lit().unwrap_or_default();
                let below = |from: &String| {
                    if place.starts_with('/') { place.to_owned() } else { format!("{from}/{place}") }
                };
                places = places.iter().map(below).collect();
                args = after;
            }
            Some("--version" | "--help" | "-v" | "-h") => return true,
            Some(option) if GLOBAL.contains(option) => args = rest,
            Some(option) if option.starts_with('-') => {
                let why = format!("{option} can name programs to run");
                judge.unknown_code(&call.part, &why);
                return true;
            }
            _ => break,
        }
    }
    if !judge.runs_in_project() || places.iter().any(|place| may_be_planted(judge, place)) {
        judge.unknown_code(&call.part, "another repository's settings may name programs to run");
    }
    let Some((subcommand, rest)) = args.split_first() else { return true };
    let Some(name) = subcommand.lit() else {
        judge.ask(BuiltinRule::NotLiteral, &call.part, "the git command is known only at run time", "");
        return true;
    };
    self::subcommand(judge, call, name, rest);
    true
}

/// Returns whether git may find a repository that is not the one of the project. Any directory with a few plain files is a
/// repository, and its settings may name programs. A directory with `.git` is trusted, because writes to that need
/// approval.
fn may_be_planted(judge: &Judge<'_>, place: &str) -> bool {
    let files = judge.request.files;
    let Some(real) = files.real(place) else { return true };
    let is_there = |directory: &str, name: &str| files.exists(&format!("{directory}/{name}"));
    let mut directory = real.as_str();
    while is_below(directory, judge.request.project) && !directory.is_empty() {
        if is_there(directory, ".git/HEAD") || is_there(directory, ".git") {
            return false;
        }
        if judge.wrote || is_there(directory, "HEAD") {
            return true;
        }
        directory = directory.rsplit_once('/').map_or("", |(above, _)| above);
    }
    false
}

fn subcommand(judge: &mut Judge<'_>, call: &Call<'_>, name: &str, args: &[Word]) {
    if judge.may_have_option(args, &call.part) {
        return;
    }
    let end = args.iter().position(|word| word.lit() == Some("--")).unwrap_or(args.len());
    let options: Vec<&str> =
        args[..end].iter().filter(|word| word.is_option()).filter_map(Word::lit).collect();
    let reads = READ_ONLY.contains(name) && name != "fetch";
    if let Some(option) =
        options.iter().find(|option| is_risky(name, option)).filter(|_| reads || !judge.is_confined())
    {
        let why = format!("{option} can run programs or overwrite data");
        return judge.ask(BuiltinRule::UnknownCode, &call.part, &why, &effect(name));
    }
    let operands: Vec<&Word> = args.iter().filter(|word| !word.is_option()).collect();
    if only_reads(name, &options, &operands) {
        return judge_reading(judge, call, name, args, &options);
    }
    if judge.is_confined() {
        let has_paths = end < args.len();
        let change = Change { name, options, operands, has_paths };
        return git_changes::judge(judge, call, &change, &effect(name));
    }
    let builtin = if matches!(name, "clean" | "rm") { BuiltinRule::Delete } else { BuiltinRule::Repository };
    judge.ask(builtin, &call.part, &format!("git {name} is not read-only"), &effect(name));
}

/// Returns whether a subcommand with these options and operands only reads.
fn only_reads(name: &str, options: &[&str], operands: &[&Word]) -> bool {
    let only = |allowed: &str| options.iter().all(|option| Names(allowed).contains(option));
    let first = operands.first().and_then(|word| word.lit());
    match name {
        "ls-remote" | "fetch" => {
            only("-q -v --quiet --verbose --all --tags --heads --dry-run -t --refs")
                && operands.iter().all(|word| is_remote_name(word))
        }
        "branch" => {
            let lists = "-a -r -v -vv --all --list -l --show-current --merged --no-merged";
            let shapes = |option: &&&str| !option.starts_with("--sort=") && !option.starts_with("--format=");
            options.iter().filter(shapes).all(|option| Names(lists).contains(option))
                && (operands.is_empty() || options.iter().any(|o| Names("--list -l --merged").contains(o)))
        }
        "tag" => only("-l --list -n") && (operands.is_empty() || !options.is_empty()),
        "remote" => only("-v --verbose") && matches!(first, None | Some("get-url")),
        "config" => {
            let reads = "--get --get-all --get-regexp --list -l";
            let asks = options.iter().any(|option| Names(reads).contains(option));
            let shapes =
                "--show-origin --show-scope --global --local --system --worktree -z --null --name-only";
            // One name without a value is a question, too.
            let is_name = operands.len() == 1 && first.is_some_and(|name| name.contains('.'));
            (asks || is_name || matches!(first, Some("get" | "list"))) && only(&format!("{reads} {shapes}"))
        }
        "stash" => matches!(first, Some("list" | "show")),
        "worktree" => matches!(first, Some("list")),
        "reflog" => matches!(first, None | Some("show")),
        "submodule" => matches!(first, Some("status")),
        "symbolic-ref" => operands.len() == 1 && only("-q --short --quiet"),
        _ => READ_ONLY.contains(name),
    }
}

/// Judges what a subcommand that only reads mentions, reaches and prints.
fn judge_reading(judge: &mut Judge<'_>, call: &Call<'_>, name: &str, args: &[Word], options: &[&str]) {
    if matches!(name, "fetch" | "ls-remote") {
        judge.needs(need::remote_repository());
    }
    let names_only = name == "ls-files" || name == "diff" && options.contains(&"--name-only");
    // Other options change what is printed before or instead of a name.
    let plain = "--name-only --cached --staged -z -m -o -c --others --exclude-standard --modified";
    if names_only
        && options.iter().all(|option| Names(plain).contains(option))
        && args.len() == call.args.len() - 1
        && lists_inside(judge, args.iter().filter(|word| !word.is_option()))
    {
        judge.output = PipeContent::ProjectFiles;
    }
    if matches!(name, "diff" | "grep" | "cat-file" | "blame" | "show" | "log") {
        // `-L1,5:FILE` also names a file.
        args.iter().for_each(|word| mentions(judge, word, &call.part));
    }
}

/// Describes what a subcommand does that does not only read.
fn effect(name: &str) -> String {
    match name {
        "push" => "sends commits to another machine".to_owned(),
        "clean" => "deletes untracked files".to_owned(),
        "reset" | "checkout" | "restore" | "switch" => "may overwrite uncommitted changes".to_owned(),
        "clone" | "pull" | "submodule" => "fetches code from another machine".to_owned(),
        "rm" => "deletes files".to_owned(),
        name if READ_ONLY.contains(name) => "may run programs or write files".to_owned(),
        name => format!("changes the repository (git {name})"),
    }
}

fn is_risky(subcommand: &str, option: &str) -> bool {
    let name = option.split('=').next().unwrap_or(option);
    let long = name.len() > 2 && name.starts_with("--") && RISKY.iter().any(|risky| risky.starts_with(name));
    let short = match subcommand {
        "grep" => name.starts_with("-O") || (!name.starts_with("--") && name.contains('O')),
        "fetch" | "ls-remote" => name.starts_with("-u") || name == "-p" || name == "-f",
        _ => false,
    };
    // Harmless options that look like abbreviations of risky ones.
    let harmless = "--exclude --exclude-standard --exclude-per-directory --full-history --follow";
    (long || short) && !Names(harmless).contains(name)
}

fn is_remote_name(word: &Word) -> bool {
    word.lit().is_some_and(|text| {
        !text.is_empty()
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c))
            && !text.contains("..")
            && !text.starts_with('/')
            && !text.starts_with('.')
    })
}

fn mentions(judge: &mut Judge<'_>, word: &Word, part: &str) {
    for value in word.values().unwrap_or_default().to_vec() {
        // A path outside the repository may also be a file.
        if value.starts_with('/') || value.starts_with("../") {
            judge.read_from(&value, part);
        }
        // `HEAD:.env` also names a file.
        judge.mention(&format!("./{}", value.rsplit(':').next().unwrap_or_default()), part);
    }
}
