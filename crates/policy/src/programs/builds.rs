//! Builds and tests: tools that run code of the project.
//!
//! An agent that may edit the project may change what these tools do. So they are allowed only as code of the project:
//! in its directory, with literal arguments, without paths outside the project, and not in a command that has written
//! a file before.

use mw_model::NetworkGrant;

use super::Call;
use super::builds_table::TOOLS;
use super::interpreters::only_version;
use super::options::read;
use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::names::Names;
use crate::need;
use crate::script::word::Word;

/// Usual names of harmless targets and scripts.
const TARGETS: Names<'_> = Names(
    "
    all assemble package validate build check test tests lint fmt format typecheck type-check types tsc bench
    doc docs dev start serve watch compile unit integration e2e coverage cov help preview storybook verify ci
    prettier eslint spec
",
);

/// Options of make and just that change neither the targets nor the files.
const MAKE_FLAGS: Names<'_> = Names("-j -k -s -B -n --list -l --no-print-directory --silent --always-make");

/// Tools that take any number of targets.
const MANY_TARGETS: Names<'_> = Names("mvn gradle sbt lein rake turbo ninja");

/// Commands of npm and its relatives that only print.
const READ_ONLY: Names<'_> = Names("ls list outdated view info why explain --version -v help root bin");

/// Options of these commands.
const PRINTS_ONLY: Names<'_> = Names(
    "
    --json --long -l --all -a --depth --parseable -p --prod --production --dev --omit --include --workspaces -w
    --workspace --recursive -r --version -v --help -h --silent -s --no-fund --no-audit
",
);

/// Words in the names of targets that are not harmless.
const NOT_TARGETS: Names<'_> = Names(
    "
    deploy publish release push clean rm delete drop reset install prune migrate seed upload destroy prod
",
);

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    match call.name {
        "npm" | "pnpm" | "yarn" | "bun" => npm(judge, call),
        "make" | "gmake" | "just" => make(judge, call),
        "go" => go(judge, call),
        "cmake" => cmake(judge, call),
        name => {
            let Some(tool) = TOOLS.iter().find(|tool| Names(tool.names).contains(name)) else { return false };
            if only_version(call) {
                // Which version runs may be chosen by a file of the project.
                if judge.wrote {
                    judge.unknown_code(&call.part, "the same command may have chosen another version");
                }
                return true;
            }
            if !tool.verbs.is_empty() && !verb_is(call, tool.verbs) {
                ask_verb(judge, call);
                return true;
            }
            if name == "cargo" && verb_is(call, "run r") && has_own_words(&call.args[1..]) {
                judge.unknown_code(&call.part, "the effect of these arguments on the program is unknown");
            }
            if MANY_TARGETS.contains(name)
                && !read(call.args, "").operands.iter().all(|word| word.lit().is_some_and(is_target))
            {
                ask_verb(judge, call);
            }
            if name == "cargo"
                && verb_is(call, "nextest")
                && !verb_is(&Call { args: &call.args[1..], part: String::new(), ..*call }, "run list")
            {
                ask_verb(judge, call);
            }
            if name == "cargo" {
                judge.may_fetch = true;
            }
            judge.project_code(call, tool.risky);
        }
    }
    true
}

/// Returns whether cargo passes arguments to the program that it runs.
fn has_own_words(args: &[Word]) -> bool {
    let valued = "
        -p -j -F --bin --example --package --features --profile --jobs --target --target-dir --manifest-path
        --color --message-format
    ";
    args.iter().any(|word| word.lit() == Some("--")) || !read(args, valued).operands.is_empty()
}

fn verb_is(call: &Call<'_>, verbs: &str) -> bool {
    call.args.first().and_then(Word::lit).is_some_and(|verb| Names(verbs).contains(verb))
}

fn ask_verb(judge: &mut Judge<'_>, call: &Call<'_>) {
    let verb = call.args.first().map_or("", |word| word.text.as_str());
    let why = format!("{} {verb} is not a build or test command", call.name);
    judge.ask(BuiltinRule::Install, &call.part, &why, &format!("runs {} {verb}", call.name));
}

/// Returns whether a target or script is named like a harmless one.
fn is_target(name: &str) -> bool {
    let mut parts = name.split(':');
    parts.next().is_some_and(|first| TARGETS.contains(first))
        && !name.split([':', '-', '_', '.']).any(|part| NOT_TARGETS.contains(part))
        && name.chars().all(|c| c.is_ascii_alphanumeric() || ":-_.".contains(c))
}

