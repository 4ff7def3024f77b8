//! Protected names: files in a project that control other programs, so that a write to them may run code later.

use crate::names::{Names, may_be_same};

/// Names of protected files and directories, in any directory of a project, separated by white space. `*` stands for any
/// characters. Names are compared without regard to case.
pub const PROTECTED_NAMES: &str = "
    .git .gitmodules .gitattributes .githooks .hg .svn .jj .husky .lefthook lefthook.y*ml lefthook.toml
    lefthook.json .lefthook.* lefthook-local.* .lefthook-local.* .overcommit.yml .pre-commit-config.y*ml
    .vscode .idea .zed .fleet .vim .nvim .nvimrc .exrc .vimrc .gvimrc .dir-locals.el .dir-locals-2.el
    *.code-workspace .devcontainer .devcontainer.json .gitpod.yml
    .env .envrc rust-toolchain rust-toolchain.toml .mise.toml mise.toml mise.*.toml .mise.*.toml .mise .tool-versions .rtx.toml
    .meanwhile.toml .claude .codex .gemini .cursor .opencode .windsurf .aider.conf.yml .continue .mcp.json
    .cargo .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs bunfig.toml .mvn .pip pip.conf .pypirc
    .gdbinit .lldbinit .inputrc .tmux.conf .ssh .bashrc .bash_profile .bash_login .bash_aliases
    .profile .zshrc .zshenv .zprofile .zlogin .gitconfig .config .local .netrc .aws .gnupg .kube .docker
    .circleci .gitlab-ci.yml .travis.yml .buildkite .woodpecker .woodpecker.yml .drone.yml jenkinsfile
    azure-pipelines.yml bitbucket-pipelines.yml appveyor.yml .appveyor.yml
";

/// Protected directories with more than one name, separated by white space.
pub const PROTECTED_PATHS: &str = ".github/workflows .github/actions .yarn/releases .yarn/plugins";

/// Returns whether a path inside a project, which may be a pattern, leads to a protected file.
pub(crate) fn may_be_protected(inside: &str) -> bool {
    let inside = inside.to_lowercase();
    let parts: Vec<&str> = inside.split('/').filter(|part| !part.is_empty()).collect();
    let name_is = |part: &&str| Names(PROTECTED_NAMES).iter().any(|name| may_be_same(part, name));
    let path_is = |path: &str| {
        let names: Vec<&str> = path.split('/').collect();
        parts
            .windows(names.len())
            .any(|some| some.iter().zip(&names).all(|(part, name)| may_be_same(part, name)))
    };
    parts.iter().any(name_is) || Names(PROTECTED_PATHS).iter().any(path_is)
}

/// Ends of names of files that other programs may obey.
const OBEYED_ENDS: Names<'_> =
    Names("toml yml yaml json cfg ini conf config lock sample cjs mjs js rc sh env xml");

/// Returns whether a pattern for names, such as `*.rs`, matches no protected file.
pub(crate) fn is_plain_ending(pattern: &str) -> bool {
    pattern.strip_prefix("*.").is_some_and(|end| {
        !end.is_empty() && end.chars().all(char::is_alphanumeric) && !OBEYED_ENDS.contains(end)
    })
}

/// Returns whether a name belongs to a protected file or directory.
#[must_use]
pub fn is_protected_name(name: &str) -> bool {
    let name = name.to_lowercase();
    Names(PROTECTED_NAMES).matches(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_other_programs_obey_are_protected_also_behind_patterns() {
        for path in [
            "/.git/hooks/x",
            "/sub/.githooks/a",
            "/lefthook.yml",
            "/.yarnrc.yml",
            "/.devcontainer/x",
            "/.MVN/x",
            "/.github/workflows/ci.yml",
            "/.gi[st]/hooks",
            "/.g?t/x",
            "/.e*",
            "/.git[h]ooks",
            "/.gith[!z]oks/x",
            "/a/.npmrc",
            "/.github/work*/x",
            "/x.code-workspace",
        ] {
            assert!(may_be_protected(path), "{path}");
        }
        for path in
            ["/src/git", "/.github/CODEOWNERS", "/docs/workflows/x", "/*.rs", "/.gitignore", "/src/[a-c]*.rs"]
        {
            assert!(!may_be_protected(path), "{path}");
        }
        assert!(is_protected_name(".Git") && !is_protected_name("src"));
    }
}
