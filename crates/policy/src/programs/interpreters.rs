//! Programs that run code they are given.

use super::Call;
use super::options::read;
use crate::decision::BuiltinRule;
use crate::judge::{Grammar, Judge};
use crate::names::Names;
use crate::need;
use crate::script::word::Word;

/// Python modules, and the programs as which they are analysed.
const MODULES: [(&str, &str); 10] = [
    ("pytest", "pytest"),
    ("unittest", "unittest"),
    ("mypy", "mypy"),
    ("ruff", "ruff"),
    ("black", "black"),
    ("flake8", "flake8"),
    ("pylint", "pylint"),
    ("isort", "isort"),
    ("pip", "pip"),
    ("tox", "tox"),
];

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    let name = call.name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match name {
        "sh" | "bash" | "dash" | "ash" => shell(judge, call),
        "zsh" | "ksh" | "mksh" | "fish" | "csh" | "tcsh" | "nu" | "pwsh" | "elvish" | "xonsh" | "rbash" => {
            if !only_version(call) {
                judge.unknown_code(&call.part, &format!("the syntax of {name} is not supported"));
            }
        }
        "python" | "pypy" | "ipython" => python(judge, call),
        "node" | "nodejs" => node(judge, call),
        "perl" | "ruby" | "php" | "lua" | "luajit" | "tclsh" | "wish" | "Rscript" | "R" | "julia"
        | "ghci" | "runghc" | "elixir" | "iex" | "erl" | "scala" | "groovy" | "java" | "jshell" | "swipl"
        | "guile" | "racket" | "clojure" | "ocaml" | "bc" | "dc" | "gnuplot" | "octave" | "irb" | "psql"
        | "mysql" | "sqlite" | "mongo" | "mongosh" | "redis-cli" | "duckdb" | "tsx" | "ts-node" | "vim"
        | "vi" | "nvim" | "view" | "vimdiff" | "emacs" | "emacsclient" | "nano" | "micro" | "hx" | "code"
        | "m4" | "cpp" | "gcc" | "g++" | "clang" | "cc" | "rustc" | "javac" | "ld" | "as"
        | "dotnet-script" | "mshta" => {
            if !only_version(call) {
                judge.unknown_code(&call.part, &format!("{name} can run code or write files"));
            }
        }
        _ => return false,
    }
    true
}

/// Returns whether a program only prints its version or its help.
pub(super) fn only_version(call: &Call<'_>) -> bool {
    let [word] = call.args else { return false };
    match word.lit() {
        // These pass every option to the script.
        Some(_) if matches!(call.name, "tclsh" | "wish" | "erl") => false,
        Some("--version" | "--help" | "-version") => true,
        // For other programs the letters have other meanings.
        Some("-V") => {
            UPPERCASE_V_IS_VERSION.contains(call.name)
                || LOWERCASE_V_IS_VERSION.contains(call.name)
                || call.name.starts_with("python")
        }
        Some("-v") => LOWERCASE_V_IS_VERSION.contains(call.name),
        _ => false,
    }
}

/// Programs that print their version for `-v` and for `-V`.
const LOWERCASE_V_IS_VERSION: Names<'_> =
    Names("node nodejs ruby perl php lua gcc g++ clang cc julia nvim groovy npm");
/// Further programs that print their version for `-V`.
const UPPERCASE_V_IS_VERSION: Names<'_> = Names("psql mysql cargo rustc pip curl");

