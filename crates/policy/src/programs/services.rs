//! Processes, services, containers, and `mw` itself.

use mw_model::WriteGrant;

use super::Call;
use super::interpreters::only_version;
use super::options::read;
use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::names::Names;
use crate::need;
use crate::script::word::Word;

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    match call.name {
        "kill" => kill(judge, call),
        "systemctl" => {
            allow_read_only(judge, call, "status list-units list-unit-files show is-active is-enabled cat");
        }
        "journalctl" => journal(judge, call),
        "docker" | "podman" | "nerdctl" => container(judge, call),
        "docker-compose" | "podman-compose" => {
            allow_read_only(judge, call, "ps logs images top version");
        }
        "mw" | "meanwhile" => meanwhile(judge, call),
        _ => return false,
    }
    true
}

fn kill(judge: &mut Judge<'_>, call: &Call<'_>) {
    let first = call.args.first().and_then(Word::lit);
    let numbers = |words: &[Word]| {
        words.iter().all(|word| word.lit().is_some_and(|t| t.bytes().all(|b| b.is_ascii_digit())))
    };
    let only_reads = match first {
        Some("-l" | "-L") => true,
        Some("-0") => numbers(&call.args[1..]),
        _ => false,
    };
    // Where the kernel confines, it reaches only processes of the same command.
    let own = |(at, word): (usize, &Word)| match word.lit() {
        Some(text) => text.starts_with('%') || at == 0 && text.starts_with('-') || text == "--",
        None => word.text.trim_matches('"').starts_with(['$', '%']),
    };
    if judge.is_confined() && !call.args.is_empty() && call.args.iter().enumerate().all(own) {
        return;
    }
    if !only_reads {
        let targets = read(call.args, "-s -n").operands;
        let targets: Vec<&str> = targets.iter().map(|word| word.text.as_str()).collect();
        let everything = call.args.iter().skip(1).any(|word| word.lit() == Some("-1"));
        let effect = if everything {
            "ends every process of the user".to_owned()
        } else {
            format!("ends {}", targets.join(" "))
        };
        judge.ask(BuiltinRule::Kill, &call.part, "it ends processes", &effect);
    }
}

fn allow_read_only(judge: &mut Judge<'_>, call: &Call<'_>, verbs: &str) {
    let verb = call.args.iter().filter_map(Word::lit).find(|text| !text.starts_with('-'));
    let known =
        call.args.first().is_some_and(|word| word.lit().is_some_and(|text| Names(verbs).contains(text)));
    let literal = call.args.iter().all(|word| word.lit().is_some());
    let remote = call.args.iter().any(|word| {
        word.lit().is_some_and(|text| {
            text.starts_with("-H") || text.starts_with("-M") || text.starts_with("--host")
        })
    });
    if (!known || !literal || remote) && !only_version(call) {
        let command = verb.map_or_else(|| call.name.to_owned(), |verb| format!("{} {verb}", call.name));
        let why = format!("{command} is not read-only");
        judge.ask(BuiltinRule::Destroy, &call.part, &why, "changes services or containers");
    }
}

fn journal(judge: &mut Judge<'_>, call: &Call<'_>) {
    let risky = "
        --vacuum-size --vacuum-time --vacuum-files --rotate --flush --setup-keys --relinquish-var --sync
        --cursor-file --update-catalog
    ";
    if !judge.hidden_option(call) && read(call.args, "-u -n").has(risky) {
        judge.ask(
            BuiltinRule::Destroy,
            &call.part,
            "an option changes the journal",
            "removes or rotates logs",
        );
    }
}

fn container(judge: &mut Judge<'_>, call: &Call<'_>) {
    judge.needs(need::writes(WriteGrant::Paths(vec!["/run/docker.sock".to_owned()])));
    let words: Option<Vec<&str>> = call.args.iter().map(Word::lit).collect();
    let only_reads = match words.as_deref().unwrap_or_default() {
        ["--version"] => true,
        ["compose", verb, ..] => Names("ps logs images top version ls").contains(verb),
        ["container" | "image" | "volume" | "network", verb, ..] => Names("ls inspect").contains(verb),
        [verb, ..] => Names("ps images logs inspect version info stats top port history diff").contains(verb),
        [] => false,
    };
    if !only_reads {
        let verb = call.args.first().map_or("", |word| word.text.as_str());
        let why = format!("{} {verb} is not read-only", call.name);
        let effect = "runs code in a container, or changes containers";
        judge.ask_for(BuiltinRule::UnknownCode, &call.part, &why, effect, need::everything());
    }
}

/// Analyses a call of `mw` itself: what it starts is decided again, with the same rules.
fn meanwhile(judge: &mut Judge<'_>, call: &Call<'_>) {
    let Some(first) = call.args.first() else { return };
    if call.args.iter().any(|word| word.may_hold("--session") || word.may_hold("--all")) {
        return acts(judge, call, "it names another session");
    }
    match first.lit() {
        Some(
            "list" | "ls" | "ps" | "status" | "output" | "logs" | "log" | "tail" | "wait" | "watch"
            | "policy" | "tools" | "notices" | "config" | "completions" | "--version" | "--help" | "help",
        ) => {}
        Some(verb) => {
            let why = format!("mw {verb} changes tasks, or answers approval requests");
            acts(judge, call, &why);
        }
        None => acts(judge, call, "the command of mw is known only at run time"),
    }
}

/// Asks about a command of `mw` that does more than read.
fn acts(judge: &mut Judge<'_>, call: &Call<'_>, why: &str) {
    let effect = "runs code that cannot be analysed";
    judge.ask_for(BuiltinRule::UnknownCode, &call.part, why, effect, need::project_code());
}
