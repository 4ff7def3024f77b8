//! Programs that are judged differently where the kernel confines.
//!
//! There the question is not whether every word is understood, but what the command needs. What needs no more than the
//! project runs unasked.

use mw_model::NetworkGrant;

use super::Call;
use super::builds_table::TOOLS;
use super::interpreters::only_version;
use super::options::read;
use super::{ecosystems, loopback};
use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::names::Names;
use crate::need;
use crate::script::word::Word;

/// Tools that run code of the project with any arguments.
const CODE: Names<'_> = Names(
    "
    make gmake just task cmake meson ninja node nodejs deno python pypy ipython ruby perl php lua luajit julia java
    groovy scala elixir Rscript R gcc g++ clang cc rustc javac ld as m4 cpp bc dc sqlite3 sqlite duckdb tsx ts-node
    ant sbt ctest openssl ssh-keygen hyperfine entr parallel watch time
",
);

/// Programs that connect to services with their own data.
const CLIENTS: Names<'_> =
    Names("psql mysql mysqldump pg_dump pg_restore mongosh mongo mongodump redis-cli clickhouse-client");

/// Programs that act outside of the command: now, later, or in a session of the user.
const BEYOND: Names<'_> = Names(
    "
    tmux screen at batch crontab systemd-run nsenter chroot dbus-run-session dbus-send busctl gdbus xdg-open open
    osascript wl-copy xclip xdotool start-stop-daemon machinectl code cursor
",
);

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    let name = call.name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if ecosystems::judge(judge, call) {
        return true;
    }
    match call.name {
        "npx" | "bunx" => {
            let package = call.args.iter().find(|word| !word.is_option()).and_then(Word::lit);
            judge.code(&call.part);
            ecosystems::packaged(judge, call, package);
        }
        "uvx" | "pipx" if !only_version(call) => {
            let why = format!("{} downloads a program and runs it", call.name);
            let grant = need::download();
            judge.code(&call.part);
            judge.ask_for(BuiltinRule::Install, &call.part, &why, "downloads and runs a program", grant);
        }
        "ip" | "ifconfig" | "route" if only_shows(call) => {}
        "rsync" | "nc" | "ncat" | "netcat" | "http" | "https" | "xh" | "httpie" | "openssl" => {
            return networking(judge, call);
        }
        _ if BEYOND.contains(call.name) => {
            let why = format!("{} acts outside of the command, or later", call.name);
            judge.ask_for(
                BuiltinRule::UnknownCode,
                &call.part,
                &why,
                "runs code outside of the task",
                need::everything(),
            );
        }
        _ if CLIENTS.contains(call.name) && !only_version(call) => {
            let why = format!("{} can change the data of a service", call.name);
            judge.ask(
                BuiltinRule::Network,
                &call.part,
                &why,
                &format!("exchanges data with a service ({})", call.name),
            );
        }
        "python" | "python3" => return python(judge, call),
        _ if CODE.contains(call.name) || CODE.contains(name) && name != "time" || is_tool(call.name) => {
            if !only_version(call) {
                judge.tool_of_project(call);
            }
        }
        _ => return false,
    }
    true
}

fn is_tool(name: &str) -> bool {
    TOOLS.iter().any(|tool| Names(tool.names).contains(name))
}

/// Returns whether a program for network settings only shows them.
fn only_shows(call: &Call<'_>) -> bool {
    const SHOWS: Names<'_> = Names(
        "a addr address l link r route n neigh rule show list ls get -br -brief -4 -6 -o -j -s -d -c -n -details -a dev up",
    );
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || ".:".contains(c));
    let words: Vec<&str> = call.args.iter().filter_map(Word::lit).collect();
    words.len() == call.args.len()
        && words.iter().enumerate().all(|(at, word)| {
            SHOWS.contains(word) || at > 0 && plain(word) && matches!(words[at - 1], "dev" | "get" | "show")
        })
        && (call.name == "ip" || words.iter().all(|word| word.starts_with('-')))
}

/// Analyses programs that may or may not use the network.
fn networking(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    let words: Vec<&str> = call.args.iter().filter_map(Word::lit).collect();
    let local = call.args.iter().any(loopback::is_local);
    let stays = match call.name {
        "rsync" => {
            let remote = |word: &Word| word.lit().is_none_or(|text| text.contains(':'));
            !call.args.iter().any(remote)
                && !words.iter().any(|word| word.starts_with("--delete") || word.starts_with("--remove"))
        }
        "openssl" => !words.iter().any(|word| word.starts_with("s_") || *word == "ocsp" || *word == "ts"),
        "nc" | "ncat" | "netcat" => local || words.iter().any(|word| word.starts_with("-l")),
        _ => local,
    };
    if stays {
        judge.tool_of_project(call);
        if call.name == "rsync" {
            let operands = read(call.args, "-e -f").operands;
            operands.last().into_iter().for_each(|word| judge.write(word, &call.part));
        }
    }
    stays
}

/// Analyses Python: modules that are programs as such, everything else as code of the project.
fn python(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    let words: Vec<Option<&str>> = call.args.iter().map(Word::lit).collect();
    match words.as_slice() {
        [Some("-m"), Some("pip" | "pytest" | "poetry" | "uv"), ..] => {
            judge.call(&call.args[1..]);
            true
        }
        // It only rewrites its input, unless the project has a module of that name.
        [Some("-m"), Some("json.tool"), ..] => false,
        _ => {
            if !only_version(call) {
                judge.tool_of_project(call);
            }
            true
        }
    }
}

impl Judge<'_> {
    /// Records a part that talks to servers of this machine.
    pub(super) fn needs_loopback(&mut self) {
        self.needs(need::network(NetworkGrant::Loopback));
    }
}
