//! git commands that change a repository, where the kernel confines: what git can undo runs unasked.

use mw_model::{Grant, NetworkGrant, WriteGrant};

use super::Call;
use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::names::Names;
use crate::need;
use crate::script::word::Word;

/// A subcommand and its arguments.
pub(super) struct Change<'w> {
    pub(super) name: &'w str,
    pub(super) options: Vec<&'w str>,
    pub(super) operands: Vec<&'w Word>,
    /// Whether `--` is among the arguments.
    pub(super) has_paths: bool,
}

/// What a subcommand does.
enum Effect {
    /// It changes the repository or files in a way that git can undo. Hooks of the project may run.
    Undoable,
    /// It fetches from another repository.
    Fetches,
    /// It needs approval, which gives this grant.
    Asks(Grant),
    /// git does not know it: an alias or a program, with unknown effects.
    Unknown,
}

/// Subcommands that change nothing that git cannot undo.
const UNDOABLE: Names<'_> = Names(
    "
    add commit stash switch merge rebase cherry-pick revert mv rm init notes apply am format-patch bundle mergetool
    tag branch checkout reset restore worktree bisect rerere update-index write-tree commit-tree hash-object fetch-pack
    difftool stage fsck pack-refs commit-graph
",
);

/// Subcommands that a person decides about.
const ASKED: Names<'_> = Names(
    "
    push send-email request-pull svn p4 daemon instaweb credential filter-branch filter-repo replace update-ref
    reflog prune gc remote config submodule clean lfs maintenance symbolic-ref imap-send http-push sparse-checkout
    send-pack receive-pack upload-pack upload-archive archive cvsexportcommit fast-import repack scalar shell
",
);

/// Options that overwrite what git cannot bring back, or run programs.
const LOSES: Names<'_> = Names(
    "
    --hard --merge --keep -f --force -D -M -C -B --discard-changes --exec -x --upload-pack --open-files-in-pager
    --ext-diff --textconv --output -o --template --config -c --separate-git-dir --recurse-submodules -u --force-create
    --reference --git-dir --work-tree --edit-description -i --interactive --worktree -W
",
);

/// Options of `clone`, `fetch` and `pull` that fetch no code to run and choose no program.
const FETCH_OPTIONS: Names<'_> = Names(
    "
    -q -v --quiet --verbose --all --tags --no-tags --heads --dry-run -t --refs --depth -b --branch --single-branch
    --filter --bare --mirror -n --no-checkout --progress --rebase -r --ff-only --ff --no-ff --no-rebase --autostash
    --no-edit -p --prune --unshallow --deepen --sparse -j --jobs --shallow-since --set-upstream -4 -6 -k --keep
    --no-recurse-submodules --origin
",
);

/// Judges a subcommand that does not only read.
pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>, change: &Change<'_>, effect_in_words: &str) {
    let name = change.name;
    match effect(judge, change) {
        Effect::Undoable => judge.code(&call.part),
        Effect::Fetches => fetches(judge, call, change, effect_in_words),
        Effect::Unknown => {
            judge.unknown_code(&call.part, &format!("git {name} is not a command of git itself"));
        }
        Effect::Asks(grant) => {
            let loses = matches!(
                name,
                "clean" | "rm" | "reset" | "checkout" | "restore" | "switch" | "stash" | "branch"
            );
            let builtin = if loses { BuiltinRule::Delete } else { BuiltinRule::Repository };
            let why = format!(
                "git {name} does something that git cannot undo, or acts outside of the working tree"
            );
            judge.ask_for(builtin, &call.part, &why, effect_in_words, grant);
        }
    }
}

fn effect(judge: &Judge<'_>, change: &Change<'_>) -> Effect {
    let Change { name, options, operands, has_paths } = change;
    let first = operands.first().and_then(|word| word.lit());
    let has = |names: &str| {
        options.iter().any(|option| Names(names).contains(option.split('=').next().unwrap_or(option)))
    };
    let short_force = options.iter().any(|option| {
        !option.starts_with("--")
            && option.len() > 2
            && option[1..].chars().all(char::is_alphabetic)
            && option.contains(['f', 'D', 'x'])
    });
    let loses = short_force
        || options.iter().any(|option| LOSES.contains(option.split('=').next().unwrap_or(option)));
    let ask = || Effect::Asks(asked_grant(judge, name, options, first));
    let undoable_unless = |lost: bool| if lost { ask() } else { Effect::Undoable };
    match *name {
        "fetch" | "pull" | "clone" | "ls-remote" => Effect::Fetches,
        "clean" if has("-n --dry-run") && !has("-f --force") => Effect::Undoable,
        "commit" => undoable_unless(has("--exec --template")),
        "stash" => undoable_unless(matches!(first, Some("drop" | "clear"))),
        "add" | "mv" | "apply" | "am" | "stage" => {
            undoable_unless(has("-i --interactive -e --edit -p --patch") && options.is_empty())
        }
        "restore" => undoable_unless(!has("--staged -S") || has("--worktree -W")),
        "reset" => undoable_unless(loses),
        "tag" => undoable_unless(has("-d --delete -f --force")),
        "branch" => undoable_unless(loses || has("--delete-force -u --set-upstream-to --unset-upstream")),
        "checkout" => {
            undoable_unless(loses && !has("-B") || *has_paths || !is_branch(judge, options, operands))
        }
        "switch" => undoable_unless(has("-f --force --discard-changes")),
        "init" => undoable_unless(
            has("--template --separate-git-dir") || operands.iter().any(|place| !judge.is_inside(place)),
        ),
        "worktree" => undoable_unless(
            loses
                || first == Some("remove")
                || operands.iter().skip(1).take(1).any(|place| !judge.is_inside(place)),
        ),
        "format-patch" | "bundle" => undoable_unless(has("-o --output-directory --output")),
        "bisect" if first == Some("run") => Effect::Unknown,
        name if UNDOABLE.contains(name) => undoable_unless(loses),
        name if ASKED.contains(name) => ask(),
        _ => Effect::Unknown,
    }
}

