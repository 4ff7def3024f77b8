//! Builtins of shells.

use mw_model::{EnvironmentGrant, Grant};

use super::Call;
use super::options::read;
use super::reads::is_secret_variable;
use crate::decision::BuiltinRule;
use crate::judge::{Grammar, Judge, PipeContent, text_of};
use crate::names::Names;
use crate::script::word::{Variable, Word};

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    match call.name {
        ":" | "exit" | "return" | "break" | "continue" | "shift" | "times" | "umask" | "ulimit" | "type"
        | "dirs" | "fg" | "bg" | "caller" => {}
        "test" | "[" | "unset" | "read" | "getopts" | "wait" => names(judge, call),
        "hash" | "jobs" => {
            // `hash -p` sets the program of a name, and `jobs -x` runs a command.
            if call
                .args
                .iter()
                .any(|word| !matches!(word.lit(), Some("-r" | "-l" | "-p")) || call.name == "hash")
            {
                judge.unknown_code(&call.part, "it changes the meaning of later commands, or runs them");
            }
        }
        "printf" => printf(judge, call),
        "cd" | "chdir" | "pushd" => cd(judge, call),
        "popd" => judge.cwd.clear(),
        "export" | "readonly" | "local" | "declare" | "typeset" => declare(judge, call),
        "set" => set(judge, call),
        "shopt" => shopt(judge, call),
        "command" => command(judge, call),
        "builtin" => judge.call(call.args),
        "exec" => exec(judge, call),
        "eval" => eval(judge, call),
        "source" | "." => judge.source(call.args, &call.part),
        "trap" => trap(judge, call),
        _ => return false,
    }
    true
}

/// Analyses builtins whose operands may be names with an index, which is evaluated.
fn names(judge: &mut Judge<'_>, call: &Call<'_>) {
    // The bracket that ends a test is not an index. A name in an index is evaluated as well.
    let odd = judge.executable_values;
    let indexed = |word: &Word| match word.values() {
        None => false,
        Some(values) => values
            .iter()
            .any(|value| value.len() > 1 && value.contains('[') && (odd || value.contains(['$', '`', '(']))),
    };
    // `test -v NAME` evaluates an index in the name.
    let of_variable = call
        .args
        .windows(2)
        .any(|pair| matches!(pair[0].lit(), Some("-v" | "-R")) && pair[1].lit().is_none());
    if call.args.iter().any(indexed) || of_variable {
        judge.ask(
            BuiltinRule::UnknownCode,
            &call.part,
            "an array index can run commands",
            "may run commands",
        );
    }
    if call.name == "unset" && call.args.iter().any(Word::is_option) {
        judge.unknown_code(&call.part, "it changes the meaning of later commands");
    }
    if call.name == "wait"
        && let Some(at) = call.args.iter().position(|word| word.may_hold("-p"))
    {
        match call.args.get(at + 1).and_then(Word::lit).filter(|_| call.args[at].lit() == Some("-p")) {
            Some(name) => judge.assign(name, &Word::unknown(name), &call.part),
            None => judge.unknown_code(&call.part, "the variable it sets is known only at run time"),
        }
    }
    if matches!(call.name, "read" | "getopts" | "unset") {
        for word in call.args {
            match word.lit() {
                Some(name) => {
                    // With other options `read` may split a name.
                    let whole = call.args.iter().all(|word| !word.is_option() || word.lit() == Some("-r"));
                    let in_project = call.name == "read" && whole && judge.input != PipeContent::Unknown;
                    judge.assign(name, &Word { in_project, ..Word::unknown(name) }, &call.part);
                }
                None => judge.unknown_code(&call.part, "the variable it sets is known only at run time"),
            }
        }
    }
}

fn printf(judge: &mut Judge<'_>, call: &Call<'_>) {
    if call.args.first().is_some_and(|word| word.lit().is_none_or(|text| text.starts_with("-v"))) {
        let literal_format = call.args.first().and_then(Word::lit).is_none();
        let harmless = literal_format && call.args.first().is_some_and(|word| !word.may_be_option());
        if !harmless {
            judge.unknown_code(&call.part, "it may set a variable, and an array index can run commands");
        }
    }
    for word in call.args {
        judge.mention_values(word, &call.part);
    }
}