fn shell(judge: &mut Judge<'_>, call: &Call<'_>) {
    if only_version(call) {
        return;
    }
    let grammar = if call.name == "bash" { Grammar::Bash } else { Grammar::Posix };
    let mut rest = call.args;
    let mut is_script = false;
    while let Some((first, after)) = rest.split_first() {
        match first.lit() {
            // These letters do not change which script runs; with `l` and `i` the shell reads files of the user first.
            Some(text) if text.starts_with('-') && !text.starts_with("--") && text.len() > 1 => {
                if !text[1..].chars().all(|c| "celuxinfv".contains(c)) {
                    return judge.unknown_code(&call.part, &format!("{text} changes what the shell runs"));
                }
                is_script |= text.contains('c');
                rest = after;
            }
            Some("--norc" | "--noprofile" | "--posix" | "--login") => rest = after,
            Some("-o") => rest = after.get(1..).unwrap_or_default(),
            Some(text) if text.starts_with(['-', '+']) => {
                return judge.unknown_code(&call.part, &format!("{text} changes what the shell runs"));
            }
            _ => break,
        }
    }
    match rest.split_first() {
        None => judge.unknown_code(&call.part, "it runs commands from its input"),
        Some((first, args)) => {
            if args.iter().any(|word| word.lit().is_none()) {
                judge.unknown_code(&call.part, "the script may execute these arguments");
            }
            if !is_script {
                return judge.run_script(first, &call.part);
            }
            match first.lit() {
                Some(script) => {
                    let script = script.to_owned();
                    judge.in_child_shell(|judge| judge.script(&script, grammar));
                }
                None => judge.unknown_code(&call.part, "its script is known only at run time"),
            }
        }
    }
}

fn python(judge: &mut Judge<'_>, call: &Call<'_>) {
    if only_version(call) {
        return;
    }
    let mut rest = call.args;
    while let Some((first, after)) = rest.split_first() {
        match first.lit() {
            Some("-u" | "-B" | "-s" | "-q" | "-O" | "-OO" | "-I") => rest = after,
            _ => break,
        }
    }
    let module = rest
        .split_first()
        .filter(|(first, _)| first.lit() == Some("-m"))
        .and_then(|(_, rest)| rest.split_first());
    let Some((module, args)) = module else {
        return judge.unknown_code(&call.part, "the effects of the code are unknown");
    };
    let known = module.lit().and_then(|name| MODULES.iter().find(|(module, _)| *module == name));
    match (known, module.lit()) {
        // In another directory Python would load a file of that name.
        (Some(_), _) if !judge.runs_in_project() => {
            judge.unknown_code(&call.part, "a module outside the project may be loaded");
        }
        (Some((_, program)), _) => {
            let mut words = vec![Word::plain(program)];
            words.extend_from_slice(args);
            judge.call(&words);
        }
        (None, Some("json.tool"))
            if args.iter().all(Word::is_option) && !judge.wrote && !has_module(judge, "json") => {}
        (None, Some("http.server")) => {
            let effect = "serves files to the network";
            let why = "it serves files to anyone who can connect";
            judge.held(BuiltinRule::Network, &call.part, why, effect, need::project_code());
        }
        (None, Some("venv")) => {
            let why = "it installs Python into a directory";
            let effect = "creates a virtual environment";
            judge.held(BuiltinRule::Install, &call.part, why, effect, need::project_code());
        }
        (None, _) => judge.unknown_code(&call.part, "the effects of the module are unknown"),
    }
}

/// Returns whether Python would load a module from the current directory instead of its own.
fn has_module(judge: &Judge<'_>, name: &str) -> bool {
    let is_there = |path: String| judge.request.files.exists(&path);
    judge.cwd.is_empty()
        || judge
            .cwd
            .iter()
            .any(|cwd| is_there(format!("{cwd}/{name}.py")) || is_there(format!("{cwd}/{name}")))
}

fn node(judge: &mut Judge<'_>, call: &Call<'_>) {
    if only_version(call) {
        return;
    }
    let options = read(call.args, "");
    let tests = options.has("--test") && options.other_than("--test --test-reporter --test-only").is_none();
    let checks = matches!(call.args, [first, file] if first.lit() == Some("--check") && !file.may_be_option() && !file.is_option());
    if tests {
        judge.project_code(call, "");
    } else if !checks {
        judge.unknown_code(&call.part, "the effects of the code are unknown");
    }
}
