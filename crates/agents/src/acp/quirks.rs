//! Differences between what some agents announce and what they do, as measured with the real programs.

use std::path::{Path, PathBuf};

/// How an agent differs from its announcements or from other agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quirks {
    /// Whether it can create files through its client. Gemini CLI reads a file before it writes it and gives up if the
    /// file does not exist. Without the offer it writes files itself.
    pub(crate) writes_through_client: bool,
    /// Whether it can load a session in a new process if it says so. Gemini CLI cannot.
    pub(crate) loads: bool,
    /// Whether only the title of a permission request contains the command.
    pub(crate) titles_are_commands: bool,
    /// Whether it is our own agent, which needs neither files nor terminals from its client.
    pub(crate) is_own_agent: bool,
}

impl Quirks {
    /// The quirks of our own agent.
    pub(crate) const OWN_AGENT: Self =
        Self { writes_through_client: false, loads: true, titles_are_commands: false, is_own_agent: true };

    /// Returns the quirks of the agent that this command starts.
    pub(crate) fn of(command: &[String]) -> Self {
        let is_gemini = command.iter().any(|word| {
            let name = Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or(word);
            name == "gemini" || name.starts_with("gemini-cli")
        });
        Self {
            writes_through_client: !is_gemini,
            loads: !is_gemini,
            titles_are_commands: is_gemini,
            is_own_agent: false,
        }
    }
}

/// Extracts the command and its directory, if any, from a title. Older versions of Gemini CLI append
/// ` [current working directory D]` or ` [in D]`, then ` (its purpose)` and ` [background]`. Only a title that ends exactly
/// so is cut, because a command may contain any text.
pub(crate) fn command_in(title: &str) -> (String, Option<PathBuf>) {
    let whole = || (title.to_owned(), None);
    let marks = [" [current working directory ", " [in "];
    let found: Vec<_> = marks.iter().flat_map(|mark| title.match_indices(mark)).collect();
    let [(at, mark)] = found[..] else { return whole() };
    let Some((directory, rest)) = title[at + mark.len()..].split_once(']') else { return whole() };
    let rest = rest.strip_suffix(" [background]").unwrap_or(rest);
    let is_remark = rest.is_empty() || (rest.starts_with(" (") && rest.ends_with(')'));
    // A parenthesis after a word is a syntax error in a shell, so this cannot be a part of a valid command.
    if !is_remark || rest.contains('\n') || !Path::new(directory).is_absolute() {
        return whole();
    }
    (title[..at].to_owned(), Some(PathBuf::from(directory)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gemini_is_recognised_by_its_program() {
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
    fn a_title_is_cut_to_its_command_only_if_that_is_unambiguous() {
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