fn cd(judge: &mut Judge<'_>, call: &Call<'_>) {
    let options = read(call.args, "");
    let before = judge.cwd.clone();
    let target = match options.operands.as_slice() {
        [] => Some(judge.request.home.to_owned()),
        [one] => one.lit().filter(|text| *text != "-" && !text.starts_with('+')).map(str::to_owned),
        _ => None,
    };
    let Some(target) =
        target.filter(|target| !target.is_empty() && !before.is_empty() || target.starts_with('/'))
    else {
        judge.cwd.clear();
        return;
    };
    // A shell resolves `..` by the path that was used, the system by the real path. Both are possible.
    let mut places = Vec::new();
    let froms = if target.starts_with('/') { vec![String::new()] } else { before.clone() };
    for from in froms {
        let path = format!("{from}/{target}");
        let Some(real) = judge.request.files.real(&path) else {
            judge.cwd.clear();
            return;
        };
        for place in [lexical(&path), real] {
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    judge.after_failed_cd.extend(before);
    judge.cwd = places;
}

/// Removes `.` and `..` from a path without following links.
fn lexical(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

fn declare(judge: &mut Judge<'_>, call: &Call<'_>) {
    if call.args.is_empty() || call.args.iter().all(Word::is_option) {
        return judge.prints_environment(&call.part);
    }
    for word in call.args {
        if word.splits && judge.grammar == Grammar::Posix {
            judge.unknown_code(&call.part, "some shells set further variables here");
        }
        let Some(text) = word.lit() else {
            let arrays = |word: &Word| word.is_option() && (word.may_hold("a") || word.may_hold("A"));
            if call.args.iter().any(arrays) {
                judge.unknown_code(&call.part, "bash evaluates the text of an array");
            }
            match assigned_name(word) {
                Some(name) => {
                    judge.assign(name, &Word { text: word.text.clone(), ..Word::default() }, &call.part);
                }
                None => judge.unknown_code(&call.part, "the variable it sets is known only at run time"),
            }
            continue;
        };
        if text.starts_with(['-', '+']) {
            if text.contains(['i', 'n', 'f', 'F']) {
                judge.unknown_code(&call.part, "it changes the meaning of a variable");
            }
            continue;
        }
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        if value.starts_with('(') || name.contains('[') {
            judge.unknown_code(&call.part, "bash evaluates the text of an array");
        }
        judge.secret_variables(&[name.to_owned()], text);
        if text.contains('=') {
            judge.assign(name.trim_end_matches('+'), &Word::plain(value), &call.part);
            judge.mention(value, &call.part);
        }
    }
}

fn set(judge: &mut Judge<'_>, call: &Call<'_>) {
    if call.args.is_empty() {
        return judge.prints_environment(&call.part);
    }
    let known = |word: &Word| {
        word.lit().is_some_and(|text| {
            matches!(text, "pipefail" | "errexit" | "nounset" | "xtrace" | "noglob")
                || (text.starts_with(['-', '+']) && text[1..].chars().all(|c| "euxofCnvb".contains(c)))
        })
    };
    if !call.args.iter().all(known) {
        judge.unknown_code(&call.part, "it changes the meaning of later commands");
    }
}

fn shopt(judge: &mut Judge<'_>, call: &Call<'_>) {
    let known = "-s -u -q -p globstar nullglob failglob nocaseglob";
    if !call.args.iter().all(|word| word.lit().is_some_and(|text| Names(known).contains(text))) {
        judge.unknown_code(&call.part, "it changes the meaning of later commands");
    }
}

fn command(judge: &mut Judge<'_>, call: &Call<'_>) {
    match call.args.first().and_then(Word::lit) {
        Some("-v" | "-V") => {}
        Some("-p") => judge.call(&call.args[1..]),
        _ => judge.call(call.args),
    }
}

fn exec(judge: &mut Judge<'_>, call: &Call<'_>) {
    let mut args = call.args;
    while let Some((first, rest)) = args.split_first() {
        match first.lit() {
            Some("-l" | "-c" | "-cl" | "-lc") => args = rest,
            Some("-a") => args = rest.get(1..).unwrap_or_default(),
            _ => break,
        }
    }
    judge.call(args);
}

fn eval(judge: &mut Judge<'_>, call: &Call<'_>) {
    let texts: Option<Vec<&str>> = call.args.iter().map(Word::lit).collect();
    match texts {
        Some(texts) => {
            let grammar = judge.grammar;
            judge.script(&texts.join(" "), grammar);
        }
        None => judge.unknown_code(&call.part, "the evaluated text is known only at run time"),
    }
}

fn trap(judge: &mut Judge<'_>, call: &Call<'_>) {
    match call.args.first().map(Word::lit) {
        None | Some(Some("-l" | "-p" | "-" | "")) => {}
        Some(Some(script)) => {
            let (script, grammar) = (script.to_owned(), judge.grammar);
            // The directory in which it will run is unknown.
            judge.isolated(|judge| {
                judge.cwd.clear();
                judge.script(&script, grammar);
            });
            judge.deferred = true;
        }
        Some(None) => {
            judge.unknown_code(&call.part, "the command that it runs later is known only at run time");
        }
    }
}

/// Returns the variable that a word such as `NAME=$value` sets.
pub(super) fn assigned_name(word: &Word) -> Option<&str> {
    let (name, _) = word.text.split_once('=')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then_some(name)
}

impl Judge<'_> {
    /// Asks about printing the environment.
    pub(super) fn prints_environment(&mut self, part: &str) {
        // Where the kernel confines, the environment has no secrets.
        let why = "the environment may contain secrets";
        self.held(BuiltinRule::Secret, part, why, "prints the environment", Grant::default());
    }

    /// Asks about a variable that is named like a secret.
    pub(crate) fn secret_variables(&mut self, names: &[String], raw: &str) {
        for name in names {
            let own = self.variables.get(name).is_some_and(|variable| *variable != Variable::Unknown);
            if is_secret_variable(name) && !own {
                let why = format!("the name {name} suggests a secret");
                let effect = format!("uses the value of {name}");
                let grant = Grant { environment: EnvironmentGrant::All, ..Grant::default() };
                self.ask_for(BuiltinRule::Secret, raw, &why, &effect, grant);
            }
        }
    }

    /// Analyses a script that the shell reads with `source`.
    fn source(&mut self, args: &[Word], part: &str) {
        let Some(script) = args.first() else { return };
        if script.lit().is_some_and(|path| path.contains('/')) {
            self.run_script(script, part);
        } else {
            // Without a directory the shell searches `PATH` first.
            self.unknown_code(part, "the script is unknown");
        }
        // It runs in this shell, so it may change every variable and the directory.
        let text = text_of(args);
        self.variables.values_mut().for_each(|variable| *variable = Variable::Unknown);
        self.cwd.clear();
        if args.len() > 1 {
            self.unknown_code(&text, "the script may execute its arguments");
        }
    }
}