/// Returns whether `checkout` goes to a branch, a tag or a new branch, and does not overwrite files.
fn is_branch(judge: &Judge<'_>, options: &[&str], operands: &[&Word]) -> bool {
    if options
        .iter()
        .any(|option| matches!(*option, "-b" | "--orphan" | "--detach" | "-B" | "-t" | "--track"))
    {
        return true;
    }
    let [one] = operands else { return false };
    let Some(name) = one.lit() else { return false };
    let git = format!("{}/.git", judge.request.project);
    let files = judge.request.files;
    let plain = !name.is_empty() && !name.contains("..") && !name.starts_with('/');
    let packed = || {
        files.text(&format!("{git}/packed-refs")).is_some_and(|text| {
            text.lines().any(|line| {
                line.split_once(' ').is_some_and(|(_, reference)| {
                    ["refs/heads/", "refs/tags/"]
                        .iter()
                        .any(|kind| reference.strip_prefix(kind) == Some(name))
                })
            })
        })
    };
    let loose = || {
        files.text(&format!("{git}/refs/heads/{name}")).is_some()
            || files.text(&format!("{git}/refs/tags/{name}")).is_some()
    };
    name == "-" || plain && (matches!(name, "main" | "master" | "HEAD") || loose() || packed())
}

/// Returns what an approval gives.
fn asked_grant(judge: &Judge<'_>, name: &str, options: &[&str], first: Option<&str>) -> Grant {
    let settings = |path: String| need::writes(WriteGrant::Paths(vec![path]));
    match name {
        "push" | "send-email" | "imap-send" | "lfs" | "submodule" | "svn" | "p4" => need::remote_repository(),
        "config" if options.contains(&"--global") => settings(format!("{}/.gitconfig", judge.request.home)),
        "config" | "sparse-checkout" => settings(format!("{}/.git/config", judge.request.project)),
        "branch" => settings(format!("{}/.git/config", judge.request.project)),
        "remote" if matches!(first, Some("update" | "prune" | "show")) => need::remote_repository(),
        "remote" => settings(format!("{}/.git/config", judge.request.project)),
        "worktree" | "bundle" | "format-patch" | "archive" | "init" | "daemon" | "credential" => {
            need::everything()
        }
        _ => need::writes(WriteGrant::Project),
    }
}

/// Judges `clone`, `fetch` and `pull`: they get the network and the keys of the user.
fn fetches(judge: &mut Judge<'_>, call: &Call<'_>, change: &Change<'_>, effect_in_words: &str) {
    let known = |option: &&str| {
        let name = option.split('=').next().unwrap_or(option);
        FETCH_OPTIONS.contains(name)
            || name.starts_with("-j") && name[2..].bytes().all(|byte| byte.is_ascii_digit())
    };
    let odd = change.options.iter().find(|option| !known(option)).copied();
    let from = change.operands.iter().find(|word| !is_address(word));
    if odd.is_some()
        || from.is_some() && change.name != "clone"
        || change.name == "clone" && !change.operands.iter().any(|word| is_address(word))
    {
        let what = odd.unwrap_or_else(|| from.map_or("the address", |word| &word.text));
        let why = format!("{what} can choose a program, or is not a plain address");
        return judge.ask_for(
            BuiltinRule::Repository,
            &call.part,
            &why,
            effect_in_words,
            need::remote_repository(),
        );
    }
    judge.needs(need::remote_repository());
    if change.name != "clone" {
        return;
    }
    // With keys only if it may be needed: anybody may read a public repository.
    let addresses: Vec<&&Word> = change
        .operands
        .iter()
        .filter(|word| is_address(word) && word.lit().is_some_and(|text| text.contains([':', '@'])))
        .collect();
    let targets: Vec<&&Word> = change.operands.iter().filter(|word| !addresses.contains(word)).collect();
    if addresses.len() != 1 || targets.len() > 2 {
        judge.ask_for(
            BuiltinRule::Repository,
            &call.part,
            "its operands are not an address and a directory",
            effect_in_words,
            Grant { network: NetworkGrant::Full, ..need::everything() },
        );
        return;
    }
    match targets.last() {
        Some(target) => judge.write(target, &call.part),
        None => judge.write_to("./repository", &call.part),
    }
}

/// Returns whether a word is the name of a remote, a branch or the address of a repository.
fn is_address(word: &Word) -> bool {
    word.lit().is_some_and(|text| {
        let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "._-/~+:@#".contains(c));
        let rest =
            ["https://", "http://", "ssh://", "git://"].iter().find_map(|scheme| text.strip_prefix(scheme));
        match rest {
            Some(rest) => !rest.is_empty() && plain(rest) && !rest.starts_with('-'),
            None => {
                !text.is_empty()
                    && plain(text)
                    && !text.contains("::")
                    && !text.starts_with(['/', '.', '-', '~'])
                    && !text.contains("..")
            }
        }
    })
}
