//! Package managers: listing is allowed, installing needs approval.

use super::Call;
use super::interpreters::only_version;
use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::names::Names;
use crate::script::word::Word;

/// Package managers, and the first words with which they only print.
const READS: [(&str, &str); 20] = [
    ("pip pip3", "list show freeze check --version help"),
    ("pipx", "list --version"),
    ("uvx npx bunx apt-get", "--version"),
    ("conda mamba", "list info --version"),
    ("gem", "list search --version environment"),
    ("composer", "show --version validate"),
    ("apt", "list show search policy --version"),
    ("apt-cache", "show search policy depends rdepends"),
    ("dpkg", "-l -L -s -S --list --version"),
    ("dnf yum", "list info search --version"),
    ("rpm", "-q -qa -qi -ql --version"),
    ("pacman", "-Q -Qi -Ql -Si -Ss --version"),
    ("apk", "info list search --version"),
    ("brew", "list info search --version outdated deps"),
    ("snap", "list info find --version"),
    ("flatpak", "list info search --version"),
    ("port", "installed info search"),
    ("rustup", "show --version which"),
    ("nvm", "ls current --version"),
    ("pyenv", "versions version --version"),
];

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    let Some((_, reads)) = READS.iter().find(|(names, _)| Names(names).contains(call.name)) else {
        return false;
    };
    let first = call.args.first().and_then(Word::lit);
    let quiet = |word: &Word| word.lit().is_some_and(is_harmless);
    let only_reads =
        first.is_some_and(|first| Names(reads).contains(first)) && call.args.iter().skip(1).all(quiet);
    if !only_reads && !only_version(call) {
        let why = format!("{} can install, remove or run packages", call.name);
        judge.ask(BuiltinRule::Install, &call.part, &why, "installs, removes or runs packages");
    }
    true
}

/// Options that select or format a list.
const CHOOSES: Names<'_> = Names(
    "
    --outdated --uptodate --format --json --installed --upgradable --all-versions --versions --all --verbose
    --quiet --local --user --editable --files --not-required --exclude-editable --name --cask --formula
    --names-only --remote -a -f -n -q -v
",
);

/// Returns whether a further word is a name or a harmless option.
fn is_harmless(text: &str) -> bool {
    !text.starts_with('-') || CHOOSES.contains(text.split('=').next().unwrap_or(text))
}
