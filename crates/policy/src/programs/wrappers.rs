//! Programs that run another program, which is analysed instead.

use super::Call;
use super::builtins::assigned_name;
use super::find::inner_start;
use super::options::read;
use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::names::Names;
use crate::script::word::Word;

/// A program that runs another one, which follows its options and operands.
struct Wrapper {
    name: &'static str,
    valued: &'static str,
    /// How many operands precede the inner command.
    own: usize,
}

const fn wrapper(name: &'static str, valued: &'static str, own: usize) -> Wrapper {
    Wrapper { name, valued, own }
}

const WRAPPERS: [Wrapper; 13] = [
    wrapper("nice", "-n --adjustment", 0),
    wrapper("ionice", "-c -n --class --classdata", 0),
    wrapper("nohup", "", 0),
    wrapper("setsid", "", 0),
    wrapper("stdbuf", "-i -o -e", 0),
    wrapper("timeout", "-s -k --signal --kill-after", 1),
    wrapper("gtimeout", "-s -k --signal --kill-after", 1),
    wrapper("chrt", "", 1),
    wrapper("taskset", "", 1),
    wrapper("unbuffer", "", 0),
    wrapper("caffeinate", "-t -w", 0),
    wrapper("busybox", "", 0),
    wrapper("toybox", "", 0),
];

/// Wrappers that run something only after `run`.
const RUNNERS: Names<'_> = Names("poetry pipenv uv rye pdm hatch");

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    match call.name {
        "env" => env(judge, call),
        "time" => time(judge, call),
        "sudo" | "doas" | "su" | "pkexec" | "runuser" | "gosu" => other_user(judge, call),
        "bundle" => bundle(judge, call),
        name if RUNNERS.contains(name) => runner(judge, call),
        name => match WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
            Some(wrapper) => through(judge, call, wrapper),
            None => return false,
        },
    }
    true
}

/// Analyses the inner command.
fn inner(judge: &mut Judge<'_>, words: &[Word]) {
    judge.in_other_program(|judge| judge.call(words));
}

/// Records a variable that is set for one program only.
fn for_one(judge: &mut Judge<'_>, name: &str, value: &Word, part: &str) {
    let before = judge.variables.get(name).cloned();
    judge.assign(name, value, part);
    judge.variables.remove(name);
    judge.variables.extend(before.map(|before| (name.to_owned(), before)));
}

fn through(judge: &mut Judge<'_>, call: &Call<'_>, wrapper: &Wrapper) {
    let start = inner_start(call.args, wrapper.valued);
    if start.is_some_and(|start| start > 0) && matches!(wrapper.name, "busybox" | "toybox") {
        return judge.unknown_code(&call.part, "its own options can change the system");
    }
    let is_known =
        |from: &usize| call.args.iter().skip(*from).take(wrapper.own).all(|word| word.lit().is_some());
    let Some(start) = start.filter(is_known) else {
        let why = "the command is known only at run time";
        return judge.ask(
            BuiltinRule::NotLiteral,
            &call.part,
            why,
            "runs a program that is known only at run time",
        );
    };
    inner(judge, call.args.get(start + wrapper.own..).unwrap_or_default());
}

fn env(judge: &mut Judge<'_>, call: &Call<'_>) {
    let mut rest = call.args;
    while let Some((first, after)) = rest.split_first() {
        let Some(text) = first.lit() else {
            // `env A=$b cmd`: the name is known, the value is not.
            if let Some(name) = assigned_name(first).filter(|_| !first.splits) {
                for_one(judge, name, &Word { text: first.text.clone(), ..Word::default() }, &call.part);
                rest = after;
                continue;
            }
            return judge.ask(
                BuiltinRule::NotLiteral,
                &call.part,
                "the command is known only at run time",
                "",
            );
        };
        match text {
            "-i" | "-" | "-0" | "-v" | "--ignore-environment" | "--null" | "--debug" => rest = after,
            "-u" | "--unset" => rest = after.get(1..).unwrap_or_default(),
            "--" => {
                rest = after;
                break;
            }
            text if text.starts_with("-u") && !text.starts_with("--") => rest = after,
            text if text.starts_with("--unset=") => rest = after,
            // `-S` splits a text into words, `-C` changes the directory; others are unknown.
            text if text.starts_with('-') => {
                return judge.unknown_code(&call.part, &format!("{text} changes what env runs, or where"));
            }
            text => match text.split_once('=') {
                Some((name, value)) => {
                    for_one(judge, name, &Word::plain(value), &call.part);
                    rest = after;
                }
                None => break,
            },
        }
    }
    while let Some((name, value)) = rest.first().and_then(Word::lit).and_then(|text| text.split_once('=')) {
        for_one(judge, name, &Word::plain(value), &call.part);
        rest = &rest[1..];
    }
    if rest.is_empty() {
        return judge.prints_environment(&call.part);
    }
    inner(judge, rest);
}

fn time(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = "-p -v -l";
    let start = call
        .args
        .iter()
        .take_while(|word| word.lit().is_some_and(|text| Names(options).contains(text)))
        .count();
    let rest = &call.args[start..];
    if rest.first().is_some_and(Word::is_option) {
        return judge.unknown_code(&call.part, "an option of time can write files");
    }
    inner(judge, rest);
}

fn other_user(judge: &mut Judge<'_>, call: &Call<'_>) {
    let why = format!("{} runs the command as another user", call.name);
    judge.ask(BuiltinRule::OtherUser, &call.part, &why, "runs as another user");
    if call.name == "sudo" || call.name == "doas" {
        let valued = "-u -g -h -p -C -r -t -T -U -D -R";
        if let Some(start) = inner_start(call.args, valued) {
            inner(judge, &call.args[start..]);
        }
    }
}

fn runner(judge: &mut Judge<'_>, call: &Call<'_>) {
    match call.args.split_first() {
        Some((first, inner)) if first.lit() == Some("run") => {
            // Its options can name files, packages and settings.
            if inner.first().is_none_or(|word| {
                word.lit().is_none_or(|text| text.starts_with('-') || text.contains(['.', '/', ':']))
            }) {
                return judge.unknown_code(&call.part, "the program that it runs is unknown");
            }
            // It may build the project first.
            judge.project_code(&Call { args: &[], part: call.part.clone(), ..*call }, "");
            judge.in_other_program(|judge| judge.call(inner));
        }
        Some((first, [])) if matches!(first.lit(), Some("--version" | "version" | "-V" | "--help")) => {}
        Some((first, rest)) if first.lit() == Some("pip") => {
            let mut words = vec![Word::plain("pip")];
            words.extend_from_slice(rest);
            judge.in_other_program(|judge| judge.call(&words));
        }
        _ => judge.ask(
            BuiltinRule::Install,
            &call.part,
            "it installs or changes packages",
            "installs or changes packages",
        ),
    }
}

fn bundle(judge: &mut Judge<'_>, call: &Call<'_>) {
    match call.args.split_first() {
        Some((first, inner)) if first.lit() == Some("exec") => {
            judge.in_other_program(|judge| judge.call(inner));
        }
        _ => {
            let list = read(call.args, "").operands.first().and_then(|word| word.lit()) == Some("list");
            if !list {
                let why = "it installs or changes packages";
                judge.ask(BuiltinRule::Install, &call.part, why, "installs packages");
            }
        }
    }
}
