//! Protected files that do not exist, and whose names are somewhere in a command.
//!
//! The kernel protects files that exist. It cannot keep code from making one with a name that other programs obey, so a command that
//! names one asks, wherever in its text the name is.

use mw_model::{Grant, WriteGrant};

use super::protected::may_be_protected;
use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::need;
use crate::request::CommandText;

impl Judge<'_> {
    /// Asks about a protected file that a command could make in the project, because its text has the name.
    pub(crate) fn ask_about_new_protected(&mut self, grant: &Grant) {
        let raised = self.findings.iter().any(|finding| finding.builtin == BuiltinRule::WriteProtected);
        if raised || !self.is_confined() || grant.write == WriteGrant::Temp {
            return;
        }
        let text = match self.request.command {
            Some(CommandText::Script { text, .. }) => text.to_owned(),
            Some(CommandText::Words(words)) => words.join(" "),
            None => return,
        };
        if let Some((named, at)) = paths_in(&text).find_map(|path| Some((path, self.new_protected(path)?))) {
            let why = "it names a file that other programs obey and that does not exist yet";
            let effect = format!("may create {named}, which other programs obey");
            let grant = need::writes(WriteGrant::Paths(vec![at]));
            self.ask_for(BuiltinRule::WriteProtected, named, why, &effect, grant);
        }
    }

    /// Returns where a path leads, up to its protected part, if that is in the project and the kernel does not protect it.
    fn new_protected(&self, path: &str) -> Option<String> {
        let (project, cwd) = (self.request.project, self.request.cwd);
        let absolute = match path.strip_prefix('/') {
            Some(_) => path.to_owned(),
            None => format!("{cwd}/{path}"),
        };
        let inside = absolute.strip_prefix(project).filter(|inside| inside.starts_with('/'))?;
        let ends = inside.char_indices().skip(1).filter(|(_, c)| *c == '/').map(|(at, _)| at);
        let protected =
            ends.chain([inside.len()]).map(|end| &inside[..end]).find(|it| may_be_protected(it))?;
        let at = format!("{project}{protected}");
        let directory = at.rsplit_once('/')?.0;
        let is_held = (directory == project || directory == cwd || protected.starts_with("/.github/"))
            && self.request.files.exists(&at);
        (!is_held).then_some(at)
    }
}

/// Returns the parts of a text that can be paths in the project.
fn paths_in(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || "._-/~".contains(c);
    let mut from = 0;
    std::iter::from_fn(move || {
        let begin = from + text[from..].find(is_part)?;
        let length = text[begin..].find(|c| !is_part(c)).unwrap_or(text.len() - begin);
        from = begin + length;
        Some((text[..begin].chars().next_back(), &text[begin..from]))
    })
    .filter(|(before, path)| {
        // A field of a value, a path in the home directory.
        let is_field = matches!(before, Some(')' | ']')) && path.starts_with('.');
        let is_in_home = path.starts_with("~/") || *before == Some('$') && path.starts_with("HOME/");
        !is_field && !is_in_home
    })
    .map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_between_all_other_characters() {
        let found = |text| paths_in(text).collect::<Vec<_>>();
        assert_eq!(
            found("python3 -c 'open(\".envrc\",\"w\").close'"),
            ["python3", "-c", "open", ".envrc", "w"]
        );
        assert_eq!(found("a>x/.npmrc;~/.cargo/bin/y $HOME/.z é"), ["a", "x/.npmrc", "é"]);
        assert!(found("").is_empty());
    }
}
