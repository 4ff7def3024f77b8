//! Differences between what some agents announce and what they do, as measured with the real programs.

use std::path::{Path, PathBuf};

/// How an agent differs from what it says, or from what others do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quirks {
    /// Whether it can write new files through its client. Gemini CLI reads a file before it writes it, and a file
    /// that is not there ends its call; without the offer it writes by itself.
    pub(crate) writes_through_client: bool,
    /// Whether it can take up a conversation in a new process, should it say so. Gemini CLI finds none.
    pub(crate) loads: bool,
    /// Whether the title of a permission to execute is the command, and nothing else says it.
    pub(crate) titles_are_commands: bool,
}

impl Quirks {
    /// Returns those of the agent that this command starts.
    pub(crate) fn of(command: &[String]) -> Self {
        let is_gemini = command.iter().any(|word| {
            let name = Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or(word);
            name == "gemini" || name.starts_with("gemini-cli")
        });
        Self { writes_through_client: !is_gemini, loads: !is_gemini, titles_are_commands: is_gemini }
    }
}

/// Takes the command out of a title, and the directory where one is named. Older versions of Gemini CLI add
/// ` [current working directory D]` or ` [in D]`, then ` (what it is for)` and ` [background]`. Only a title that ends in
/// exactly that is cut; the command may say anything, so nothing is cut out of the middle of one.
pub(crate) fn command_in(title: &str) -> (String, Option<PathBuf>) {
    let whole = || (title.to_owned(), None);
    let marks = [" [current working directory ", " [in "];
    let found: Vec<_> = marks.iter().flat_map(|mark| title.match_indices(mark)).collect();
    let [(at, mark)] = found[..] else { return whole() };
    let Some((directory, rest)) = title[at + mark.len()..].split_once(']') else { return whole() };
    let rest = rest.strip_suffix(" [background]").unwrap_or(rest);
    let is_remark = rest.is_empty() || (rest.starts_with(" (") && rest.ends_with(')'));
    // After a word, a bracket is no shell: what looks like a remark cannot have been part of a command that runs.
    if !is_remark || rest.contains('\n') || !Path::new(directory).is_absolute() {
        return whole();
    }
    (title[..at].to_owned(), Some(PathBuf::from(directory)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gemini_is_known_by_its_program() {
        let quirks =
            |words: &[&str]| Quirks::of(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        for command in [&["gemini", "--acp"][..], &["/opt/bin/gemini"], &["npx", "@google/gemini-cli@0.61.0"]]
        {
            assert!(!quirks(command).loads && !quirks(command).writes_through_client, "{command:?}");
        }
        for command in [&["opencode", "acp"][..], &["codex-acp"], &["my-gemini-like"]] {
            assert!(quirks(command).loads && !quirks(command).titles_are_commands, "{command:?}");
        }
    }

    #[test]
    fn a_command_is_cut_only_where_nothing_of_it_can_be_lost() {
        let cut = |title: &str| command_in(title).0;
        assert_eq!(cut("echo hi"), "echo hi");
        assert_eq!(cut("echo hi [current working directory /p]"), "echo hi");
        assert_eq!(cut("echo hi [current working directory /p] (Say hi) [background]"), "echo hi");
        assert_eq!(command_in("ls [in /p/q] (look)"), ("ls".to_owned(), Some(PathBuf::from("/p/q"))));
        for whole in [
            "ls [in /p]; rm -rf ~",
            "ls [in /p] (x); rm -rf ~ (y)\n",
            "ls [in q]",
            "ls [in /p] [current working directory /p]; rm x [in /p]",
            "echo [current working directory /p] | sh",
        ] {
            assert_eq!(cut(whole), whole);
        }
    }
}