fn npm(judge: &mut Judge<'_>, call: &Call<'_>) {
    let risky = "
        --script-shell --node-options --prefix --userconfig --globalconfig -C --dir --cwd -g --global
        --registry --exec -c --call
    ";
    let words: Vec<Option<&str>> = call.args.iter().map(Word::lit).collect();
    let runs = match words.as_slice() {
        [Some("test" | "t" | "tst"), ..] => true,
        [Some("run" | "run-script"), Some(name), ..] => is_target(name),
        [Some("start"), ..] if call.name != "bun" => true,
        [Some(name), ..] if call.name == "yarn" => is_target(name),
        _ => false,
    };
    let only_reads = match words.as_slice() {
        [Some(verb), rest @ ..] if READ_ONLY.contains(verb) => rest.iter().all(|word| {
            word.is_some_and(|text| {
                !text.starts_with('-') || PRINTS_ONLY.contains(text.split('=').next().unwrap_or(text))
            })
        }),
        [Some("audit"), rest @ ..] => rest.iter().all(|word| matches!(word, Some("--json" | "--production"))),
        _ => false,
    };
    if matches!(words.first(), Some(Some("outdated" | "view" | "info" | "audit"))) {
        judge.needs(need::network(NetworkGrant::Full));
    }
    if !runs && judge.wrote && only_reads {
        judge.unknown_code(&call.part, "the same command may have chosen another version");
    }
    if runs {
        judge.project_code(call, risky);
    } else if !only_reads {
        let why = format!("{} can install packages or run unknown scripts", call.name);
        judge.ask(BuiltinRule::Install, &call.part, &why, "installs packages, or runs unknown scripts");
    }
}

fn make(judge: &mut Judge<'_>, call: &Call<'_>) {
    if only_version(call) {
        return;
    }
    let mut words = call.args.iter();
    while let Some(word) = words.next() {
        let ok = match word.lit() {
            None => false,
            Some(text) if MAKE_FLAGS.contains(text) => true,
            // A file `-` is the standard input.
            Some("-C" | "-f") if call.name != "just" => words
                .next()
                .is_some_and(|place| place.lit().is_some_and(|text| text != "-") && judge.is_inside(place)),
            Some(text) if text.starts_with("-j") => text[2..].bytes().all(|byte| byte.is_ascii_digit()),
            Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => true,
            Some(text) => is_target(text),
        };
        if !ok {
            let why = format!("{} is not a known safe target", word.text);
            judge.unknown_code(&call.part, &why);
            return;
        }
    }
    judge.project_code(call, "--eval -E --directory --file --justfile -I");
}

fn go(judge: &mut Judge<'_>, call: &Call<'_>) {
    let risky = "
        -exec -toolexec -overlay -modfile -ldflags -gcflags -asmflags -gccgoflags -vettool -C -w -u -pkgdir
        -compiler
    ";
    // go accepts every option with one or two dashes.
    let twice: String = Names(risky).iter().map(|option| format!(" -{option}")).collect();
    let risky = &format!("{risky}{twice}");
    let local = |word: &Word| word.lit().is_some_and(|text| text.starts_with('.') && !text.contains('@'));
    match call.args.first().and_then(Word::lit) {
        Some("test" | "build" | "vet" | "fmt" | "list" | "version" | "env" | "doc") => {
            judge.may_fetch = true;
            judge.project_code(call, risky);
        }
        Some("run") if call.args.get(1).is_some_and(local) && call.args.len() == 2 => {
            judge.project_code(call, risky);
        }
        _ => ask_verb(judge, call),
    }
}

fn cmake(judge: &mut Judge<'_>, call: &Call<'_>) {
    if only_version(call) {
        return;
    }
    let builds = verb_is(call, "--build");
    // Each word after `--target` is a target.
    let target = call
        .args
        .iter()
        .position(|word| word.lit().is_some_and(|text| text.starts_with("--t") || text.starts_with("-t")));
    let named = |at: usize| {
        let words = call.args[at + 1..].iter().map_while(Word::lit).take_while(|text| !text.starts_with('-'));
        matches!(call.args[at].lit(), Some("--target" | "-t")) && words.clone().count() > 0 && { words }
            .all(is_target)
    };
    let harmless = target.is_none_or(named);
    if builds && harmless && !call.args.iter().any(|word| word.lit() == Some("--")) {
        judge.project_code(call, "--preset");
    } else {
        judge.unknown_code(&call.part, "it runs commands from its files and arguments");
    }
}
