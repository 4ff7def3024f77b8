//! Programs that run others: looked through.

use super::Call;
use super::find::inner_start;
use super::options::read;
use crate::decision::Ground;
use crate::judge::Judge;
use crate::word::Word;

/// A program that runs another one, which begins behind its options and its own operands.
struct Wrapper {
    name: &'static str,
    valued: &'static [&'static str],
    /// How many operands of its own come before the inner command.
    own: usize,
}

const fn wrapper(name: &'static str, valued: &'static [&'static str], own: usize) -> Wrapper {
    Wrapper { name, valued, own }
}

const WRAPPERS: [Wrapper; 19] = [
    wrapper("nice", &["-n", "--adjustment"], 0),
    wrapper("ionice", &["-c", "-n", "--class", "--classdata"], 0),
    wrapper("nohup", &[], 0),
    wrapper("setsid", &[], 0),
    wrapper("stdbuf", &["-i", "-o", "-e"], 0),
    wrapper("timeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    wrapper("gtimeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    wrapper("chrt", &[], 1),
    wrapper("taskset", &[], 1),
    wrapper("unbuffer", &[], 0),
    wrapper("caffeinate", &["-t", "-w"], 0),
    wrapper("busybox", &[], 0),
    wrapper("toybox", &[], 0),
    wrapper("poetry", &[], 0),
    wrapper("pipenv", &[], 0),
    wrapper("uv", &[], 0),
    wrapper("rye", &[], 0),
    wrapper("pdm", &[], 0),
    wrapper("hatch", &[], 0),
];

/// Wrappers that run something only after `run`.
const RUNNERS: [&str; 6] = ["poetry", "pipenv", "uv", "rye", "pdm", "hatch"];

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    match call.name {
        "env" => env(judge, call),
        "time" => time(judge, call),
        "sudo" | "doas" | "su" | "pkexec" | "runuser" | "gosu" => other_user(judge, call),
        "bundle" => bundle(judge, call),
        "watch" | "parallel" | "entr" | "script" | "strace" | "ltrace" | "gdb" | "lldb" | "perf"
        | "valgrind" | "flock" | "chroot" | "nsenter" | "unshare" | "systemd-run" | "at" | "batch"
        | "crontab" | "screen" | "tmux" | "expect" | "direnv" | "mise" | "asdf" | "nix-shell" | "nix"
        | "firejail" | "bwrap" | "proot" | "fakeroot" | "dbus-run-session" | "xdg-open" | "open"
        | "osascript" | "socat" | "start-stop-daemon" | "daemon" | "run-parts" | "hyperfine"
        | "coreutils" | "cgexec" | "numactl" | "setarch" | "linux64" | "prlimit" => {
            let why = format!("{} runs something else, now or later", call.name);
            judge.unknown_code(&call.part, &why);
        }
        name => match WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
            Some(_) if RUNNERS.contains(&name) => runner(judge, call),
            Some(wrapper) => through(judge, call, wrapper),
            None => return false,
        },
    }
    true
}

/// Judges what a program runs: it should not move this shell.
fn inner(judge: &mut Judge<'_>, words: &[Word]) {
    judge.elsewhere(|judge| judge.call(words));
}

/// Notes a variable that one program alone is given.
fn for_one(judge: &mut Judge<'_>, name: &str, value: &Word, part: &str) {
    let before = judge.variables.get(name).cloned();
    judge.assign(name, value, part);
    judge.variables.remove(name);
    judge.variables.extend(before.map(|before| (name.to_owned(), before)));
}

fn through(judge: &mut Judge<'_>, call: &Call<'_>, wrapper: &Wrapper) {
    let Some(start) = inner_start(call.args, wrapper.valued) else {
        let why = "what it runs is known only once it runs";
        return judge.ask(Ground::NotLiteral, &call.part, why, "runs a program that is not known yet");
    };
    if start > 0 && matches!(wrapper.name, "busybox" | "toybox") {
        return judge.unknown_code(&call.part, "its own options change the machine");
    }
    let own = call.args.iter().skip(start).take(wrapper.own);
    if own.clone().any(|word| word.lit().is_none()) {
        let why = "what it runs is known only once it runs";
        return judge.ask(Ground::NotLiteral, &call.part, why, "runs a program that is not known yet");
    }
    inner(judge, call.args.get(start + wrapper.own..).unwrap_or_default());
}

fn env(judge: &mut Judge<'_>, call: &Call<'_>) {
    let mut rest = call.args;
    while let Some((first, after)) = rest.split_first() {
        let Some(text) = first.lit() else {
            // `env A=$b cmd`: the name is there, the value is not.
            let name = first.text.split('=').next().unwrap_or_default();
            let plain = first.text.contains('=')
                && !name.is_empty()
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !first.splits;
            if plain {
                for_one(judge, name, &Word { text: first.text.clone(), ..Word::default() }, &call.part);
                rest = after;
                continue;
            }
            return judge.ask(Ground::NotLiteral, &call.part, "what it runs is known only once it runs", "");
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
            // `-S` splits a text into words, `-C` moves, the rest is not known.
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
        let why = "the environment may hold secrets";
        return judge.ask(Ground::Secret, &call.part, why, "prints the environment");
    }
    inner(judge, rest);
}

fn time(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = ["-p", "-v", "-l"];
    let start =
        call.args.iter().take_while(|word| word.lit().is_some_and(|text| options.contains(&text))).count();
    let rest = &call.args[start..];
    if rest.first().is_some_and(Word::is_option) {
        return judge.unknown_code(&call.part, "an option of time can write files");
    }
    inner(judge, rest);
}

fn other_user(judge: &mut Judge<'_>, call: &Call<'_>) {
    let why = format!("{} runs it as another user", call.name);
    judge.ask(Ground::OtherUser, &call.part, &why, "runs as another user");
    if call.name == "sudo" || call.name == "doas" {
        let valued = ["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R"];
        if let Some(start) = inner_start(call.args, &valued) {
            inner(judge, &call.args[start..]);
        }
    }
}

fn runner(judge: &mut Judge<'_>, call: &Call<'_>) {
    match call.args.split_first() {
        Some((first, inner)) if first.lit() == Some("run") => {
            // Its own options can name files, packages and settings.
            if inner.first().is_none_or(|word| {
                word.lit().is_none_or(|text| text.starts_with('-') || text.contains(['.', '/', ':']))
            }) {
                return judge.unknown_code(&call.part, "what it runs is not visible here");
            }
            judge.elsewhere(|judge| judge.call(inner));
        }
        Some((first, [])) if matches!(first.lit(), Some("--version" | "version" | "-V" | "--help")) => {}
        Some((first, rest)) if first.lit() == Some("pip") => {
            let mut words = vec![Word::plain("pip")];
            words.extend_from_slice(rest);
            judge.elsewhere(|judge| judge.call(&words));
        }
        _ => judge.ask(
            Ground::Install,
            &call.part,
            "it installs or changes packages",
            "installs or changes packages",
        ),
    }
}

fn bundle(judge: &mut Judge<'_>, call: &Call<'_>) {
    match call.args.split_first() {
        Some((first, inner)) if first.lit() == Some("exec") => judge.elsewhere(|judge| judge.call(inner)),
        _ => {
            let list = read(call.args, &[]).operands.first().and_then(|word| word.lit()) == Some("list");
            if !list {
                judge.ask(
                    Ground::Install,
                    &call.part,
                    "it installs or changes packages",
                    "installs packages",
                );
            }
        }
    }
}
