//! Package managers: looking is allowed, installing is asked about.

use super::Call;
use super::interpreters::only_version;
use crate::decision::Ground;
use crate::judge::Judge;
use crate::word::Word;

/// A package manager and its words for looking.
const LOOKS: [(&str, &[&str]); 26] = [
    ("pip", &["list", "show", "freeze", "check", "--version", "help"]),
    ("pip3", &["list", "show", "freeze", "check", "--version", "help"]),
    ("pipx", &["list", "--version"]),
    ("uvx", &["--version"]),
    ("npx", &["--version"]),
    ("bunx", &["--version"]),
    ("conda", &["list", "info", "--version"]),
    ("mamba", &["list", "info", "--version"]),
    ("gem", &["list", "search", "--version", "environment"]),
    ("composer", &["show", "--version", "validate"]),
    ("apt", &["list", "show", "search", "policy", "--version"]),
    ("apt-get", &["--version"]),
    ("apt-cache", &["show", "search", "policy", "depends", "rdepends"]),
    ("dpkg", &["-l", "-L", "-s", "-S", "--list", "--version"]),
    ("dnf", &["list", "info", "search", "--version"]),
    ("yum", &["list", "info", "search", "--version"]),
    ("rpm", &["-q", "-qa", "-qi", "-ql", "--version"]),
    ("pacman", &["-Q", "-Qi", "-Ql", "-Si", "-Ss", "--version"]),
    ("apk", &["info", "list", "search", "--version"]),
    ("brew", &["list", "info", "search", "--version", "outdated", "deps"]),
    ("snap", &["list", "info", "find", "--version"]),
    ("flatpak", &["list", "info", "search", "--version"]),
    ("port", &["installed", "info", "search"]),
    ("rustup", &["show", "--version", "which"]),
    ("nvm", &["ls", "current", "--version"]),
    ("pyenv", &["versions", "version", "--version"]),
];

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    let Some((_, looks)) = LOOKS.iter().find(|(name, _)| *name == call.name) else { return false };
    let first = call.args.first().and_then(Word::lit);
    let quiet = |word: &Word| word.lit().is_some_and(is_harmless);
    let looks = first.is_some_and(|first| looks.contains(&first)) && call.args.iter().skip(1).all(quiet);
    if !looks && !only_version(call) {
        let why = format!("{} installs, removes or runs packages", call.name);
        judge.ask(Ground::Install, &call.part, &why, "installs, removes or runs software from elsewhere");
    }
    true
}

/// Options that choose what is listed, and how.
const CHOOSES: [&str; 27] = [
    "--outdated",
    "--uptodate",
    "--format",
    "--json",
    "--installed",
    "--upgradable",
    "--all-versions",
    "--versions",
    "--all",
    "--verbose",
    "--quiet",
    "--local",
    "--user",
    "--editable",
    "--files",
    "--not-required",
    "--exclude-editable",
    "--name",
    "--cask",
    "--formula",
    "--names-only",
    "--remote",
    "-a",
    "-f",
    "-n",
    "-q",
    "-v",
];

/// Returns whether a further word is a name, or an option that runs and names nothing.
fn is_harmless(text: &str) -> bool {
    !text.starts_with('-') || CHOOSES.contains(&text.split('=').next().unwrap_or(text))
}
